"""InfiniBand ports whose settings differ from those of most ports of the same model and role."""

from rackcheck import Absent, Facts, Inputs, Unknown, join, spell_key
from rackcheck.model.fact import Reading
from rackcheck.probe.majority import Differences, facts_at, gives, unlike
from rackcheck_probes.gpu.near import ROLE_FACTS
from rackcheck_probes.network.interface_unlike import uses_of

SETTINGS = ("mtu", "width")
SETTINGS_TOO = ("lmc", "pkeys", "sm_sl")
"""Settings that are the same on all ports of a fabric; SETTINGS_TOO is compared only if this run collects it."""


@join(
    needs=(
        "nic", "nic/*.pci", "nic/*.type", "nic/*.virtual", "nic/*.port",
        "nic/*.port/*.link_layer", "nic/*.port/*.state",
        *(f"nic/*.port/*.{leaf}" for leaf in SETTINGS),
        *ROLE_FACTS,
    ),
    also=tuple(f"nic/*.port/*.{leaf}" for leaf in SETTINGS_TOO),
    gives=gives(
        "nic/*.port/*",
        "Settings in which this port differs from most active InfiniBand ports of the same model and role, "
        "if there are at least three; none on Ethernet, where the network interfaces are compared instead.",
    ),
)  # fmt: skip
def port_unlike(inputs: Inputs) -> Facts:
    """Compare each active InfiniBand port with the other ports of its model."""
    devices, hidden = inputs.items("nic")
    uses = uses_of(inputs, inputs.table("nic", "pci"), inputs.table("nic", "virtual"))
    kinds: dict[str, Reading] = {}
    for device in devices:
        item = f"nic/{spell_key(device)}"
        ports, cut = inputs.items(f"{item}.port")
        hidden = hidden or cut
        model = inputs.reading(f"{item}.type")
        kinds |= {place: _kind(inputs, place, model, uses[device]) for place in _places(item, ports)}
    compared = {place: kind for place, kind in kinds.items() if not isinstance(kind, Absent)}
    read = (*SETTINGS, *(leaf for leaf in SETTINGS_TOO if inputs.collected(f"nic/*.port/*.{leaf}")))
    settings = {leaf: {place: inputs.reading(f"{place}.{leaf}") for place in kinds} for leaf in read}
    nothing = dict.fromkeys(kinds, Differences(doubt=hidden))
    yield from facts_at({**nothing, **unlike(compared, settings, hidden)})


def _places(item: str, ports: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{item}.port/{spell_key(port)}" for port in ports)


def _kind(inputs: Inputs, place: str, model: Reading, use: Reading) -> Reading:
    """Return the model and the role of a port as text; absent if it is no active InfiniBand port."""
    layer, state = inputs.reading(f"{place}.link_layer"), inputs.reading(f"{place}.state")
    if layer == "Ethernet" or isinstance(layer, Absent) or (isinstance(state, str) and state != "ACTIVE"):
        return Absent("not an active InfiniBand port")
    unknown = next((reading for reading in (layer, state, model, use) if isinstance(reading, Unknown)), None)
    return unknown or f"{model} {use}"
