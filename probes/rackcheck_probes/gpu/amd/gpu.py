"""Every AMD GPU on the PCI bus, and the data of its board.

AMD GPUs are a separate collection, by PCI address, because the collection `gpu` lists NVIDIA GPUs.
"""

from rackcheck import Absent, Class, Facts, Files, Sourced, collection, final, probe, read, text, version
from rackcheck_probes.gpu.amd.amd import SysfsFact, gives, gpus, of_gpus, question

FACTS = {
    "name": SysfsFact(
        "product_name", read.line, text("The board's product name; absent if none is readable.", Class.IDENTITY)
    ),
    "uuid": SysfsFact("unique_id", read.line, text("The GPU's unique id, as the driver spells it.", Class.IDENTITY)),
    "serial": SysfsFact(
        "serial_number", read.line, text("The board's serial number; absent if none is readable.", Class.IDENTITY)
    ),
    "part_number": SysfsFact("product_number", read.line, text("The board's part number.")),
    "vbios": SysfsFact("vbios_version", read.line, version("opaque", "The GPU's VBIOS: 113-M3000100-102.")),
}


# Unverified on hardware: no recording shows these files together; names and formats follow the kernel's documentation.
@probe(
    question(FACTS),
    gives={
        "gpu.amd": collection("AMD GPUs by PCI address, with or without a driver.", alike=("gpu.amd/*.name",)),
        "gpu.amd/*.driver": final(text("The driver that the GPU is bound to: amdgpu; absent without it.")),
        **gives(FACTS),
    },
)
def amd_gpu(files: Files) -> Facts:
    """Read each GPU on the PCI bus; the driver's values are unknown for a GPU that is not bound to the driver."""
    for item, folder, running in gpus(files):
        yield f"{item}.driver", Sourced("amdgpu" if running else Absent("not bound to amdgpu"), folder)
    yield from of_gpus(files, FACTS)
