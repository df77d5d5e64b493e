"""Chassis, the location of a machine, and the attestation of its components, as recorded BMCs report them."""

import pytest
from one_probe import altered, ask
from trees import BLUEFIELD, DELL, DELTA, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO, X10

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.bmc.integrity import protocol, target
from rackcheck.parse.bmc.part import label, whole
from rackcheck_probes.bmc.chassis import bmc_chassis
from rackcheck_probes.bmc.integrity import bmc_integrity

RACKMOUNT = "/redfish/v1/Chassis/1U"
LOST = Unknown(Reason.TIMEOUT, "no answer")


@pytest.mark.parametrize(
    ("name", "count"),
    [
        (DELL, 2),
        (DGX, 47),
        (SUPERMICRO, 3),
        (HPE_INTEL, 2),
        (HPE_AMD, 1),
        (LENOVO, 2),
        (GB200, 42),
        (NVSWITCH, 12),
        (BLUEFIELD, 3),
        (DMTF, 1),
        (X10, 1),
        (DELTA, 1),
    ],
)
def test_every_chassis_is_listed(name: str, count: int) -> None:
    listed = ask(bmc_chassis, name)["bmc.chassis"]
    assert isinstance(listed, tuple)
    assert len(listed) == count


@pytest.mark.parametrize(
    ("name", "chassis", "kind", "serial", "part", "slot"),
    [
        (DGX, "DGX", "Other", "1663123000052", "965-24387-0002-000", None),
        (DGX, "HGX_GPU_SXM_1", "Module", "1652923003067", "2330-885-A1", "SXM1"),
        (DGX, "HGX", "Component", None, None, None),
        (DGX, "EROT_BIOS_0", None, None, None, None),
        (GB200, "HGX_BMC_0", "Component", "1333124010283", "699-24764-0001-TS3", "J58"),
        (GB200, "HGX_Chassis_0", "Zone", None, None, "HGX_Chassis_0"),
        (DELL, '"System.Embedded.1"', "RackMount", "CNIVC0014M0388", "0WMWCRA01", None),
        (HPE_INTEL, "2", "StorageEnclosure", None, "P68794-001", "Embedded:Port=5A:Box=1"),
        (SUPERMICRO, "UBB_1", "Zone", "1662523650462", "935-24287-0000-000", None),
        (X10, "1", "RackMount", None, None, None),
    ],
)
def test_a_chassis_has_the_values_of_its_label_and_zeros_are_no_label(
    name: str, chassis: str, kind: str | None, serial: str | None, part: str | None, slot: str | None
) -> None:
    found = ask(bmc_chassis, name)
    for fact, expected in {"type": kind, "serial": serial, "part": part, "slot": slot}.items():
        reading = found[f"bmc.chassis/{chassis}.{fact}"]
        assert isinstance(reading, (Absent, Unknown)) if expected is None else reading == expected, fact


def test_a_chassis_reports_health_power_and_asset_tag() -> None:
    assert ask(bmc_chassis, HPE_INTEL)["bmc.chassis/1.health"] == "Warning"
    assert ask(bmc_chassis, HPE_AMD)["bmc.chassis/1.health"] == "Critical"
    assert ask(bmc_chassis, DELL)['bmc.chassis/"System.Embedded.1".power_state'] == "On"
    assert ask(bmc_chassis, DMTF)["bmc.chassis/1U.asset_tag"] == "Chicago-45Z-2381"
    dgx = ask(bmc_chassis, DGX)
    for fact in ("Midplane.asset_tag", "DGX.asset_tag", "CPUBaseboard.power_state"):
        assert isinstance(dgx[f"bmc.chassis/{fact}"], (Absent, Unknown)), fact
    assert dgx["bmc.chassis/Midplane.health"] == Absent("the BMC reports no health for it")


def test_the_place_of_a_machine_is_that_of_its_hosts_chassis() -> None:
    found = ask(bmc_chassis, DMTF)
    assert (found["bmc.location.rack"], found["bmc.location.row"], found["bmc.location.offset"]) == (
        "WEB43",
        "North",
        12,
    )
    assert isinstance(found["bmc.location.room"], Unknown)


@pytest.mark.parametrize("name", [DELL, DGX, SUPERMICRO, HPE_INTEL, LENOVO, GB200, BLUEFIELD, X10, DELTA])
def test_an_unreported_place_is_unknown(name: str) -> None:
    found = ask(bmc_chassis, name)
    for fact in ("rack", "row", "room", "building"):
        assert isinstance(found[f"bmc.location.{fact}"], Unknown), fact


def test_a_host_chassis_that_did_not_come_leaves_the_place_unknown() -> None:
    found = ask(bmc_chassis, DMTF, {RACKMOUNT: LOST})
    assert (found["bmc.chassis"], found["bmc.location.rack"]) == (LOST, LOST)


@pytest.mark.parametrize("value", [None, [], "here", {}, {"Placement": None}, {"Placement": {"Rack": ["a"]}}])
def test_a_place_of_another_form_is_unknown(value: object) -> None:
    found = altered(bmc_chassis, DMTF, RACKMOUNT, Location=value)
    assert isinstance(found["bmc.location.rack"], Unknown)
    assert found["bmc.chassis/1U.model"] == "3500RX"


def test_two_chassis_of_one_host_that_stand_in_two_racks_stand_in_none() -> None:
    place = "/redfish/v1/Systems/437XR1138R2"
    other = {"Id": "2U", "Location": {"Placement": {"Rack": "WEB44", "Row": "North"}}}
    links = {"Chassis": [{"@odata.id": RACKMOUNT}, {"@odata.id": "/redfish/v1/Chassis/2U"}]}
    system = {"Id": "1", "BiosVersion": "1", "Links": links}
    found = ask(bmc_chassis, DMTF, {place: system, "/redfish/v1/Chassis/2U": other})
    assert isinstance(found["bmc.location.rack"], Unknown)
    assert found["bmc.location.row"] == "North"


def test_an_empty_place_for_a_board_has_no_serial_number() -> None:
    found = altered(bmc_chassis, DMTF, RACKMOUNT, Status={"State": "Absent"})
    assert found["bmc.chassis/1U.state"] == "Absent"
    assert isinstance(found["bmc.chassis/1U.serial"], Absent)


@pytest.mark.parametrize("value", [None, "", "0", "0000000000", "nil", "N/A", 7, [], "a\ufffd"])
def test_what_is_no_label_is_unknown(value: object) -> None:
    with pytest.raises(Unreadable):
        label(value)


@pytest.mark.parametrize("value", [None, -1, 1.5, True, "x", [], 10**400, float("nan")])
def test_what_is_no_whole_number_is_unknown(value: object) -> None:
    with pytest.raises(Unreadable):
        whole(value)


# Proofs


@pytest.mark.parametrize(("name", "count"), [(DGX, 17), (GB200, 11), (NVSWITCH, 5), (HPE_INTEL, 15), (DMTF, 3)])
def test_every_component_that_can_prove_itself_is_listed(name: str, count: int) -> None:
    listed = ask(bmc_integrity, name)["bmc.integrity"]
    assert isinstance(listed, tuple)
    assert len(listed) == count


@pytest.mark.parametrize("name", [DELL, SUPERMICRO, HPE_AMD, LENOVO, BLUEFIELD, X10, DELTA])
def test_a_bmc_without_measurements_leaves_them_unknown(name: str) -> None:
    assert isinstance(ask(bmc_integrity, name)["bmc.integrity"], Unknown)


@pytest.mark.parametrize(
    ("name", "component", "kind", "version", "enabled", "verified", "part"),
    [
        (DMTF, "TPM-0", "TPM", "1.2.0", True, "Success", "TrustedComponents/TPM"),
        (DMTF, "SS-SPDM-0", "SPDM", "1.1.0", True, None, "TrustedComponents/AC-RoT0"),
        (DMTF, "USB-Integrity", "SPDM", None, False, None, "USBControllers/USB1"),
        (DGX, "EROT_BIOS_0", "SPDM", "1.1.0", True, None, "Chassis/EROT_BIOS_0"),
        (DGX, "HGX_ERoT_BMC_0", "SPDM", None, True, None, "Chassis/HGX_ERoT_BMC_0"),
        (GB200, "HGX_ERoT_CPU_0", "SPDM", "1.1.0", True, None, "Chassis/HGX_ERoT_CPU_0"),
        (HPE_INTEL, "0", "SPDM", None, False, None, "NetworkAdapters/DE042000"),
        (HPE_INTEL, "HPM", "OEM", None, True, None, "Systems/1"),
    ],
)
def test_a_measurement_is_reported_only_where_the_bmc_made_it(
    name: str, component: str, kind: str, version: str | None, enabled: bool, verified: str | None, part: str
) -> None:
    found = ask(bmc_integrity, name)
    facts = {"type": kind, "version": version, "enabled": enabled, "verified": verified, "target": part}
    for fact, expected in facts.items():
        reading = found[f"bmc.integrity/{component}.{fact}"]
        assert isinstance(reading, (Absent, Unknown)) if expected is None else reading == expected, fact


@pytest.mark.parametrize("value", [None, [], "SPDM", {"IdentityAuthentication": None}])
def test_a_proof_of_another_form_is_unknown(value: object) -> None:
    uri = "/redfish/v1/ComponentIntegrity/EROT_BIOS_0"
    assert isinstance(altered(bmc_integrity, DGX, uri, SPDM=value)["bmc.integrity/EROT_BIOS_0.verified"], Unknown)


def test_a_failed_measurement_is_reported() -> None:
    uri = "/redfish/v1/ComponentIntegrity/EROT_BIOS_0"
    values = {"IdentityAuthentication": {"ResponderAuthentication": {"VerificationStatus": "Failed"}}}
    assert altered(bmc_integrity, DGX, uri, SPDM=values)["bmc.integrity/EROT_BIOS_0.verified"] == "Failed"


@pytest.mark.parametrize("value", [None, "", "0.0.0", "N/A", "unknown", 1.1])
def test_a_version_that_was_never_negotiated_is_unreadable(value: object) -> None:
    with pytest.raises(Unreadable):
        protocol(value)


@pytest.mark.parametrize("value", [None, "", "Chassis/1", "/", "/x", 7, [], "/a/\ufffd"])
def test_a_link_to_nothing_is_no_component(value: object) -> None:
    with pytest.raises(Unreadable):
        target(value)
