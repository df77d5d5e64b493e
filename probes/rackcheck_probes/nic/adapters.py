"""The PCI functions of NVIDIA's NICs, with their RDMA devices and interfaces."""

from rackcheck import Facts, Files, Read, collection, listing, probe, read, spell_key

FUNCTION = "/sys/bus/pci/drivers/mlx5_core/{}"
VENDOR = FUNCTION.format("*") + "/vendor"
RDMA, NET = FUNCTION.format("*") + "/infiniband/*/node_type", FUNCTION.format("*") + "/net/*/mtu"
EACH = FUNCTION.format("[0-9a-f]" * 4 + ":" + "[0-9a-f]" * 2 + ":" + "[0-9a-f]" * 2 + ".[0-7]")
"""Glob of NVIDIA's NICs; it has no `*`, because root's commands are listed in sudoers, where a `*` allows any text."""


@probe(
    Read(VENDOR, RDMA, NET),
    gives={
        "nic.adapter": collection("PCI functions that are bound to NVIDIA's NIC driver, by address as in pcie/*."),
        "nic.adapter/*.rdma": listing("The function's RDMA devices, as in nic/*."),
        "nic.adapter/*.interfaces": listing("The function's network interfaces, as in nic.interface/*."),
    },
)
def nic_adapters(files: Files) -> Facts:
    """Read the RDMA devices and the network interfaces of each PCI function."""
    carried: dict[str, dict[str, list[str]]] = {RDMA: {}, NET: {}}
    for glob, places in carried.items():
        for address, name in files.found(glob):
            places.setdefault(address, []).append(name)
    for (address,) in files.found(VENDOR):
        for leaf, glob in (("rdma", RDMA), ("interfaces", NET)):
            names = sorted(carried[glob].get(address, ()), key=read.natural)
            yield f"nic.adapter/{spell_key(address)}.{leaf}", tuple(names)
