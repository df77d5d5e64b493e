"""Which NIC is nearest to each GPU, which GPU to each NIC, and the rails that follow."""

from collections.abc import Mapping

from rackcheck import Absent, Class, Facts, Inputs, Reason, Unknown, integer, join, listing, quantity, spell_key, text
from rackcheck.core.fact import Reading
from rackcheck.core.join import settled
from rackcheck.core.pcie_tree import Near, Places, bottleneck, narrowed, nearest, nearness, slowed
from rackcheck_probes.pcie_path import links

PAIRS = 1 << 16
"""Pairs of a GPU and a NIC that are held against each other: more than any node has."""
WORDS = tuple(near.value for near in Near)


@join(
    needs=(
        "gpu", "gpu/*.pci", "nic", "nic/*.pci", "pcie", "pcie/*.upstream", "pcie/*.host_bridge", "pcie/*.numa",
        "pcie/*.link.max_speed", "pcie/*.link.max_width", "pcie/*.link.width", "pcie/*.link.speed",
    ),
    gives={
        "gpu/*.numa": integer("The NUMA node that the GPU hangs on; absent if the firmware does not say."),
        "gpu/*.path.narrowed": listing("Links up to its root port that trained fewer lanes than both ends have."),
        "gpu/*.path.slowed_above": listing(
            "Links above its own that go slower now than both ends know; its own is slow while it idles.",
            Class.MEASUREMENT,
        ),
        "gpu/*.path.bandwidth": quantity("Gb/s", "What the weakest link up to its root port carries one way."),
        "gpu/*.nearest_nic": listing("The RDMA devices that are nearest to the GPU on the PCI bus."),
        "gpu/*.nearest_nic_distance": text("How near they are, in the words of `nvidia-smi topo`.", words=WORDS),
        "nic/*.path.narrowed": listing("Links up to its root port that trained fewer lanes than both ends have."),
        "nic/*.path.slowed": listing(
            "Links up to its root port that go slower now than both ends know.", Class.MEASUREMENT
        ),
        "nic/*.path.bandwidth": quantity("Gb/s", "What the weakest link up to its root port carries one way."),
        "nic/*.nearest_gpu": listing("The GPUs, by the driver's index, that are nearest to the NIC on the PCI bus."),
        "nic/*.nearest_gpu_distance": text("How near they are, in the words of `nvidia-smi topo`.", words=WORDS),
        "nic/*.rail": integer(
            "The index of the one GPU that has this NIC as its one nearest; absent where there is no such pair."
        ),
    },
)  # fmt: skip
def gpu_near(inputs: Inputs) -> Facts:
    """Measure the way between every GPU and every NIC on the PCI bus."""
    upstream = inputs.table("pcie", "upstream")
    places = Places(upstream, inputs.table("pcie", "host_bridge"), inputs.table("pcie", "numa"))
    ends, told = links(inputs), {"gpu": inputs.table("gpu", "pci"), "nic": inputs.table("nic", "pci")}
    hidden = {kind: inputs.items(kind)[1] for kind in told}
    near: dict[str, dict[str, Reading]] = {"gpu": {}, "nic": {}}
    pairs = len(told["gpu"]) * len(told["nic"])
    if pairs > PAIRS:
        hidden = dict.fromkeys(told, Unknown(Reason.TOO_LARGE, f"{pairs} pairs of a GPU and a NIC"))
    for kind, other, leaf in (("gpu", "nic", "nearest_nic"), ("nic", "gpu", "nearest_gpu")):
        for name, address in told[kind].items():
            item = f"{kind}/{spell_key(name)}"
            near[kind][name] = _nearest(address, told[other], hidden[other], places)
            yield f"{item}.{leaf}", near[kind][name]
            yield f"{item}.{leaf}_distance", _distance(address, near[kind][name], told[other], places)
            known = isinstance(address, str)
            yield f"{item}.path.narrowed", narrowed(str(address), upstream, ends) if known else address
            yield f"{item}.path.bandwidth", bottleneck(str(address), upstream, ends)[1] if known else address
            slow = slowed(str(address), upstream, ends) if known else (address, address)
            if kind == "nic":
                yield f"{item}.path.slowed", slow[0]
            else:
                yield f"{item}.path.slowed_above", slow[1]
                yield f"{item}.numa", inputs.reading(f"pcie/{spell_key(str(address))}.numa") if known else address
    for name in told["nic"]:
        yield f"nic/{spell_key(name)}.rail", _rail(name, near["nic"][name], near["gpu"])


def _nearest(address: Reading, others: Mapping[str, Reading], hidden: Unknown | None, places: Places) -> Reading:
    """Name those of the others that are nearest; one whose place is not known might be."""
    if not isinstance(address, str):
        return address
    trouble = hidden or settled(others.values())
    if trouble is not None:
        return trouble
    by_place: dict[str, list[str]] = {}
    for name, place in others.items():
        if isinstance(place, str):
            by_place.setdefault(place, []).append(name)
    found = nearest(address, by_place, places)
    return found if isinstance(found, Unknown) else tuple(name for place in found for name in by_place[place])


def _distance(address: Reading, found: Reading, others: Mapping[str, Reading], places: Places) -> Reading:
    if not isinstance(found, tuple):
        return found
    if not found:
        return Absent("there are none")
    near = nearness(str(address), str(others[found[0]]), places)
    return near if isinstance(near, Unknown) else near.value


def _rail(name: str, gpus: Reading, nics: Mapping[str, Reading]) -> Reading:
    """Pair a NIC with the GPU whose one nearest NIC it is."""
    if not isinstance(gpus, tuple):
        return gpus
    if len(gpus) != 1:
        return Absent("no one GPU is nearest")
    mine = nics.get(gpus[0], Absent("no such GPU"))
    if not isinstance(mine, tuple):
        return mine
    return int(gpus[0]) if mine == (name,) and gpus[0].isdecimal() else Absent("not that GPU's one nearest NIC")
