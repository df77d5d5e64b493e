"""Paths in sysfs that connect network interfaces with their PCI functions, and properties of an interface's device."""

from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Sourced
from rackcheck.model.text.files import Files

BESIDE = "/sys/bus/pci/drivers/*/*/net/*/mtu"
"""Glob for network interfaces on PCI: its stars match the driver, the PCI address and the interface's name."""

VIRTIO = "/sys/bus/pci/devices/*/virtio*/net/*/mtu"
"""Glob for virtio network interfaces: its stars match the PCI address, a `virtio*` folder and the interface's name."""

DEVICE = "/sys/class/net/{}/device"
NUMA = f"{DEVICE}/numa_node"
VIRTUAL = "/sys/class/net/{}/device/physfn/vendor"


@dataclass(frozen=True)
class DeviceLocation:
    """An interface's driver and the address of its PCI function; both are absent if the interface is not on PCI."""

    driver: Sourced
    address: Sourced


def places(files: Files) -> Mapping[str, tuple[str, str]]:
    """Return the driver and the PCI address of each interface on PCI, by the interface's name."""
    driven = {name: (driver, address) for driver, address, name in files.found(BESIDE)}
    return driven | {name: ("virtio_net", address) for address, _, name in files.found(VIRTIO)}


def place(found: Mapping[str, tuple[str, str]], interface: str) -> DeviceLocation:
    """Return the driver and the PCI address of one interface; absent if `found`, the interfaces on PCI, lacks it."""
    none = Absent("not a PCI device")
    driver, address = found.get(interface, ("", ""))
    return DeviceLocation(Sourced(driver or none, BESIDE), Sourced(address or none, BESIDE))


def virtual(files: Files, interface: str) -> Sourced:
    """Return whether an interface is an SR-IOV virtual function, which has a link `physfn` to its physical function."""
    place = VIRTUAL.format(interface)
    return Sourced(files.has(place), place)
