"""Links of sysfs between PCI functions and network interfaces, and the folder of an interface's device."""

from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Sourced
from rackcheck.model.text.files import Files

BESIDE = "/sys/bus/pci/drivers/*/*/net/*/mtu"
"""Glob of sysfs links: for each existing file, the stars are a driver, a PCI address and an interface's name."""

VIRTIO = "/sys/bus/pci/devices/*/virtio*/net/*/mtu"
"""The same for virtual machines: the PCI function's driver is virtio-pci, and the interface is one folder deeper."""

DEVICE = "/sys/class/net/{}/device"
NUMA = f"{DEVICE}/numa_node"
VIRTUAL = "/sys/class/net/{}/device/physfn/vendor"


@dataclass(frozen=True)
class DeviceLocation:
    """The driver of an interface and the address of its PCI function; both absent if it is on another bus."""

    driver: Sourced
    address: Sourced


def places(files: Files) -> Mapping[str, tuple[str, str]]:
    """Return driver and PCI address of each interface on PCI, by its name."""
    driven = {name: (driver, address) for driver, address, name in files.found(BESIDE)}
    return driven | {name: ("virtio_net", address) for address, _, name in files.found(VIRTIO)}


def place(found: Mapping[str, tuple[str, str]], interface: str) -> DeviceLocation:
    """Return the driver and the PCI address of one interface among those found."""
    none = Absent("not a PCI device")
    driver, address = found.get(interface, ("", ""))
    return DeviceLocation(Sourced(driver or none, BESIDE), Sourced(address or none, BESIDE))


def virtual(files: Files, interface: str) -> Sourced:
    """Return whether an interface is a virtual function (SR-IOV), that is, has a physical function."""
    place = VIRTUAL.format(interface)
    return Sourced(files.has(place), place)
