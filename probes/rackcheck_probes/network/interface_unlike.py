"""Network interfaces whose settings differ from those of most interfaces of the same model and role."""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Inputs, Unknown, join, spell_key
from rackcheck.model.fact import Reading
from rackcheck.probe.majority import facts_of, gives, unlike
from rackcheck.probe.pairing import distance, nearest_named, role
from rackcheck.probe.pcie_near import PcieLocations
from rackcheck_probes.gpu.near import ROLE_FACTS, gpu_sites

MODEL = ("vendor", "device", "subsystem_vendor", "subsystem_device")
"""Facts of the PCI function that are the same on all ports of a model."""
LINK = ("mtu", "speed", "fec.active", "fec.configured", "pause.rx", "pause.tx", "pfc.priorities", "dscp")
LINK_TOO = (
    "autoneg", "ets.algorithms", "ets.classes", "ets.shares", "ets.willing", "ecn.cnp_dscp", "ecn.cnp_priority",
    "ecn.notification", "ecn.reaction",
)  # fmt: skip
"""Settings that cost packets or speed if one port differs; LINK_TOO is compared only if this run collects it."""
QUEUES = ("ring.rx", "ring.tx")
QUEUES_TOO = (
    "channels.combined", "channels.rx", "channels.tx", "coalescing.adaptive_rx", "coalescing.adaptive_tx",
    "coalescing.rx_frames", "coalescing.rx_usecs", "coalescing.tx_frames", "coalescing.tx_usecs", "queue_length",
)  # fmt: skip
"""Settings of the driver's queues."""
OTHERS = (
    "in which this port differs from most ports of the same model, link layer and role, if at least three of them have "
    "a signal."
)


@join(
    needs=(
        "nic.interface", *(f"nic.interface/*.{leaf}" for leaf in ("pci", "type", "carrier", "virtual")),
        *(f"nic.interface/*.{leaf}" for leaf in (*LINK, *QUEUES)),
        "nic.default_route.ipv4", "nic.default_route.ipv6", "nic.bond", "nic.bond/*.member",
        "nic.vlan", "nic.vlan/*.on",
        *ROLE_FACTS, *(f"pcie/*.{leaf}" for leaf in MODEL if f"pcie/*.{leaf}" not in ROLE_FACTS),
    ),
    also=tuple(f"nic.interface/*.{leaf}" for leaf in (*LINK_TOO, *QUEUES_TOO)),
    gives={
        **gives("nic.interface/*", f"Settings of the link {OTHERS}"),
        **gives("nic.interface/*", f"Settings of the driver's queues {OTHERS}", "queues_unlike"),
    },
)  # fmt: skip
def interface_unlike(inputs: Inputs) -> Facts:
    """Compare each port with the others of its model; the ports of the default route may differ from the others."""
    names, hidden = inputs.items("nic.interface")
    tables = {leaf: inputs.table("nic.interface", leaf) for leaf in ("pci", "type", "carrier", "virtual")}
    uses = uses_of(inputs, tables["pci"], tables["virtual"])
    kinds = {name: _kind(inputs, uses[name], {leaf: table[name] for leaf, table in tables.items()}) for name in names}
    compared = {name: kind for name, kind in kinds.items() if not isinstance(kind, Absent)}
    apart = _of_default_route(inputs)
    doubt = hidden or (apart if isinstance(apart, Unknown) else None)
    left_out: Mapping[str, Reading] = {name: f"{name} alone" for name in names if name not in compared}
    for leaf, some, too in (("unlike", LINK, LINK_TOO), ("queues_unlike", QUEUES, QUEUES_TOO)):
        read = (*some, *(each for each in too if inputs.collected(f"nic.interface/*.{each}")))
        settings = {each: _table(inputs, each, tables["type"]) for each in read}
        found = unlike({**left_out, **compared}, settings, doubt, () if isinstance(apart, Unknown) else apart)
        yield from facts_of("nic.interface", found, leaf)


def _table(inputs: Inputs, leaf: str, types: Mapping[str, Reading]) -> Mapping[str, Reading]:
    """Return one setting of each port; settings of the link, except the MTU, only of Ethernet ports."""
    table = inputs.table("nic.interface", leaf)
    everywhere = leaf in {"mtu", *QUEUES, *QUEUES_TOO}
    return {name: reading for name, reading in table.items() if everywhere or types[name] == "Ethernet"}


def _kind(inputs: Inputs, use: Reading, facts: Mapping[str, Reading]) -> Reading:
    """Return the model, link layer and role of a port as text; absent if the port has no signal or is not on PCI."""
    if facts["carrier"] is False or isinstance(facts["carrier"], Absent) or facts["virtual"] is True:
        return Absent("no signal, or a virtual function")
    if isinstance(facts["pci"], Absent):
        return facts["pci"]
    at = f"pcie/{spell_key(str(facts['pci']))}"
    model = [inputs.reading(f"{at}.{leaf}") for leaf in MODEL] if isinstance(facts["pci"], str) else []
    readings = (*facts.values(), use, *model)
    unknown = next((reading for reading in readings if isinstance(reading, Unknown)), None)
    return unknown or " ".join(map(str, (facts["type"], use, *model)))


def uses_of(inputs: Inputs, pci: Mapping[str, Reading], virtual: Mapping[str, Reading]) -> Mapping[str, Reading]:
    """Return the role of each port by its PCI function: compute next to a GPU or its place, else network or virtual."""
    upstream, bridges, numa = (inputs.table("pcie", leaf) for leaf in ("upstream", "host_bridge", "numa"))
    places, sites, hidden = PcieLocations(upstream, bridges, numa), gpu_sites(inputs, upstream), inputs.items("pcie")[1]
    return {
        name: role(virtual[name], distance(at, nearest_named(at, sites, hidden, places), sites, places))
        for name, at in pci.items()
    }


def _of_default_route(inputs: Inputs) -> frozenset[str] | Unknown:
    """Return the ports that carry a default route, themselves or as members of a bond, or below a VLAN."""
    below: dict[str, Reading] = {
        name: (on,) if isinstance(on, str) else on for name, on in inputs.table("nic.vlan", "on").items()
    }
    for bond in inputs.items("nic.bond")[0]:
        members, hidden = inputs.items(f"nic.bond/{spell_key(bond)}.member")
        below[bond] = hidden or members
    lost = inputs.items("nic.bond")[1] or inputs.items("nic.vlan")[1]
    waiting = [inputs.reading(f"nic.default_route.ip{version}") for version in ("v4", "v6")]
    found: dict[str, None] = {}
    while waiting:
        each = waiting.pop()
        if isinstance(each, Unknown):
            return each
        if isinstance(each, Absent) or str(each) in found:
            continue
        found[str(each)] = None
        under = below.get(str(each), Absent())
        if isinstance(under, Unknown):
            return under
        waiting += under if isinstance(under, tuple) else []
    return lost or frozenset(found)
