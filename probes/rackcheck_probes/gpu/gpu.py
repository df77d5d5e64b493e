"""Every NVIDIA GPU, as its driver reports it."""

from rackcheck import Class, Facts, Reason, Sourced, Unreadable, collection, integer, probe, quantity, text, version
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, answered, gives, of_driver, of_gpus
from rackcheck_probes.gpu.nvml_values import SIZE, address, counted, unchanged

FACTS = NvmlTable(
    {
        "name": NvmlFact("name", unchanged, text("The GPU's product name.", Class.IDENTITY)),
        "uuid": NvmlFact("uuid", unchanged, text("The GPU's unique id.", Class.IDENTITY)),
        "serial": NvmlFact(
            "serial",
            unchanged,
            text("The board's serial number; absent on boards without a readable one.", Class.IDENTITY),
        ),
        "pci": NvmlFact("pci", address, text("The GPU's PCI address, as the kernel spells it.", Class.IDENTITY)),
        "vbios": NvmlFact("vbios", unchanged, version("hex-dotted", "The GPU's VBIOS version.")),
        "memory.total": NvmlFact("memory", SIZE, quantity("GiB", "The GPU's memory, as the driver counts it.")),
        "architecture": NvmlFact(
            "architecture", unchanged, text("The GPU's generation, by NVIDIA's name: Hopper, Blackwell.")
        ),
        "part_number": NvmlFact("board_part_number", unchanged, text("The board's part number.")),
        "minor": NvmlFact(
            "minor", counted, integer("The number of the GPU's device file: /dev/nvidia0.", Class.MEASUREMENT)
        ),
        "module": NvmlFact(
            "module_id", counted, integer("The GPU's position on its baseboard, by the firmware's numbers.")
        ),
    }
)
DRIVER = {
    "version": NvmlFact(
        "driver", unchanged, version("dotted", "The NVIDIA driver's version; absent if the node has no NVIDIA GPU.")
    ),
}


@probe(
    QUESTION,
    gives={
        "gpu": collection(
            "NVIDIA GPUs by module (`module-3`) on baseboards of several GPUs, else by PCI address; "
            "empty only if the PCI bus also has no NVIDIA GPU.",
            alike=("gpu/*.name", "gpu/*.mig.mode"),
        ),
        **gives(FACTS),
        "gpu/*.index": integer(
            "The GPU's number in the driver's order; the number changes when another GPU is gone.", Class.MEASUREMENT
        ),
        **gives(DRIVER, "driver"),
    },
)
def gpu(answer: str) -> Facts:
    """Read the GPUs that the driver lists; raises Unreadable if it lists none, unless the PCI bus has none either."""
    yield from of_driver(answer, DRIVER)
    reply = answered(answer)
    if reply.lacking:
        also = "but the PCI bus has NVIDIA GPUs" if reply.bus else "and the PCI bus was not read"
        raise Unreadable(f"the driver lists no GPU, {also}", Reason.NOT_READY)
    yield from of_gpus(answer, FACTS)
    for index, (path, _, _) in enumerate(reply.each()):
        yield f"{path}.index", Sourced(index, reply.by)
