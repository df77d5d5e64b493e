"""The BIOS attributes that are compared between nodes."""

import pytest

from rackcheck.parse.bmc.bios_shared import NOT_SPEED, OWN, shared
from rackcheck_probes.bmc.bios import TABLE


def test_the_settings_that_are_left_out_exist() -> None:
    assert set(TABLE) >= NOT_SPEED


def test_attributes_about_speed_are_apart_from_the_others() -> None:
    names = ("NumaEn", "PcieRelaxedOrdering", "UmaBasedClustering", "SecureBootSupport", "AdminPassword", "PagePolicy")
    assert shared(names, TABLE) == (
        ("NumaEn", "PcieRelaxedOrdering", "UmaBasedClustering"),
        ("SecureBootSupport", "PagePolicy"),
    )


@pytest.mark.parametrize(
    "name",
    [
        "AdminPassword", "SHA256SetupPasswordSalt", "SerialNumber", "ServerAssetTag", "SystemServiceTag", "AdminEmail",
        "ServerName", "BootOption742", "BootOrder", "SetBootOrderFqdd1", "Ipv4Address", "Ipv4Gateway", "HttpDev1Ip",
        "IscsiDev1Con1TargetName", "PxeDev1VlanId", "SystemBiosVersion", "OneTimeBootMode", "UrlBootFile2", "Name",
        "MellanoxNetworkAdapter_A088C2C36F6E__Slot15_LinkSpeed", "InfoReportString006", "SgxEpoch0", "MACAddress",
    ],
)  # fmt: skip
def test_what_a_node_has_of_its_own_is_not_compared(name: str) -> None:
    assert OWN.search(name)
    assert shared((name,), TABLE) == ((), ())


@pytest.mark.parametrize(
    "name",
    [
        "SerialPortAddress", "SerialComm", "EmbeddedSerialPort", "MemoryTestMovingInversions01", "NetworkStack", "UsbBoot",
        "ConsistentDeviceNameSupport_004A", "SpeedStep_P_States__FF12", "MmioHighGranularitySize", "BootMode",
    ],
)  # fmt: skip
def test_settings_whose_names_only_look_alike_are_compared(name: str) -> None:
    assert not OWN.search(name)
