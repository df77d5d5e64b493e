"""Every NVMe controller: identity, state, and location."""

from rackcheck import Class, Facts, Files, Read, collection, integer, probe, spell_key, text, version
from rackcheck.parse.host.pcie import pci
from rackcheck.parse.host.storage import nvme_controllers
from rackcheck.parse.host.storage.nvme_controllers import FOLDER

TEXTS = {
    "model": ("model", text("The drive's model.", Class.IDENTITY)),
    "serial": ("serial", text("The drive's serial number.", Class.IDENTITY)),
    "firmware": ("firmware_rev", version("opaque", "The drive's running firmware.")),
    "state": (
        "state",
        text("The controller's state: live if it works; resetting, connecting, deleting or dead if not."),
    ),
    "transport": ("transport", text("How the controller is reached: pcie, or over a network: tcp, rdma, fc.")),
    "type": (
        "cntrltype",
        text("The controller's type: io, discovery, admin; absent on kernels that do not report it."),
    ),
}
"""Maps each fact to the file in the controller's folder, and to the fact's kind."""
NAMES = (*(name for name, _ in TEXTS.values()), "address", "numa_node")


@probe(
    Read(*(f"{FOLDER.format('*')}/{name}" for name in NAMES)),
    gives={
        "nvme": collection(
            "NVMe controllers by the kernel's name: nvme0. Empty if the driver has none.", alike=("nvme/*.model",)
        ),
        **{f"nvme/*.{leaf}": kind for leaf, (_, kind) in TEXTS.items()},
        "nvme/*.pci": text("The drive's PCI address, a key of pcie; absent over a network.", Class.IDENTITY),
        "nvme/*.numa": integer("The drive's NUMA node; absent if firmware does not report it."),
    },
)
def nvme(files: Files) -> Facts:
    """Read each controller's identity, state and location."""
    for name in nvme_controllers.controllers(files, NAMES):
        item = f"nvme/{spell_key(name)}"
        for leaf, (file, _) in TEXTS.items():
            yield f"{item}.{leaf}", files.read(f"{FOLDER.format(name)}/{file}")
        yield f"{item}.pci", nvme_controllers.pci(files, name)
        yield f"{item}.numa", pci.numa(files, nvme_controllers.FOLDER.format(name))
