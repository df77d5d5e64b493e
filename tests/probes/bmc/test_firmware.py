"""Firmware by function and role, as recorded BMCs list it, and in odd bodies."""

from collections import Counter
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import Mockup
from trees import (
    ALL,
    ANY_CASE,
    BLUEFIELD,
    DELL,
    DELTA,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    X10,
    client,
    tree,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc import firmware
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish
from rackcheck_probes.bmc.firmware import TABLE, bmc_firmware

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"


@cache
def inventory(name: str) -> BmcCapture:
    """The firmware inventory of a recorded tree, read over HTTPS."""
    with Mockup(tree(name), bodies=None, ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), bmc_firmware.ask.links)
    assert trouble is None
    return capture


def facts(capture: BmcCapture) -> dict[str, Reading]:
    found = collect([bmc_firmware], capture)
    return {path: leaf.reading for path, leaf in found.items()}


@cache
def readings(name: str) -> dict[str, Reading]:
    """The firmware facts of a recorded tree, by path."""
    return facts(inventory(name))


def counts(found: dict[str, Reading]) -> dict[str, int]:
    """How many installed components each function has."""
    listed = {row.name: found[f"firmware.{row.name}"] for row in TABLE.counted}
    return {name: len(items) for name, items in listed.items() if isinstance(items, tuple)}


def component(name: str, key: str, fact: str) -> Reading:
    return readings(name)[f"firmware.component/{spell_key(key)}.{fact}"]


def odd(**body: object) -> Resource:
    """A component with a made-up body."""
    return Resource(f"{INVENTORY}/1", {"Id": "1", "Name": "GPU firmware", "Version": "1.0", **body})


def altered(uri: str, **changes: object) -> dict[str, Reading]:
    """The recorded DGX with one component changed."""
    bodies: dict[str, Any] = dict(inventory(DGX).bodies)
    place = f"{INVENTORY}/{uri}"
    bodies[place] = {**bodies[place], **changes}
    return facts(BmcCapture(bodies))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (DELL, {"tpm": 1, "cpld": 1, "backplane": 1, "psu": 2, "drive": 3, "nic": 7}),
        (
            DGX,
            {"erot": 17, "inforom": 12, "cpld": 2, "psu": 6, "retimer": 10, "nvswitch": 4, "pcie_switch": 3}
            | {"hmc": 1, "fpga": 1, "gpu": 8},
        ),
        (
            SUPERMICRO,
            {"erot": 15, "inforom": 12, "cpld": 8, "psu": 8, "drive": 8, "nic": 10, "storage": 1, "retimer": 8}
            | {"nvswitch": 4, "pcie_switch": 1, "hmc": 1, "fpga": 1, "gpu": 16, "me": 1},
        ),
        (
            HPE_INTEL,
            {"tpm": 1, "cpld": 11, "riser": 3, "backplane": 2, "psu": 5, "drive": 6, "nic": 5, "storage": 1, "gpu": 4}
            | {"video": 1},
        ),
        (
            HPE_AMD,
            {
                "tpm": 1,
                "cpld": 3,
                "backplane": 10,
                "psu": 2,
                "drive": 18,
                "nic": 4,
                "storage": 1,
                "battery": 1,
                "video": 1,
            },
        ),
        (LENOVO, {"riser": 4, "psu": 4, "drive": 4, "nic": 4, "storage": 3, "gpu": 16}),
        (GB200, {"erot": 6, "inforom": 4, "cpld": 5, "nic": 3, "hmc": 1, "fpga": 2, "gpu": 4, "cpu": 2}),
        (NVSWITCH, {"erot": 5, "cpld": 1, "nvswitch": 2, "fpga": 1, "cpu": 1}),
        (BLUEFIELD, {"erot": 1, "nic": 1}),
        (DMTF, {"storage": 1}),
        (X10, {}),
        (DELTA, {}),
    ],
)
def test_installed_firmware_is_counted_by_function(name: str, expected: dict[str, int]) -> None:
    assert counts(readings(name)) == expected


@pytest.mark.parametrize(
    ("name", "path", "version"),
    [
        (DGX, "gpu/HGX_FW_GPU_SXM_1", "96.00.89.00.01"),
        (DGX, "retimer/PCIeRetimer_0", "2.07.19"),
        (DGX, "hmc/HGX_FW_BMC_0", "HGX-22.10-1-rc57"),
        (SUPERMICRO, "cpld/CPLD_Motherboard", "F5.11.CB"),
        (SUPERMICRO, "nic/NIC1", "28.37.10.14"),
        (HPE_INTEL, "gpu/29", "96.00.B7.00.02"),
        (HPE_INTEL, "nic/26", "28.44.1036"),
        (HPE_AMD, "tpm/14", "73.64"),
        (LENOVO, "psu/PSU1", "7.52"),
        (LENOVO, "drive/Disk3", "E2MU200"),
        (GB200, "cpld/FW_CPLD_0", "0x00 0x0b 0x03 0x04"),
        (GB200, "nic/CX7_0", "28.42.1234"),
        (NVSWITCH, "nvswitch/MGX_FW_NVSwitch_1", "35_2014_4652"),
        (BLUEFIELD, "nic/DPU_NIC", "32.43.1008"),
    ],
)
def test_a_version_is_found_under_its_function(name: str, path: str, version: str) -> None:
    assert readings(name)[f"firmware.{path}"] == version


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        (DELL, {"installed": 21, "repeated": 6, "previous": 2}),
        (SUPERMICRO, {"installed": 99, "backup": 2, "golden": 3, "staging": 2}),
        (LENOVO, {"installed": 40, "backup": 1, "pending": 2}),
        (HPE_AMD, {"installed": 47, "backup": 1}),
        (HPE_INTEL, {"installed": 43}),
        (BLUEFIELD, {"installed": 11, "golden": 3}),
        (DGX, {"installed": 66}),
        (GB200, {"installed": 26, "absent": 4}),
    ],
)
def test_inactive_copies_are_distinguished_from_installed_firmware(name: str, roles: dict[str, int]) -> None:
    listed = readings(name)["firmware.component"]
    assert isinstance(listed, tuple)
    rows = (component(name, key, "role") for key in listed)
    assert Counter("absent" if isinstance(role, Absent) else role for role in rows) == roles


@pytest.mark.parametrize(
    ("name", "key", "function", "by"),
    [
        (HPE_AMD, "8", "bios", ("Name: system rom", "Description: systemrombackup")),
        (HPE_INTEL, "16", "cpld", ("Name: programmable logic device", "Description: retimercpld")),
        (DGX, "HGX_FW_ERoT_GPU_SXM_1", "erot", ("Id: erot", "Name: erot")),
        (LENOVO, "Slot_15.1", "nic", ("RelatedItem: /redfish/v1/Chassis/1/NetworkAdapters/slot-15",)),
        (DELL, "Installed-25806-4301A56__Diagnostics.Embedded.1:LC.Embedded.1", "software", None),
        (SUPERMICRO, "Capsule_BIOS", "software", ("Id: capsule", "Name: capsule")),
        (BLUEFIELD, "DPU_BOARD", "other", ()),
        (GB200, "HGX_PCIeSwitchConfig_0", "other", ()),
    ],
)
def test_a_function_names_the_signs_that_identified_it(
    name: str, key: str, function: str, by: tuple[str, ...] | None
) -> None:
    assert component(name, key, "function") == function
    assert by is None or component(name, key, "function_by") == by


def test_a_component_without_a_telling_name_is_identified_by_the_part_that_it_links_to() -> None:
    assert component(LENOVO, "Slot_3.1", "function") == "gpu"
    assert component(LENOVO, "Slot_3.1", "function_by") == (
        "RelatedItem: /redfish/v1/Chassis/1/PCIeDevices/slot_3 Name: nvidia l40",
    )
    assert component(LENOVO, "Slot_30.1", "function") == "riser"  # the part is a board for GPUs


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"Id": "0", "Name": "Processor", "ProcessorType": "GPU"}, "gpu"),
        ({"Id": "0", "Name": "Switch", "SwitchType": "PCIe"}, "pcie_switch"),
        ({"Id": "0", "Name": "Device", "Description": "A GPU is next to it"}, "other"),
        (
            Unknown(Reason.NOT_COLLECTED, "HTTP 404"),
            Unknown(Reason.NOT_COLLECTED, "/redfish/v1/Systems/1/Processors/0: HTTP 404"),
        ),
        (
            Unknown(Reason.TIMEOUT, "no answer"),
            Unknown(Reason.TIMEOUT, "/redfish/v1/Systems/1/Processors/0: no answer"),
        ),
    ],
)
def test_the_part_decides_only_if_it_was_read(part: Any, expected: object) -> None:
    uri = "/redfish/v1/Systems/1/Processors/0"
    bundle = odd(Name="Software bundle", Description="It is updated by the BMC", RelatedItem=[{"@odata.id": uri}])
    found = firmware.function(TABLE, bundle, Documents({uri: part}))[0]
    assert found == expected
    assert firmware.function(TABLE, odd(Name="GPU", RelatedItem=[{"@odata.id": uri}]), Documents({}))[0] == "gpu"


SLOT = "/redfish/v1/Chassis/1/PCIeDevices/slot_3"


def without_part(part: Any) -> dict[str, Reading]:
    """The recorded Lenovo, without the PCIe device that identifies the firmware of slot 3."""
    bodies: dict[str, Any] = dict(inventory(LENOVO).bodies)
    bodies.pop(SLOT)
    return facts(BmcCapture(bodies if part is None else {**bodies, SLOT: part}))


@pytest.mark.parametrize("part", [Unknown(Reason.TIMEOUT, "no answer"), Unknown(Reason.DENIED, "HTTP 403"), None])
def test_a_linked_part_that_was_not_read_leaves_other_functions_known(part: Any) -> None:
    found, whole = without_part(part), readings(LENOVO)
    item = f"firmware.component/{spell_key('Slot_3.1')}"
    assert isinstance(found[f"{item}.function"], Unknown)
    assert found[f"{item}.version"] == whole[f"{item}.version"]
    changed = {path for path in whole if found.get(path) != whole[path] and not path.startswith(f"{item}.")}
    lists = {f"firmware.{name}" for name in TABLE.parts["PCIeDevices"]}
    assert {path for path in changed if path.startswith("firmware.component")} <= {
        path for path in whole if isinstance(found.get(path), Unknown) and path.endswith((".function", ".function_by"))
    }
    assert {path for path in changed if "/" not in path} <= lists
    assert isinstance(found["firmware.gpu"], Unknown)  # it may be one
    assert found["firmware.psu"] == whole["firmware.psu"] != ()
    assert found["firmware.psu/PSU1"] == "7.52"


def test_a_part_that_was_not_read_and_a_description_leave_open_what_both_allow() -> None:
    uri = "/redfish/v1/Fabrics/1/Switches/0"
    bundle = odd(Name="Image", Description="TPM image", RelatedItem=[{"@odata.id": uri}])
    lost = Documents({uri: Unknown(Reason.TIMEOUT, "no answer")})
    rows = firmware.components(TABLE, [("1", bundle)], lost)
    open_ = {row.name for row in TABLE.functions if "is unknown" in str(firmware.gap(rows, row.name))}
    assert open_ == {"tpm", "retimer", "nvswitch", "pcie_switch"}


NAMES = {
    "bios": ("BIOS", "System BIOS", "Host image", "BIOSImage1", "UEFI"),
    "bmc": ("Baseboard Management Controller", "BMCImage2", "XCC", "iLO 6", "iDRAC9", "SystemBMC"),
    "me": ("Server Platform Services (SPS) Firmware", "ME", "Intel(R) ME", "BIOS_ME", "MEFirmware"),
    "gpu": ("GPU VBIOS", "VBIOS", "NVIDIA L40S", "NVIDIA RTX PRO 6000", "AMD Instinct MI300X", "HGX_FW_GPU_7"),
    "hmc": ("UBB BMC", "GPU Board BMC", "HGX_FW_BMC_0"),
    "storage": ("PERC H755 Front", "MegaRAID 9560-8i", "Dell HBA355i Fnt", "RAID Controller in SL 3", "BOSS-S2"),
    "drive": ("Disk.Bay.3", "NVMe SSD", "Hard Drive", "NVMe7", "Drive 2"),
    "nic": ("QLogic 16Gb FC HBA", "MCX75310AAS-NEAT", "BF3_BMC", "DPU BMC", "CX8_0", "HGX_FW_NVLinkManagementNIC_0"),
    "cpld": ("BMC CPLD", "GPU board CPLD", "MB PLD"),
    "erot": ("HGX_FW_IRoT_GPU_0", "ERoT BMC", "Root of Trust of the BIOS"),
    "tpm": ("TPM 2.0", "Trusted Platform Module of the BIOS"),
    "psu": ("PSU1_FW", "Power Supply.Slot.2"),
    "retimer": ("PCIe Retimer 3 of GPU 1",),
    "nvswitch": ("NVLink Switch 1", "HGX_FW_NVSwitch_3"),
    "pcie_switch": ("PCI Express Switch", "PEX89144"),
    "fpga": ("FPGA of the GPU baseboard",),
    "backplane": ("NVMe Backplane 1", "SAS Expander"),
    "battery": ("RAID battery", "BBU of the RAID controller"),
    "video": ("ASPEED Video Controller",),
    "cpu": ("CPU microcode",),
    "other": ("Fan controller", "MCU", "Power Management Controller", "Bioscience", "Chrome"),
}
"""Names that no recorded machine has, by function."""


def test_names_of_unseen_machines_have_their_function() -> None:
    found = {
        (word, name): firmware.function(TABLE, odd(Name=name))[0] for word, names in NAMES.items() for name in names
    }
    assert {key: given for key, given in found.items() if given != key[0]} == {}


def test_a_name_weighs_more_than_a_sentence() -> None:
    told = odd(Name="Power Supply 1", Description="The BIOS and the GPU are fed by this one")
    assert firmware.function(TABLE, told) == ("psu", ("Name: power supply",))
    assert firmware.function(TABLE, odd(Name="Image 1", Description="BMC image"))[0] == "bmc"


def test_a_board_that_holds_gpus_is_no_gpu() -> None:
    assert component(LENOVO, "Slot_30.Bundle", "function") == "riser"
    assert 'firmware.gpu/"Slot_30.Bundle"' not in readings(LENOVO)


@pytest.mark.parametrize("name", [HPE_INTEL, SUPERMICRO, DELL])
def test_no_copy_counts_by_function(name: str) -> None:
    for row in TABLE.counted:
        items = readings(name)[f"firmware.{row.name}"]
        for key in items if isinstance(items, tuple) else ():
            assert component(name, key, "role") == "installed"


def test_firmware_of_a_gpu_that_is_not_there_is_absent_and_kept_raw() -> None:
    assert isinstance(readings(GB200)["firmware.gpu/HGX_FW_GPU_0"], Absent)
    assert component(GB200, "HGX_FW_GPU_0", "version") == "97.00.6C.00.03"


@pytest.mark.parametrize("name", ALL)
def test_a_function_that_no_component_is_known_by_is_unknown_and_never_empty(name: str) -> None:
    for row in TABLE.counted:
        reading = readings(name)[f"firmware.{row.name}"]
        assert reading != ()
        assert isinstance(reading, (tuple, Unknown))
    assert isinstance(readings(DELL)["firmware.gpu"], Unknown)  # it has one, and does not list its firmware


def test_a_component_without_name_and_sign_leaves_every_function_open() -> None:
    found = altered("PSU_0", Id="7", Name=None)
    assert isinstance(found["firmware.component/7.function"], Unknown)
    assert all(isinstance(found[f"firmware.{row.name}"], Unknown) for row in TABLE.counted)


@pytest.mark.parametrize("text", ["null", "undefined", "N/A", "", None, 7])
def test_a_version_that_is_none_is_unknown_under_its_function(text: object) -> None:
    assert isinstance(altered("PSU_0", Version=text)["firmware.psu/PSU_0"], Unknown)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"Status": {"State": "StandbySpare"}}, "backup"),
        ({"Status": {"State": "Enabled"}}, "installed"),
        ({"Name": "GPU recovery image"}, "recovery"),
        ({"Name": "GPU battery backup"}, "installed"),
        ({"Description": "Firmware that a backup may replace"}, "installed"),
        ({"Id": "Available-1-2__GPU"}, "available"),
        ({"Id": "Current-1-2__GPU"}, "installed"),
        ({"Id": "Installed-1-2__Backup.GPU"}, "installed"),
    ],
)
def test_a_role_is_read_from_words_and_state(body: dict[str, object], expected: str) -> None:
    assert firmware.role(TABLE, odd(**body)) == expected


def test_current_beside_installed_is_the_same_firmware_listed_twice() -> None:
    found = [("a", odd(Id="Current-1__GPU.1")), ("b", odd(Id="Installed-1__GPU.1")), ("c", odd(Id="Current-1__GPU.2"))]
    assert [c.key for c in firmware.of(firmware.components(TABLE, found), "gpu")] == ["b", "c"]


@pytest.mark.parametrize(
    "body",
    [
        {"Status": {"State": "Disabled"}},
        {"Status": None},
        {"Status": {"State": 7}},
        {"Name": None, "Description": "GPU"},
        {"Name": "GPU \ufffd"},
    ],
)
def test_a_component_that_may_be_a_copy_is_unknown_and_not_left_out(body: dict[str, object]) -> None:
    rows = firmware.components(TABLE, [("1", odd(SoftwareId="GPU", **body))])
    assert isinstance(rows[0].role, Unknown)
    assert list(firmware.of(rows, "gpu")) == rows
    assert isinstance(rows[0].version.reading, Unknown)


def test_a_component_that_could_not_be_read_is_not_installed() -> None:
    lost = Resource(f"{INVENTORY}/GPU1", {}, Unknown(Reason.NOT_COLLECTED, "HTTP 404"))
    (firmware_component,) = firmware.components(TABLE, [("GPU1", lost)])
    assert (firmware_component.function, firmware_component.role) == ("gpu", Unknown(Reason.NOT_COLLECTED, "HTTP 404"))


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["@odata.id", "Hpe", "State"]), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["Id", "Name", "Description", "SoftwareId", "Version", "RelatedItem", "Oem", "Status"]),
        NONSENSE,
    )
)
def test_no_body_stops_the_reader(body: dict[str, Any]) -> None:
    (firmware_component,) = firmware.components(TABLE, [("1", Resource(f"{INVENTORY}/1", body))])
    assert isinstance(firmware_component.function, Unknown) or firmware_component.function in {
        row.name for row in TABLE.functions
    } | {"other"}
    assert not isinstance(firmware_component.role, str) or firmware_component.role in {
        row.name for row in TABLE.roles
    } | {"installed", "repeated"}
    assert len(firmware_component.by) <= len(firmware.TEXTS) + 2 * firmware.MOST


def test_a_long_text_and_many_links_are_looked_at_in_part() -> None:
    rows = firmware.function(TABLE, odd(Name="x" * 10_000 + " gpu", RelatedItem=[{"@odata.id": "/a/Drives/1"}] * 9_999))
    assert (rows[0], len(rows[1])) == ("drive", firmware.MOST)


def test_every_row_of_the_table_matches_in_a_recorded_machine() -> None:
    seen = {component(name, key, "function") for name in ALL for key in _listed(name)}
    assert seen == {row.name for row in TABLE.functions} | {"other"}


def _listed(name: str) -> tuple[str, ...]:
    listed = readings(name)["firmware.component"]
    return listed if isinstance(listed, tuple) else ()


@pytest.mark.parametrize(
    ("name", "key", "expected"),
    [(SUPERMICRO, "BIOS", "OK"), (LENOVO, "PSU1", "OK"), (GB200, "FW_CPLD_0", "OK"), (BLUEFIELD, "BMC", "OK")],
)
def test_a_component_has_the_health_that_its_bmc_reports(name: str, key: str, expected: str) -> None:
    listed = readings(name)["firmware.component"]
    assert isinstance(listed, tuple)
    assert component(name, key if key in listed else listed[0], "health") == expected


def test_components_without_a_status_and_those_that_are_not_there_have_no_health() -> None:
    assert isinstance(component(DGX, "PSU_0", "health"), Absent)
    assert isinstance(component(GB200, "HGX_FW_GPU_0", "health"), Absent)  # Critical, and its State is Absent


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"Health": "Critical", "State": "Enabled"}, "Critical"),
        ({"Health": "Warning", "State": "Enabled"}, "Warning"),
        ({"Health": "OK", "Conditions": [{"Severity": "Critical"}]}, "Critical"),
    ],
)
def test_an_unhealthy_component_is_reported(status: dict[str, object], expected: str) -> None:
    assert altered("PSU_0", Status=status)["firmware.component/PSU_0.health"] == expected


@pytest.mark.parametrize("status", [{"Health": None, "State": "Enabled"}, {"Health": "Fine"}, 7])
def test_a_health_that_is_none_of_redfish_is_unknown(status: object) -> None:
    assert isinstance(altered("PSU_0", Status=status)["firmware.component/PSU_0.health"], Unknown)


def test_a_repeated_entry_that_does_not_exist_is_no_further_component_that_runs() -> None:
    entry = "/redfish/v1/UpdateService/FirmwareInventory/Current-108255-21.80.9__NIC.Embedded.1-1-1"
    held = dict(inventory(DELL).bodies)
    assert entry in held
    after = facts(BmcCapture({**held, entry: Unknown(Reason.NOT_COLLECTED, "HTTP 404")}))
    before = readings(DELL)
    assert {path for path in before if path.startswith("firmware.nic") and after.get(path) != before[path]} == set()
    assert after["firmware.nic"] == before["firmware.nic"]
    assert isinstance(after['firmware.component/"Current-108255-21.80.9__NIC.Embedded.1-1-1".version'], Unknown)
