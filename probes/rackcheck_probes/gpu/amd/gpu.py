"""Every AMD GPU on the PCI bus, and what its board says of itself.

They are a collection of their own, by PCI address: `gpu` is the list of NVIDIA's driver, by its index.
"""

from rackcheck import Absent, Class, Facts, Files, Sourced, collection, final, probe, text, version
from rackcheck.model import text as read
from rackcheck_probes.gpu.amd.amd import SysfsFact, gives, gpus, of_gpus, question

FACTS = {
    "name": SysfsFact(
        "product_name", read.line, text("The board's product name; absent if it has none to read.", Class.IDENTITY)
    ),
    "uuid": SysfsFact("unique_id", read.line, text("The GPU's unique id, as the driver spells it.", Class.IDENTITY)),
    "serial": SysfsFact(
        "serial_number", read.line, text("The board's serial number; absent if it has none to read.", Class.IDENTITY)
    ),
    "part_number": SysfsFact("product_number", read.line, text("The board's part number.")),
    "vbios": SysfsFact("vbios_version", read.line, version("opaque", "The GPU's VBIOS: 113-M3000100-102.")),
}


# Unverified on hardware: no recording shows these files together; names and shapes are of the kernel's documentation.
@probe(
    question(FACTS),
    gives={
        "gpu.amd": collection("AMD GPUs by PCI address, whether a driver runs them or not.", alike=("gpu.amd/*.name",)),
        "gpu.amd/*.driver": final(text("The driver that runs the GPU: amdgpu; absent if that one does not.")),
        **gives(FACTS),
    },
)
def amd_gpu(files: Files) -> Facts:
    """Read each GPU of the bus; what the driver would tell of one that it does not run is not known."""
    for item, folder, running in gpus(files):
        yield f"{item}.driver", Sourced("amdgpu" if running else Absent("amdgpu does not run it"), folder)
    yield from of_gpus(files, FACTS)
