"""The driver, PCI function and interfaces of each RDMA device."""

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, flag, integer, listing, probe, read, spell_key, text
from rackcheck.parse.host.network.net_devices import BESIDE
from rackcheck.parse.host.pcie import pci

DEVICE = "/sys/class/infiniband/{}"
NODE = DEVICE.format("*") + "/node_type"
DRIVEN = "/sys/bus/pci/drivers/*/*/infiniband/*/node_type"
"""Glob that follows links of sysfs; its stars match the driver, the PCI address and the name of the RDMA device."""

NAMES = ("node_desc", "device/numa_node", "device/sriov_numvfs", "device/sriov_totalvfs", "device/physfn/vendor")


@probe(
    Read(NODE, DRIVEN, BESIDE, *(DEVICE.format("*") + f"/{name}" for name in NAMES), cap=2 << 20),
    gives={
        "nic/*.driver": text("The PCI driver of the device: mlx5_core, ionic, bnxt_en; absent for a software device."),
        "nic/*.pci": text("The PCI function the device is part of, as in pcie/*; absent for a software device."),
        "nic/*.interfaces": listing("The network interfaces of the same PCI function."),
        "nic/*.numa": integer("The device's NUMA node; absent if firmware does not report it."),
        "nic/*.node_description": text("The device's description for the subnet manager.", Class.IDENTITY),
        "nic/*.virtual": flag("Whether the device is a virtual function (SR-IOV)."),
        "nic/*.virtual_functions": integer("Enabled virtual functions; absent if the device supports none."),
        "nic/*.virtual_functions_max": integer("Maximum virtual functions of the device."),
    },
)
def rdma_devices(files: Files) -> Facts:
    """Read each RDMA device's driver, PCI function and interfaces; the facts are absent if the device is not on PCI."""
    driven = {device: (driver, address) for driver, address, device in files.found(DRIVEN)}
    beside: dict[str, list[str]] = {}
    for _, address, interface in files.found(BESIDE):
        beside.setdefault(address, []).append(interface)
    for (device,) in files.found(NODE):
        item, folder = f"nic/{spell_key(device)}", DEVICE.format(device)
        driver, address = driven.get(device, ("", ""))
        none = Absent("not a PCI device")
        yield f"{item}.driver", Sourced(driver or none, DRIVEN)
        yield f"{item}.pci", Sourced(address or none, DRIVEN)
        yield f"{item}.interfaces", Sourced(tuple(beside.get(address, ())) if address else none, BESIDE)
        yield f"{item}.numa", pci.numa(files, f"{folder}/device")
        yield f"{item}.node_description", files.read(f"{folder}/node_desc")
        yield f"{item}.virtual", Sourced(files.has(f"{folder}/device/physfn/vendor"), f"{folder}/device/physfn")
        yield f"{item}.virtual_functions", files.read(f"{folder}/device/sriov_numvfs", read.whole)
        yield f"{item}.virtual_functions_max", files.read(f"{folder}/device/sriov_totalvfs", read.whole)
