"""Every NVMe controller: what it is, whether it lives, and where it hangs."""

import re

from rackcheck import (
    Absent,
    Class,
    Facts,
    Files,
    Read,
    Sourced,
    collection,
    integer,
    probe,
    spell_key,
    text,
    version,
)
from rackcheck.core import read
from rackcheck.core.fact import Reading

FOLDER = "/sys/class/nvme/{}"
TEXTS = {"model": "model", "serial": "serial", "firmware": "firmware_rev", "state": "state",
         "transport": "transport", "type": "cntrltype"}  # fmt: skip
ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def pci(address: str) -> Reading:
    """Give the PCI address; a controller that is reached over a network has another kind of address."""
    return address if ADDRESS.fullmatch(address) else Absent("not on PCIe")


def numa(number: int) -> Reading:
    """Give the node; the kernel's -1 is none."""
    return Absent("the firmware names no NUMA node") if number == -1 else number


def controllers(files: Files, *names: str) -> list[str]:
    """Name the controllers that have any of these files."""
    found = {controller for name in names for (controller,) in files.found(f"{FOLDER.format('*')}/{name}")}
    return sorted(found, key=read.natural)


@probe(
    Read(*(f"{FOLDER.format('*')}/{name}" for name in (*TEXTS.values(), "address", "numa_node"))),
    gives={
        "nvme": collection("NVMe controllers by the kernel's name: nvme0. Empty if the driver has none."),
        "nvme/*.model": text("The drive's model.", Class.IDENTITY),
        "nvme/*.serial": text("The drive's serial number.", Class.IDENTITY),
        "nvme/*.firmware": version("opaque", "The drive's running firmware."),
        "nvme/*.state": text("live where it works; resetting, connecting, deleting or dead where it does not."),
        "nvme/*.transport": text("How it is reached: pcie, or over a network: tcp, rdma, fc."),
        "nvme/*.type": text("What it is for: io, discovery, admin; absent on kernels that do not tell."),
        "nvme/*.pci": text("The drive's PCI address, a key of pcie; absent over a network.", Class.IDENTITY),
        "nvme/*.numa": integer("The NUMA node it hangs on; absent if the firmware does not say."),
    },
)
def nvme(files: Files) -> Facts:
    """Read each controller's identity, state and place."""
    for name in controllers(files, *TEXTS.values(), "address", "numa_node"):
        item, folder = f"nvme/{spell_key(name)}", FOLDER.format(name)
        for leaf, file in TEXTS.items():
            yield f"{item}.{leaf}", files.read(f"{folder}/{file}")
        address, node = files.read(f"{folder}/address"), files.read(f"{folder}/numa_node", read.whole)
        told, number = address.reading, node.reading
        yield f"{item}.pci", Sourced(pci(told), address.source) if isinstance(told, str) else address
        yield f"{item}.numa", Sourced(numa(number), node.source) if isinstance(number, int) else node
