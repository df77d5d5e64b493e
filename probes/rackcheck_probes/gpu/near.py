"""The nearest NIC of each GPU, the nearest GPU of each NIC, and the resulting rails."""

from collections.abc import Mapping

from rackcheck import Absent, Class, Facts, Inputs, Reason, Unknown, integer, join, listing, quantity, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck.model.pcie_tree import bottleneck, climbed, narrowed, slowed
from rackcheck.probe.join import settled
from rackcheck.probe.pairing import NEXT_TO, ROLES, distance, nearest_named, rail, role
from rackcheck.probe.pcie_near import Near, PcieLocations, between
from rackcheck_probes.pcie.path import links

PAIRS = 1 << 16
"""Maximum number of pairs of a GPU and a NIC that are compared: more than any node has."""
GPU_CLASSES = frozenset({"0x030200", "0x120000"})
"""PCI classes of GPUs without a display: 3D controllers, and accelerators."""
BRIDGE = "0x060400"
"""PCI class of a port."""
WORDS = tuple(near.value for near in Near)
ROLE_FACTS = (
    "pcie", *(f"pcie/*.{leaf}" for leaf in ("class", "vendor", "device", "upstream", "host_bridge", "numa")),
)  # fmt: skip
"""The facts of PCI functions from which the role of a NIC is derived."""


@join(
    needs=(
        "gpu", "gpu/*.pci", "gpu/*.index", "nic", "nic/*.pci", "nic/*.virtual", "nic/*.port", "nic/*.port/*.state",
        "nic/*.port/*.rate", *ROLE_FACTS,
        "pcie/*.link.max_speed", "pcie/*.link.max_width", "pcie/*.link.width", "pcie/*.link.speed",
    ),
    also=("pcie/*.acs.redirect",),
    gives={
        "gpu/*.numa": integer("The GPU's NUMA node; absent if firmware does not report it."),
        "gpu/*.path.narrowed": listing("Links up to the root port that trained fewer lanes than both ends have."),
        "gpu/*.path.slowed_above": listing(
            "Links that run slower than both ends support, other than the GPU's own link, "
            "which slows down while the GPU is idle.",
            Class.MEASUREMENT,
        ),
        "gpu/*.path.bandwidth": quantity("Gb/s", "The one-way bandwidth of the slowest link up to the root port."),
        "gpu/*.nearest_nic": listing("The RDMA devices that are nearest to the GPU on the PCI bus."),
        "gpu/*.nearest_nic_distance": text(
            "Distance to the nearest RDMA devices, in the terms of `nvidia-smi topo`.", words=WORDS
        ),
        "gpu/*.nearest_nic_redirects": listing(
            "Ports between the GPU and its nearest RDMA devices that redirect traffic between devices to the CPU; "
            "none if a CPU is between them anyway.",
            Class.MEASUREMENT,
        ),
        "nic/*.path.narrowed": listing("Links up to the root port that trained fewer lanes than both ends have."),
        "nic/*.path.slowed": listing(
            "Links up to the root port that run slower than both ends support.", Class.MEASUREMENT
        ),
        "nic/*.path.bandwidth": quantity("Gb/s", "The one-way bandwidth of the slowest link up to the root port."),
        # Measurements: they change with any GPU that is gone, which is reported itself; the GPU's side is compared.
        "nic/*.nearest_gpu": listing("The GPUs that are nearest to the NIC on the PCI bus.", Class.MEASUREMENT),
        "nic/*.nearest_gpu_distance": text(
            "Distance to the nearest GPUs, in the terms of `nvidia-smi topo`.", Class.MEASUREMENT, words=WORDS
        ),
        "nic/*.role": text(
            "compute: below the same PCIe switches as a GPU, or as an empty port at whose place other switches have "
            "a GPU; network: any other function; virtual: a virtual function.",
            Class.MEASUREMENT,
            words=ROLES,
        ),
        "nic/*.port/*.role": text(
            "The role of the port's device: compute, network, virtual.", Class.MEASUREMENT, words=ROLES
        ),
        "nic/*.port/*.active_rate": quantity("Gb/s", "The rate of an active port; 0 for a port that is not active."),
        "nic/*.rail": integer(
            "The GPU on this NIC's rail, by index: the NIC's only nearest GPU, "
"if this NIC is also that GPU's only nearest NIC; else absent.",
            Class.MEASUREMENT,
        ),
    },
)  # fmt: skip
def gpu_near(inputs: Inputs) -> Facts:
    """Measure the distance between every GPU and every NIC on the PCI bus."""
    upstream = inputs.table("pcie", "upstream")
    places = PcieLocations(upstream, inputs.table("pcie", "host_bridge"), inputs.table("pcie", "numa"))
    ends, values = links(inputs), {"gpu": inputs.table("gpu", "pci"), "nic": inputs.table("nic", "pci")}
    hidden = {kind: inputs.items(kind)[1] for kind in values}
    sites = gpu_sites(inputs, upstream)
    near: dict[str, dict[str, Reading]] = {"gpu": {}, "nic": {}}
    pairs = len(values["gpu"]) * len(values["nic"])
    if pairs > PAIRS:
        hidden = dict.fromkeys(
            values, Unknown(Reason.TOO_LARGE, f"{pairs} pairs of GPU and NIC; the maximum is {PAIRS}")
        )
    for kind, other, leaf in (("gpu", "nic", "nearest_nic"), ("nic", "gpu", "nearest_gpu")):
        for name, address in values[kind].items():
            item = f"{kind}/{spell_key(name)}"
            near[kind][name] = nearest_named(address, values[other], hidden[other], places)
            yield f"{item}.{leaf}", near[kind][name]
            far = distance(address, near[kind][name], values[other], places)
            yield f"{item}.{leaf}_distance", far
            if kind == "gpu" and inputs.collected("pcie/*.acs.redirect"):
                yield f"{item}.nearest_nic_redirects", _redirects(inputs, address, near[kind][name], far, places)
            if kind == "nic":
                beside = nearest_named(address, sites, inputs.items("pcie")[1], places)
                use = role(inputs.reading(f"{item}.virtual"), distance(address, beside, sites, places))
                yield f"{item}.role", use
                for port in inputs.items(f"{item}.port")[0]:
                    at = f"{item}.port/{spell_key(port)}"
                    yield f"{at}.role", use
                    yield f"{at}.active_rate", _active_rate(inputs.reading(f"{at}.state"), inputs.reading(f"{at}.rate"))
            known = isinstance(address, str)
            yield f"{item}.path.narrowed", narrowed(str(address), upstream, ends) if known else address
            yield f"{item}.path.bandwidth", bottleneck(str(address), upstream, ends)[1] if known else address
            slow = slowed(str(address), upstream, ends) if known else (address, address)
            if kind == "nic":
                yield f"{item}.path.slowed", slow[0]
            else:
                yield f"{item}.path.slowed_above", slow[1]
                yield f"{item}.numa", inputs.reading(f"pcie/{spell_key(str(address))}.numa") if known else address
    index = inputs.table("gpu", "index")
    for name in values["nic"]:
        yield f"nic/{spell_key(name)}.rail", rail(name, near["nic"][name], near["gpu"], index)


def _redirects(inputs: Inputs, address: Reading, names: Reading, far: Reading, places: PcieLocations) -> Reading:
    """Return the ports with ACS redirection on the paths from a GPU to its nearest NICs below the same switches."""
    if isinstance(names, tuple) and (not names or (isinstance(far, str) and far not in NEXT_TO)):
        return ()
    if not isinstance(address, str) or not isinstance(names, tuple) or not isinstance(far, str):
        return next(each for each in (address, names, far) if not isinstance(each, (str, tuple)))
    found: list[str] = []
    for name in names:
        ports = between(address, str(inputs.reading(f"nic/{spell_key(name)}.pci")), places)
        if isinstance(ports, Unknown):
            return ports
        for port in ports:
            redirect = inputs.reading(f"pcie/{spell_key(port)}.acs.redirect")
            if isinstance(redirect, Unknown):
                return redirect
            found += [port] if redirect is True else []
    return tuple(dict.fromkeys(found))


def _active_rate(state: Reading, rate: Reading) -> Reading:
    if isinstance(state, str):
        return rate if state == "ACTIVE" else 0.0
    return state


def gpu_sites(inputs: Inputs, upstream: Mapping[str, Reading]) -> Mapping[str, Reading]:
    """Map the PCI address of each GPU, and of each empty port where a GPU belongs, to itself.

    A port is empty if no function is below it. A GPU belongs there if the ports from it up to the root bus have the
    models, devices and functions of the ports that are above a GPU of the same node. In a server that is sold with
    fewer GPUs than places, the empty ports are no places of missing GPUs: they count only if they are fewer than half
    of the GPUs. A device of unknown class, and a port of which this can not be decided, is mapped to the reason.
    """
    classes = inputs.table("pcie", "class")
    found: dict[str, Reading] = {name: word for name, word in classes.items() if isinstance(word, Unknown)}
    gpus = [name for name, word in classes.items() if word in GPU_CLASSES]
    above = {port for gpu in gpus for port in climbed(gpu, upstream)[0]}
    seen = {_shape(inputs, port, upstream) for port in above}
    doubt = next((trouble for gpu in gpus for trouble in [climbed(gpu, upstream)[1]] if trouble is not None), None)
    doubt = doubt or next((shape for shape in seen if isinstance(shape, Unknown)), None)
    taken, unread = set(map(str, upstream.values())), settled(upstream.values())
    sites: dict[str, Reading] = {}
    for port in (name for name, word in classes.items() if word == BRIDGE and name not in taken and gpus):
        shape = _shape(inputs, port, upstream)
        if isinstance(shape, Unknown):
            found[port] = shape
        elif shape in seen:
            sites[port] = unread or port
        elif doubt is not None:
            found[port] = doubt
    few = 2 * len(sites) < len(gpus)
    return found | (sites if few or unread is not None else {}) | {gpu: gpu for gpu in gpus}


def _shape(inputs: Inputs, port: str, upstream: Mapping[str, Reading]) -> tuple[str, ...] | Unknown:
    """Return the model, device and function of a port and of each port above it.

    Root ports have another device and function on each root bus, so these numbers are left out.
    """
    ways, trouble = climbed(port, upstream)
    rows: list[str] = []
    for each in (port, *ways):
        model = [inputs.reading(f"pcie/{spell_key(each)}.{leaf}") for leaf in ("vendor", "device")]
        trouble = trouble or settled(model)
        place = "root" if isinstance(upstream.get(each), Absent) else each.rpartition(":")[2]
        rows.append(" ".join((*map(str, model), place)))
    return trouble or tuple(rows)
