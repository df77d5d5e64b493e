"""Which NIC is nearest to each GPU, which GPU to each NIC, and the rails that follow."""

from rackcheck import Class, Facts, Inputs, Reason, Unknown, integer, join, listing, quantity, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck.model.pcie_tree import bottleneck, narrowed, slowed
from rackcheck.probe.pairing import distance, nearest_named, rail
from rackcheck.probe.pcie_near import Near, PcieLocations
from rackcheck_probes.pcie.path import links

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
    places = PcieLocations(upstream, inputs.table("pcie", "host_bridge"), inputs.table("pcie", "numa"))
    ends, values = links(inputs), {"gpu": inputs.table("gpu", "pci"), "nic": inputs.table("nic", "pci")}
    hidden = {kind: inputs.items(kind)[1] for kind in values}
    near: dict[str, dict[str, Reading]] = {"gpu": {}, "nic": {}}
    pairs = len(values["gpu"]) * len(values["nic"])
    if pairs > PAIRS:
        hidden = dict.fromkeys(values, Unknown(Reason.TOO_LARGE, f"{pairs} pairs of a GPU and a NIC"))
    for kind, other, leaf in (("gpu", "nic", "nearest_nic"), ("nic", "gpu", "nearest_gpu")):
        for name, address in values[kind].items():
            item = f"{kind}/{spell_key(name)}"
            near[kind][name] = nearest_named(address, values[other], hidden[other], places)
            yield f"{item}.{leaf}", near[kind][name]
            yield f"{item}.{leaf}_distance", distance(address, near[kind][name], values[other], places)
            known = isinstance(address, str)
            yield f"{item}.path.narrowed", narrowed(str(address), upstream, ends) if known else address
            yield f"{item}.path.bandwidth", bottleneck(str(address), upstream, ends)[1] if known else address
            slow = slowed(str(address), upstream, ends) if known else (address, address)
            if kind == "nic":
                yield f"{item}.path.slowed", slow[0]
            else:
                yield f"{item}.path.slowed_above", slow[1]
                yield f"{item}.numa", inputs.reading(f"pcie/{spell_key(str(address))}.numa") if known else address
    for name in values["nic"]:
        yield f"nic/{spell_key(name)}.rail", rail(name, near["nic"][name], near["gpu"])
