"""Drives as recorded BMCs list them, once each, and odd bodies."""

from collections.abc import Mapping

import pytest
from one_probe import altered, ask, bodies
from trees import BLUEFIELD, DELL, DELTA, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO, X10

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.resource import ROOT
from rackcheck_probes.bmc.drives import bmc_drives

LOST = Unknown(Reason.TIMEOUT, "no answer")
BAYS = f"{ROOT}/Chassis/NVMeSSD.0.Group.0.StorageBackplane/Drives"
DRIVE = f"{BAYS}/Disk.Bay.3"
NAME = 'bmc.drive/"Disk.Bay.3"'


@pytest.mark.parametrize(
    ("name", "count"), [(DELL, 3), (SUPERMICRO, 8), (HPE_INTEL, 6), (HPE_AMD, 18), (LENOVO, 4), (GB200, 9), (DMTF, 4)]
)
def test_every_drive_is_listed_once(name: str, count: int) -> None:
    items = ask(bmc_drives, name)["bmc.drive"]
    assert isinstance(items, tuple)
    assert len(items) == count


@pytest.mark.parametrize("name", [NVSWITCH, BLUEFIELD, X10, DELTA])
def test_a_bmc_that_lists_no_drive_has_not_heard_of_them(name: str) -> None:
    found = ask(bmc_drives, name)
    assert list(found) == ["bmc.drive"]
    assert isinstance(found["bmc.drive"], Unknown)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (DELL, '"Disk.Bay.1:Enclosure.Internal.0-1".serial', "61M0A08ZTCD8"),
        (DELL, '"Disk.Bay.1:Enclosure.Internal.0-1".capacity', 1920.383410176),
        (SUPERMICRO, '"Disk.Bay.3".firmware', "GDC5602Q"),
        (SUPERMICRO, '"Disk.Bay.3".failure_predicted', False),
        (HPE_INTEL, "1.firmware", "HPK3"),
        (HPE_INTEL, "DA000003.serial", "1FE0A1000C93"),
        (LENOVO, '"Drive.M.2_Bay_1".model', "Micron_7450_MTFDKBA960TFR"),
        (LENOVO, '"Drive.M.2_Bay_1".life_left', 100),
        (GB200, "210.protocol", "NVMe"),
        (GB200, "210.firmware", "GDC7502Q"),
        (DMTF, '"SATA Bay 2".health', "Warning"),
        (DGX, "NVMe_Device7_NSID1.model", "KCM6DRUL3T84"),
    ],
)
def test_a_drive_reports_its_identity_and_health(name: str, path: str, value: object) -> None:
    assert ask(bmc_drives, name)[f"bmc.drive/{path}"] == value


def test_the_one_recorded_drive_that_expects_to_fail_is_seen() -> None:
    found = ask(bmc_drives, HPE_AMD)
    failing = [path for path, reading in found.items() if path.endswith(".failure_predicted") and reading is True]
    assert len(failing) == 1
    assert found[failing[0].replace("failure_predicted", "health")] == "Critical"


def test_an_empty_bay_is_an_item_and_all_of_it_is_absent() -> None:
    found = ask(bmc_drives, DMTF)
    assert found['bmc.drive/"SATA Bay 3".state'] == "Absent"
    assert isinstance(found['bmc.drive/"SATA Bay 3".capacity'], Absent)


def test_storage_without_a_word_leaves_the_drives_open_though_simple_storage_stands_in() -> None:
    found = ask(bmc_drives, DGX)
    assert isinstance(found["bmc.drive"], Unknown)
    assert len([path for path in found if path.endswith(".capacity")]) == 15


@pytest.mark.parametrize("name", [DELL, SUPERMICRO, HPE_INTEL, GB200])
def test_simple_storage_is_not_requested_beside_storage(name: str) -> None:
    assert not [uri for uri in bodies(bmc_drives, name) if "/SimpleStorage" in uri]


@pytest.mark.parametrize("value", [0, None, "", -5, 101, "much", True, [], {}])
def test_a_share_of_life_that_is_none_is_unknown(value: object) -> None:
    assert isinstance(
        altered(bmc_drives, SUPERMICRO, DRIVE, PredictedMediaLifeLeftPercent=value)[f"{NAME}.life_left"], Unknown
    )


@pytest.mark.parametrize("value", [0, None, "", -5, "big", True, [], 10**400])
def test_a_size_that_is_none_is_unknown(value: object) -> None:
    assert isinstance(altered(bmc_drives, SUPERMICRO, DRIVE, CapacityBytes=value)[f"{NAME}.capacity"], Unknown)


@pytest.mark.parametrize("value", [None, 0, 1, "false", "False", []])
def test_a_prediction_that_is_no_truth_is_unknown(value: object) -> None:
    found = altered(bmc_drives, SUPERMICRO, DRIVE, FailurePredicted=value)
    assert isinstance(found[f"{NAME}.failure_predicted"], Unknown)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (SUPERMICRO, "Systems/1/Storage"),
        (SUPERMICRO, "Systems/1/Storage/NVMeSSD"),
        (SUPERMICRO, "Chassis/NVMeSSD.0.Group.0.StorageBackplane/Drives"),
        (SUPERMICRO, "Chassis/NVMeSSD.0.Group.0.StorageBackplane/Drives/Disk.Bay.3"),
        (DMTF, "Systems/437XR1138R2/SimpleStorage"),
        (DMTF, "Systems/437XR1138R2/SimpleStorage/1"),
        (GB200, "Systems/System_0/Storage/1/Drives/202"),
    ],
)
def test_what_could_not_be_read_leaves_the_collection_open(name: str, place: str) -> None:
    assert isinstance(ask(bmc_drives, name, {f"{ROOT}/{place}": LOST})["bmc.drive"], Unknown)


@pytest.mark.parametrize(
    "place",
    ["Systems/System_0/Storage/1/Drives/202", "Chassis/StorageBackplane_0/Drives/202"],
    ids=["system", "chassis"],
)
def test_a_drive_without_serial_number_may_be_one_listed_elsewhere(place: str) -> None:
    found = altered(bmc_drives, GB200, f"{ROOT}/{place}", SerialNumber=None)
    assert isinstance(found["bmc.drive"], Unknown)
    assert len([path for path in found if path.endswith(".state")]) == 9


@pytest.mark.parametrize(
    "place", ["Systems/1/Storage", "Systems/1/Storage/DE010000", "Systems/1/Storage/DE010000/Drives/1"]
)
def test_a_drive_of_the_chassis_is_not_taken_for_one_of_the_same_id_that_was_lost(place: str) -> None:
    found = ask(bmc_drives, HPE_INTEL, {f"{ROOT}/{place}": LOST})
    assert found.get("bmc.drive/1.serial") != "1FE0A0ZH0C93"
    assert isinstance(found["bmc.drive"], Unknown)


def test_a_drive_that_only_the_chassis_lists_is_added() -> None:
    held = bodies(bmc_drives, GB200)
    storage = held[f"{ROOT}/Systems/System_0/Storage/1"]
    assert isinstance(storage, Mapping)
    drives = [each for each in storage["Drives"] if not each["@odata.id"].endswith("/202")]
    less = {**storage, "Drives": drives, "Drives@odata.count": len(drives)}
    items = ask(bmc_drives, GB200, {f"{ROOT}/Systems/System_0/Storage/1": less})["bmc.drive"]
    assert items == ("200", "201", "202", "203", "204", "205", "206", "207", "210")


@pytest.mark.parametrize("changed", [{}, {"SerialNumber": "S1"}, {"Model": "another"}])
def test_a_drive_that_two_controllers_list_is_one(changed: Mapping[str, object]) -> None:
    held = bodies(bmc_drives, HPE_INTEL)
    place = f"{ROOT}/Systems/1/Storage"
    storage, drive = held[place], held[f"{place}/DE010000/Drives/1"]
    assert isinstance(storage, Mapping)
    assert isinstance(drive, Mapping)
    again = f"{place}/VROC/Drives/7"
    more = {
        place: {**storage, "Members": [*storage["Members"], {"@odata.id": f"{place}/VROC"}]},
        f"{place}/VROC": {"Id": "VROC", "Drives": [{"@odata.id": again}]},
        again: {**drive, "@odata.id": again, "Id": "7", **changed},
    }
    items = ask(bmc_drives, HPE_INTEL, more)["bmc.drive"]
    assert isinstance(items, tuple)
    assert len(items) == (7 if changed else 6)
