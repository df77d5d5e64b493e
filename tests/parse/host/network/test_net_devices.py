"""The location of network interfaces: PCI functions, NUMA nodes, physical functions behind virtual ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.network import net_devices
from rackcheck.parse.host.pcie import pci

MLX = "/sys/bus/pci/drivers/mlx5_core/0000:29:00.0/net/eth0/mtu"
VIRTIO = "/sys/bus/pci/devices/0000:00:03.0/virtio2/net/eth1/mtu"
NUMA = net_devices.NUMA.format("eth0")
VIRTUAL = net_devices.VIRTUAL.format("eth0")


def test_an_interface_has_its_driver_and_address_and_a_virtual_machines_too() -> None:
    found = net_devices.places(Files({MLX: "1500\n", VIRTIO: "1500\n"}, {}))
    assert found == {"eth0": ("mlx5_core", "0000:29:00.0"), "eth1": ("virtio_net", "0000:00:03.0")}
    assert net_devices.place(found, "eth0").driver.reading == "mlx5_core"
    assert net_devices.place(found, "eth0").address.reading == "0000:29:00.0"


def test_an_interface_on_another_bus_has_neither() -> None:
    place = net_devices.place({"eth0": ("mlx5_core", "0000:29:00.0")}, "usb0")
    assert place.driver.reading == place.address.reading == Absent("not a PCI device")


@pytest.mark.parametrize(
    ("content", "node"), [("1\n", 1), ("0\n", 0), ("-1\n", Absent("the firmware assigns no NUMA node"))]
)
def test_a_node_is_a_number_and_the_kernels_minus_one_is_none(content: str, node: Reading) -> None:
    assert pci.numa(Files({NUMA: content}, {}), net_devices.DEVICE.format("eth0")).reading == node


def test_a_function_is_virtual_only_if_a_physical_one_stands_behind_it() -> None:
    assert net_devices.virtual(Files({VIRTUAL: "0x15b3\n"}, {}), "eth0").reading is True
    assert net_devices.virtual(Files({}, {}), "eth0").reading is False
    with pytest.raises(Unreadable):
        net_devices.virtual(Files({}, {}, Unknown(Reason.TIMEOUT, "cut")), "eth0")


@given(st.text())
def test_nonsense_is_a_node_or_unknown(content: str) -> None:
    assert isinstance(
        pci.numa(Files({NUMA: content}, {}), net_devices.DEVICE.format("eth0")).reading, int | Absent | Unknown
    )
