"""Ethernet interfaces of hosts and controllers as recorded BMCs list them, and odd bodies."""

import pytest
from one_probe import altered, ask
from trees import BLUEFIELD, DELL, DELTA, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO, X10

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.resource import ROOT
from rackcheck.parse.bmc.interface import mac
from rackcheck_probes.bmc.interfaces import bmc_interfaces

LOST = Unknown(Reason.TIMEOUT, "no answer")
HOST = f"{ROOT}/Systems/Bluefield/EthernetInterfaces/eth0"
OWN = f"{ROOT}/Managers/Bluefield_BMC/EthernetInterfaces/eth0"
OWN_NAME = "bmc.manager/Bluefield_BMC.interface/eth0"


@pytest.mark.parametrize(
    ("name", "count"),
    [
        (DELL, 5),
        (DGX, 5),
        (SUPERMICRO, 12),
        (HPE_INTEL, 6),
        (HPE_AMD, 7),
        (LENOVO, 5),
        (BLUEFIELD, 3),
        (DMTF, 4),
        (X10, 4),
    ],
)
def test_every_interface_of_the_host_is_listed(name: str, count: int) -> None:
    items = ask(bmc_interfaces, name)["bmc.interface"]
    assert isinstance(items, tuple)
    assert len(items) == count


@pytest.mark.parametrize("name", [GB200, NVSWITCH, DELTA])
def test_a_bmc_that_does_not_speak_of_the_host_leaves_its_interfaces_open(name: str) -> None:
    assert isinstance(ask(bmc_interfaces, name)["bmc.interface"], Unknown)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (DELL, '"NIC.Integrated.1-1-1".mac', "e4:3d:1a:13:27:f0"),
        (DELL, '"NIC.Integrated.1-1-1".link', "down"),
        (DGX, "EthernetInterface4.link", "up"),
        (DGX, "EthernetInterface4.mac", "a0:88:c2:82:6e:52"),
        (HPE_AMD, "3.mac", "50:7c:6f:11:f2:a8"),
        (BLUEFIELD, "eth0.speed", 100),
        (BLUEFIELD, "oob0.speed", 1),
        (BLUEFIELD, "eth0.enabled", True),
        (X10, "1.mac", "ac:1f:6b:18:a4:5a"),
    ],
)
def test_an_interface_of_the_host_reports_its_address_and_link(name: str, path: str, value: object) -> None:
    assert ask(bmc_interfaces, name)[f"bmc.interface/{path}"] == value


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (DELL, '"iDRAC.Embedded.1".interface/"NIC.1".mac', "b0:7b:25:d6:51:82"),
        (GB200, "BMC_0.interface", ("eth0", "eth1", "hmcusb0", "hostusb0")),
        (GB200, "BMC_0.interface/eth0.dhcp", True),
        (GB200, "HGX_BMC_0.interface/usb0.dhcp", False),
        (NVSWITCH, "BMC_0.interface/eth0.mac", "64:33:aa:56:68:7e"),
        (HPE_INTEL, "1.interface/1.dhcp", False),
        (LENOVO, "1.interface/NIC.link", "up"),
    ],
)
def test_an_interface_of_a_controller_reports_its_address_and_dhcp(name: str, path: str, value: object) -> None:
    assert ask(bmc_interfaces, name)[f"bmc.manager/{path}"] == value


@pytest.mark.parametrize(
    ("name", "path"), [(DGX, "EthernetInterface0.speed"), (SUPERMICRO, "1.speed"), (X10, "1.speed")]
)
def test_a_speed_that_is_zero_or_unreported_is_unknown(name: str, path: str) -> None:
    assert isinstance(ask(bmc_interfaces, name)[f"bmc.interface/{path}"], Unknown)


def test_a_controller_without_interfaces_of_its_own_leaves_them_open() -> None:
    assert isinstance(ask(bmc_interfaces, DGX)["bmc.manager/HGX_FabricManager_0.interface"], Unknown)


@pytest.mark.parametrize(
    ("text", "expected"), [("A0:88:C2:82:6E:52", "a0:88:c2:82:6e:52"), ("a088c2826e52", "a0:88:c2:82:6e:52")]
)
def test_an_address_is_spelled_as_linux_does(text: str, expected: str) -> None:
    assert mac(text) == expected


@pytest.mark.parametrize("value", [None, "", "N/A", "00:00:00:00:00:00", "a0:88", 7, [], {}, "x" * 100_000])
def test_an_address_that_is_none_is_unreadable(value: object) -> None:
    with pytest.raises(Unreadable):
        mac(value)


@pytest.mark.parametrize("odd", [None, "", 5, [], "LinkSideways", "true"])
def test_odd_words_leave_what_they_stand_for_unknown(odd: object) -> None:
    changed = {"LinkStatus": odd, "InterfaceEnabled": odd, "SpeedMbps": odd if odd != 5 else "5 Mb"}
    found = altered(bmc_interfaces, BLUEFIELD, HOST, **changed)
    values = {fact: found[f"bmc.interface/eth0.{fact}"] for fact in ("link", "enabled", "speed")}
    assert all(isinstance(reading, Unknown) for reading in values.values()), values
    assert found["bmc.interface/eth0.mac"] == "5c:25:73:08:f3:62"


@pytest.mark.parametrize("odd", [None, "", 5, [], True, {"DHCPEnabled": None}, {"DHCPEnabled": "true"}])
def test_dhcp_that_is_neither_true_nor_false_is_unknown(odd: object) -> None:
    assert isinstance(altered(bmc_interfaces, BLUEFIELD, OWN, DHCPv4=odd)[f"{OWN_NAME}.dhcp"], Unknown)


@pytest.mark.parametrize(
    ("place", "collection"),
    [
        ("Systems", "bmc.interface"),
        ("Systems/Bluefield", "bmc.interface"),
        ("Systems/Bluefield/EthernetInterfaces", "bmc.interface"),
        ("Systems/Bluefield/EthernetInterfaces/eth1", "bmc.interface"),
        ("Managers/Bluefield_BMC/EthernetInterfaces", "bmc.manager/Bluefield_BMC.interface"),
        ("Managers/Bluefield_BMC/EthernetInterfaces/eth0", "bmc.manager/Bluefield_BMC.interface"),
    ],
)
def test_what_could_not_be_read_leaves_the_collection_open(place: str, collection: str) -> None:
    assert isinstance(ask(bmc_interfaces, BLUEFIELD, {f"{ROOT}/{place}": LOST})[collection], Unknown)
