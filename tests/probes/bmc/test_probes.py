"""What the probes of the BMC plane read on recorded machines, on altered copies of them, and in invalid bodies."""

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import depth
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trees import (
    ALL,
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
    bmc_probes,
    facts,
    links,
    read,
    readings,
    resource,
    tree_leaves,
)

from rackcheck.model import path as paths
from rackcheck.model.capture import BmcCapture
from rackcheck.model.catalogue import Catalogue, Type
from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, single
from rackcheck.model.path import spell_key
from rackcheck.model.resource import ROOT, Body
from rackcheck.model.secret import DROPPED
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf
from rackcheck_probes.bmc.bios import TABLE

PROBES = bmc_probes()
SETTINGS = ("smt", "virtualization", "sr_iov", "c_states", "turbo", "pcie_aspm", "secure_boot")
DELL_SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
DELL_BIOS = f"{DELL_SYSTEM}/Bios"


def settings_of(found: Mapping[str, Reading]) -> dict[str, Reading]:
    return {name: found[f"bios.{name}"] for name in SETTINGS}


def every(pattern: str, found: Mapping[str, Leaf]) -> list[str]:
    """Every path that a pattern matches among the items found, including nested items."""
    start, *facts = pattern.split("*")
    made = [start]
    for fact in facts:
        listed = [(start, found[start.rstrip("/")].reading) for start in made]
        made = [f"{s}{spell_key(key)}{fact}" for s, keys in listed if isinstance(keys, tuple) for key in keys]
    return made


def none_known(count: int, name: str) -> Unknown:
    return Unknown(Reason.NOT_COLLECTED, f"none of {count} attributes matches {name}: {TABLE[name].sought}")


@pytest.mark.parametrize("name", ALL)
def test_every_promise_has_a_value_or_a_reason(name: str) -> None:
    found = tree_leaves(name)
    assert not [
        leaf for leaf in found.values() if isinstance(leaf.reading, Unknown) and "failed" in leaf.reading.detail
    ]
    for probe in PROBES.values():
        for pattern, kind in probe.gives.items():
            if "*" not in pattern:
                assert pattern in found
            elif kind.type is not Type.COLLECTION and "." in pattern.partition("*")[2]:
                assert not set(every(pattern, found)) - found.keys()
    assert all(leaf.reading.detail for leaf in found.values() if isinstance(leaf.reading, Unknown))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (DELL, "enabled enabled enabled disabled enabled disabled disabled"),
        (DGX, "enabled enabled enabled enabled enabled 223 disabled"),
        (SUPERMICRO, "enabled enabled enabled auto enabled disabled disabled"),
        (HPE_INTEL, "enabled enabled enabled enabled enabled disabled disabled"),
        (HPE_AMD, "enabled 277 enabled enabled enabled disabled disabled"),
        (LENOVO, "enabled enabled enabled enabled enabled disabled disabled"),
        (DMTF, "enabled 10 10 10 enabled 10 disabled"),
        (GB200, "403 403 403 403 403 enabled disabled"),
        (BLUEFIELD, "28 28 28 28 28 28 disabled"),
    ],
)
def test_bios_settings_are_read_in_neutral_words(name: str, expected: str) -> None:
    words = zip(SETTINGS, expected.split(), strict=True)
    assert settings_of(readings(name)) == {s: none_known(int(w), s) if w.isdecimal() else w for s, w in words}


@pytest.mark.parametrize("name", [NVSWITCH, X10, DELTA])
def test_a_bmc_without_bios_states_it(name: str) -> None:
    for setting in SETTINGS[:-1]:
        assert readings(name)[f"bios.{setting}"] == Unknown(Reason.NOT_COLLECTED, "this BMC has no Bios resource")
    assert readings(name)["bios.secure_boot"] == Unknown(Reason.NOT_COLLECTED, "this BMC has no SecureBoot resource")
    assert isinstance(readings(name)["bios.attribute"], Unknown)
    assert isinstance(readings(name)["bios.pending"], Unknown)


@pytest.mark.parametrize(
    ("name", "setting", "source"),
    [
        (DELL, "smt", f"{DELL_BIOS}#/Attributes/LogicalProc = Enabled"),
        (DGX, "smt", "/redfish/v1/Systems/DGX/Bios#/Attributes/ProcessorHyperThreadingDisable = Enabled"),
        (DGX, "sr_iov", "/redfish/v1/Systems/DGX/Bios#/Attributes/SRIOVEnable = Enable; SriovSupport = Enabled"),
        (SUPERMICRO, "turbo", "/redfish/v1/Systems/1/Bios#/Attributes/TurboMode_3D06 = Enable"),
        (DELL, "secure_boot", f"{DELL_SYSTEM}/SecureBoot#/SecureBootCurrentBoot"),
    ],
)
def test_a_setting_names_the_attribute_it_was_read_from(name: str, setting: str, source: str) -> None:
    assert tree_leaves(name)[f"bios.{setting}"].source == source


@pytest.mark.parametrize(
    ("name", "firmware_bios", "firmware_bmc", "components"),
    [
        (DELL, "1.8.2", "6.00.30.00", 29),
        (DGX, "1.1.3", "23.11.20", 66),
        (SUPERMICRO, "1.4", "11.01.01", 106),
        (HPE_INTEL, "U72 v1.34 (04/18/2025)", "1.13.01 May 13 2025", 43),
        (HPE_AMD, "A42 v2.60 (08/11/2022)", "iLO 5 v2.72", 48),
        (LENOVO, "U8E122J", "TGBT42S 2.83 2023-07-05", 43),
        (X10, "1.2", "4.0", None),
    ],
)
def test_firmware_is_read_as_the_bmc_spells_it(
    name: str, firmware_bios: str, firmware_bmc: str, components: int | None
) -> None:
    found = readings(name)
    assert (found["firmware.bios"], found["firmware.bmc"]) == (firmware_bios, firmware_bmc)
    listed = found["firmware.component"]
    assert (len(listed) if isinstance(listed, tuple) else None) == components


@pytest.mark.parametrize(
    ("name", "component", "version", "called"),
    [
        (DGX, "CPLDMB_0", "0.2.1.8", "CPLDMB_0"),
        (DELL, "Current-107649-3.48__RAID.Backplane.Firmware.1", "3.48", "Backplane 1"),
        (SUPERMICRO, "BMC", "11.01.01", "BMC"),
        (HPE_AMD, "2", "A42 v2.60 (08/11/2022)", "System ROM"),
        (GB200, "FW_CPLD_0", "0x00 0x0b 0x03 0x04", "Software Inventory"),
    ],
)
def test_a_component_has_its_version_and_name(name: str, component: str, version: str, called: str) -> None:
    item = f"firmware.component/{spell_key(component)}"
    assert readings(name)[f"{item}.version"] == version
    assert readings(name)[f"{item}.name"] == called
    assert readings(name)[f"{item}.updateable"] is True


@pytest.mark.parametrize(("name", "component"), [(SUPERMICRO, "Backup_BMC"), (LENOVO, "BMC-Primary-Pending")])
def test_a_text_that_is_no_version_is_unknown(name: str, component: str) -> None:
    reading = readings(name)[f"firmware.component/{spell_key(component)}.version"]
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED


def test_the_machine_is_identified_by_its_systems_not_by_the_bmcs_vendor() -> None:
    found = readings(DGX)
    assert found["bmc.vendor"] == "AMI"
    assert found["bmc.redfish"] == "1.11.0"
    assert found["bmc.system"] == ("DGX", "HGX_Baseboard_0")
    assert found["bmc.system/DGX.model"] == "DGXH100"
    assert found["bmc.system/DGX.serial"] == "1662923610124"
    assert found["bmc.system/DGX.power_state"] == "On"
    assert isinstance(found["bmc.system/HGX_Baseboard_0.model"], Unknown)
    assert found["bmc.manager/bmc.time"] == "2020-12-11T16:22:59+00:00"


def test_an_unfilled_placeholder_is_absent() -> None:
    assert isinstance(readings(X10)["bmc.system/1.serial"], Absent)
    assert isinstance(readings(X10)["bmc.system/1.sku"], Absent)
    assert isinstance(readings(SUPERMICRO)["bmc.vendor"], Unknown)


@pytest.mark.parametrize(
    ("name", "supplies"),
    [
        (DELL, 2),
        (DGX, 6),
        (SUPERMICRO, 8),
        (HPE_INTEL, 8),
        (HPE_AMD, 2),
        (LENOVO, 4),
        (DMTF, 2),
        (DELTA, 6),
        (GB200, 0),
    ],
)
def test_power_supplies_are_counted_with_their_empty_slots(name: str, supplies: int) -> None:
    listed = readings(name)["psu"]
    assert isinstance(listed, tuple)
    assert len(listed) == supplies


def test_a_power_supply_is_read_from_the_newer_or_the_older_resource() -> None:
    newer, older = readings(DELL), readings(SUPERMICRO)
    assert newer['psu/"PSU.Slot.1".capacity'] == 2400
    assert newer['psu/"PSU.Slot.1".firmware'] == "00.2A.2B"
    assert newer['psu/"PSU.Slot.1".health'] == "OK"
    assert older["psu/0.serial"] == "P3K6GCN25IB0914"
    assert older["psu/0.capacity"] == 3000


def test_an_empty_slot_has_a_state_and_nothing_else() -> None:
    found = readings(HPE_INTEL)
    assert found["psu/5.state"] == "Absent"
    for fact in ("health", "model", "serial", "firmware", "capacity"):
        assert isinstance(found[f"psu/5.{fact}"], Absent)


def test_power_supplies_without_a_word_on_their_health_have_none() -> None:
    assert readings(DGX)["psu/PSU0.health"] == Absent("the BMC reports no health for it")
    assert readings(DGX)["psu/PSU0.model"] == "01"
    assert readings(DELTA)["psu/1.health"] == "OK"


@pytest.mark.parametrize(
    ("name", "fans", "key", "speed", "duty"),
    [
        (DELL, 6, "Fan.Embedded.1A", 18600.0, None),
        (DGX, 36, "SPD_FAN_PSU0_F", 6600.0, None),
        (SUPERMICRO, 6, "0", 2240.0, None),
        (HPE_INTEL, 12, "0", None, 32.0),
        (HPE_AMD, 6, "0", None, 51.0),
        (LENOVO, 10, "Fan_1A_Tach", 6431.0, None),
        (DMTF, 4, "Bay1", 2200.0, 45.0),
    ],
)
def test_a_fan_reports_rpm_or_duty_as_its_bmc_does(
    name: str, fans: int, key: str, speed: float | None, duty: float | None
) -> None:
    found = readings(name)
    listed = found["fan"]
    assert isinstance(listed, tuple)
    assert len(listed) == fans
    item = f"fan/{spell_key(key)}"
    for fact, expected in (("speed", speed), ("duty", duty)):
        reading = found[f"{item}.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected
    assert found[f"{item}.health"] == "OK"


def test_an_empty_fan_slot_does_not_stand_still() -> None:
    assert readings(X10)["fan/0.state"] == "Absent"
    assert isinstance(readings(X10)["fan/0.speed"], Absent)
    assert isinstance(readings(X10)['sensor/"CPU Temp".temperature'], Absent)


@pytest.mark.parametrize(
    ("name", "sensor", "celsius"),
    [
        (DELL, "CPU1 Temp", 37.0),
        (SUPERMICRO, "CPU1 Temp", 29.0),
        (LENOVO, "Ambient Temp", 19.0),
        (GB200, "BMC_0_DCSCM_Temp_0", 33.875),
        (DGX, "DGX:TEMP_GB_HSC5", 29.0),
        (DGX, "CPUBaseboard:TEMP_GB_HSC5", 30.0),
    ],
)
def test_a_temperature_is_read_under_its_name(name: str, sensor: str, celsius: float) -> None:
    assert readings(name)[f"sensor/{spell_key(sensor)}.temperature"] == celsius


# Altered copies


def changed(**attributes: object) -> dict[str, object]:
    """The recorded Dell's Bios with some attributes changed."""
    body = resource(DELL, DELL_BIOS)
    kept = body["Attributes"]
    assert isinstance(kept, dict)
    return {DELL_BIOS: {**body, "Attributes": {**kept, **attributes}}}


def altered(bodies: Mapping[str, object], name: str = DELL) -> dict[str, Reading]:
    return {path: leaf.reading for path, leaf in facts(read(name, bodies, "bmc_bios", "bmc_secure_boot")).items()}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"LogicalProc": "Disabled"}, {"smt": "disabled"}),
        (
            {"ProcVirtualization": "Disabled", "SriovGlobalEnable": "Disabled"},
            {"virtualization": "disabled", "sr_iov": "disabled"},
        ),
        ({"ProcCStates": "Autonomous"}, {"c_states": "enabled"}),
        ({"ProcTurboMode": "Disabled", "PcieAspmL1": "Enabled"}, {"turbo": "disabled", "pcie_aspm": "enabled"}),
        ({"SysProfile": "Custom", "ProcC1E": "Enabled"}, {}),
        (
            {"ProcTurboMode": {"CurrentValue": "Disabled", "AllowableValues": ["Enabled", "Disabled"]}},
            {"turbo": "disabled"},
        ),
        ({"ProcTurboMode": False}, {"turbo": "disabled"}),
    ],
)
def test_exactly_the_changed_settings_change(attributes: Mapping[str, object], expected: Mapping[str, str]) -> None:
    before, after = settings_of(readings(DELL)), settings_of(altered(changed(**attributes)))
    assert {name: word for name, word in after.items() if word != before[name]} == expected


@pytest.mark.parametrize("value", ["Perhaps", "", 1, None, [], {"CurrentValue": None}, {}])
def test_an_unknown_word_is_unknown_and_named(value: object) -> None:
    reading = altered(changed(LogicalProc=value))["bios.smt"]
    assert isinstance(reading, Unknown)
    assert "LogicalProc" in reading.detail


def test_attributes_that_contradict_each_other_are_mixed() -> None:
    place = "/redfish/v1/Systems/DGX/Bios"
    body = resource(DGX, place)
    kept = body["Attributes"]
    assert isinstance(kept, dict)
    bodies = {place: {**body, "Attributes": {**kept, "SriovSupport": "Disabled"}}}
    assert altered(bodies, DGX)["bios.sr_iov"] == "mixed"


def test_every_attribute_is_listed_as_the_bmc_spells_it_except_secrets() -> None:
    found = readings(DELL)
    recorded = resource(DELL, DELL_BIOS)["Attributes"]
    assert isinstance(recorded, dict)
    assert found["bios.attribute"] == tuple(sorted(recorded, key=natural))
    assert found["bios.attribute/LogicalProc"] == "Enabled"
    assert found["bios.attribute/SHA256SetupPassword"] == DROPPED
    assert readings(SUPERMICRO)["bios.attribute/SecureBootEnable_0122"] == "false"


@pytest.mark.parametrize("name", [DELL, DGX, SUPERMICRO, HPE_INTEL, HPE_AMD, LENOVO, GB200, BLUEFIELD])
def test_nothing_waits_on_the_recorded_machines(name: str) -> None:
    assert readings(name)["bios.pending"] == ()


def test_a_setting_that_waits_for_a_reboot_is_named_with_what_it_will_be() -> None:
    assert readings(DMTF)["bios.pending"] == ("AdminPhone", "EmbeddedSata", "pxe", "turbo")
    assert readings(DMTF)["bios.pending/EmbeddedSata"] == "Ahci"
    assert readings(DMTF)["bios.pending/turbo"] == "disabled"
    assert readings(DMTF)["bios.turbo"] == "enabled"


def later(attributes: object) -> dict[str, object]:
    return {f"{DELL_BIOS}/Settings": {"Id": "Settings", "Attributes": attributes}}


def test_only_what_differs_waits() -> None:
    found = altered(later({"ProcTurboMode": "Enabled", "LogicalProc": "Disabled", "AssetTag": "new"}))
    assert found["bios.pending"] == ("AssetTag", "smt")
    assert found["bios.pending/smt"] == "disabled"
    assert found["bios.pending/AssetTag"] == "new"


def test_a_pending_attribute_without_a_setting_is_listed_by_its_own_name() -> None:
    found = altered(later({"CorrEccSmi": "Disabled", "EmbSata": "RaidMode", "ProcTurboMode": "Enabled"}))
    assert found["bios.pending"] == ("CorrEccSmi", "EmbSata")
    assert found["bios.pending/EmbSata"] == "RaidMode"


def test_an_attribute_missing_from_the_current_ones_leaves_pending_unknown() -> None:
    assert isinstance(altered(later({"Xyzzy": "Disabled"}))["bios.pending"], Unknown)
    assert altered(later({"SysPassword": None}))["bios.pending"] == ()


def test_an_unknown_word_is_pending_too() -> None:
    found = altered(later({"LogicalProc": "Perhaps"}))
    assert found["bios.pending"] == ("smt",)
    assert isinstance(found["bios.pending/smt"], Unknown)


@pytest.mark.parametrize("now", [{"CurrentValue": None}, None, [], "a\ufffd", "xyzzy", -7])
def test_a_setting_without_a_value_now_neither_waits_nor_does_not(now: object) -> None:
    found = altered(changed(ProcTurboMode=now) | later({"ProcTurboMode": "Enabled", "LogicalProc": "Disabled"}))
    assert isinstance(found["bios.pending"], Unknown)
    assert found["bios.pending/smt"] == "disabled"
    assert "bios.pending/turbo" not in found


def test_a_setting_only_in_the_next_boot_leaves_pending_unknown() -> None:
    body = copy.deepcopy(resource(DELL, DELL_BIOS))
    del body["Attributes"]["ProcTurboMode"]  # type: ignore[attr-defined]  # an object, as recorded
    assert isinstance(altered({DELL_BIOS: body} | later({"ProcTurboMode": "Enabled"}))["bios.pending"], Unknown)
    assert isinstance(altered(later({"ProcTurboMode": None}))["bios.pending"], Unknown)


def test_an_empty_settings_object_leaves_pending_unknown() -> None:
    assert isinstance(altered({f"{DELL_BIOS}/Settings": {}})["bios.pending"], Unknown)


def test_a_setting_that_points_elsewhere_at_the_next_boot_waits() -> None:
    place = f"{ROOT}/Systems/0/Bios"
    bodies = dict(machine({"PcieGlobalAspm": "Disabled", "PciSlot1Aspm": "Auto"}).bodies)
    bodies[place] = {
        "Attributes": {"PcieGlobalAspm": "Disabled", "PciSlot1Aspm": "Auto"},
        "@Redfish.Settings": {"SettingsObject": link(f"{place}/Settings")},
    }
    bodies[f"{place}/Settings"] = {"Id": "Settings", "Attributes": {"PcieGlobalAspm": "PerPort"}}
    assert of(BmcCapture(bodies))["bios.pending/pcie_aspm"] == "auto"


@pytest.mark.parametrize("attributes", [None, [], "x"])
def test_a_settings_object_that_cannot_be_read_leaves_what_waits_unknown(attributes: object) -> None:
    assert isinstance(altered(later(attributes))["bios.pending"], Unknown)


def test_a_bios_that_names_no_settings_object_leaves_what_waits_unknown() -> None:
    body = resource(DELL, DELL_BIOS)
    del body["@Redfish.Settings"]
    assert isinstance(altered({DELL_BIOS: body})["bios.pending"], Unknown)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"SecureBootCurrentBoot": "Enabled", "SecureBootEnable": False}, "enabled"),
        ({"SecureBootCurrentBoot": "Disabled", "SecureBootEnable": True}, "disabled"),
        ({"Id": "SecureBoot", "SecureBootEnable": True}, "enabled"),
        ({"Id": "SecureBoot"}, "disabled"),
    ],
)
def test_secure_boot_is_what_this_boot_was_else_the_switch_else_an_attribute(
    body: Mapping[str, object], expected: str
) -> None:
    assert altered({f"{DELL_SYSTEM}/SecureBoot": body})["bios.secure_boot"] == expected


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"SecureBootCurrentBoot": None, "SecureBootEnable": True},
        {"SecureBootCurrentBoot": [], "SecureBootEnable": True},
        {"SecureBootEnable": None},
        Unknown(Reason.TIMEOUT, "no answer"),
    ],
)
def test_secure_boot_without_a_value_is_not_inferred_from_another_one(body: Body | Unknown) -> None:
    bodies = {**read(DELL).bodies, f"{DELL_SYSTEM}/SecureBoot": body}
    assert isinstance(of(BmcCapture(bodies))["bios.secure_boot"], Unknown)


# Machines without a recording


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def machine(*attributes: object, **more: Body | Unknown) -> BmcCapture:
    """A BMC with one system for each set of attributes."""
    systems = f"{ROOT}/Systems"
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Systems": link(systems)},
        systems: {"Members": [link(f"{systems}/{n}") for n in range(len(attributes))]},
    }
    for n, given_ in enumerate(attributes):
        place = f"{systems}/{n}"
        bodies[place] = {"Id": f"s{n}", "Bios": link(f"{place}/Bios")}
        bodies[f"{place}/Bios"] = given_ if isinstance(given_, Unknown) else {"Attributes": given_}
    return BmcCapture(bodies | more)


def of(capture: BmcCapture) -> dict[str, Reading]:
    return {path: leaf.reading for path, leaf in facts(capture).items()}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"SMT Control": "Auto", "Core Performance Boost": "Disabled"}, {"smt": "auto", "turbo": "disabled"}),
        (
            {"Global C-state Control": "Enabled", "SVM Mode": "Disable"},
            {"c_states": "enabled", "virtualization": "disabled"},
        ),
        (
            {"Hyper-Threading [ALL]_1A2B": "Disable", "TurboMode_0000": "Enable"},
            {"smt": "disabled", "turbo": "enabled"},
        ),
        ({"SR-IOV Support": {"CurrentValue": "Enabled", "AllowableValues": []}}, {"sr_iov": "enabled"}),
        ({"TurboMode_3D06": "Enable", "TurboMode_3D07": "Disable"}, {"turbo": "mixed"}),
        ({"PcieGlobalAspm": "Disabled", "PciSlot1Aspm": "Auto"}, {"pcie_aspm": "disabled"}),
        ({"PcieGlobalAspm": "PerPort", "PciSlot1Aspm": "Auto", "PciSlot2Aspm": "Disabled"}, {"pcie_aspm": "mixed"}),
        ({"MinProcIdlePower": "NoCStates"}, {"c_states": "disabled"}),
        ({"PackageCState": "C0/C1 state"}, {}),
        ({"Socket0Pcie0EnableASPML1": True, "Socket1Pcie9EnableASPML1": False}, {"pcie_aspm": "mixed"}),
    ],
)
def test_other_spellings_are_known(attributes: Mapping[str, object], expected: Mapping[str, str]) -> None:
    found = settings_of(of(machine(attributes)))
    assert {name: word for name, word in found.items() if not isinstance(word, Unknown)} == expected


def test_settings_of_one_of_two_systems_that_may_be_the_host_are_unknown() -> None:
    others: tuple[object, ...] = ({}, Unknown(Reason.NOT_COLLECTED, "HTTP 404"))
    for other in others:
        assert isinstance(of(machine({"LogicalProc": "Disabled"}, other))["bios.smt"], Unknown)


def test_a_second_bios_that_could_not_be_read_makes_settings_unknown() -> None:
    others: tuple[object, ...] = (None, [], Unknown(Reason.TIMEOUT, "no answer"))
    for other in others:
        assert isinstance(of(machine({"LogicalProc": "Disabled"}, other))["bios.smt"], Unknown)


def test_systems_that_disagree_leave_a_setting_unknown() -> None:
    found = of(machine({"LogicalProc": "Enabled", "Sriov": "Enabled"}, {"LogicalProc": "Disabled", "Sriov": "Enabled"}))
    assert isinstance(found["bios.smt"], Unknown)
    assert isinstance(found["bios.attribute/LogicalProc"], Unknown)
    assert found["bios.sr_iov"] == "enabled"


def test_a_bios_that_is_denied_is_denied_not_missing() -> None:
    found = of(machine(Unknown(Reason.DENIED, "HTTP 403")))
    assert {found[f"bios.{name}"] for name in SETTINGS[:-1]} == {
        Unknown(Reason.DENIED, "/redfish/v1/Systems/0/Bios: HTTP 403")
    }
    assert found["bios.attribute"] == Unknown(Reason.DENIED, "/redfish/v1/Systems/0/Bios: HTTP 403")


def test_a_bios_without_attributes_states_it() -> None:
    assert of(machine({}))["bios.smt"] == Unknown(Reason.NOT_COLLECTED, "this BMC has no Bios resource with attributes")


def test_several_bios_versions_are_none() -> None:
    systems = f"{ROOT}/Systems"
    cases: tuple[tuple[tuple[dict[str, object], ...], str | None], ...] = (
        (({}, {"BiosVersion": "1.2"}), "1.2"),
        (({"BiosVersion": "1.2"}, {"BiosVersion": "1.2"}), "1.2"),
        (({"BiosVersion": "1.2"}, {"BiosVersion": "1.3"}), None),
        (({"BiosVersion": "1.2"}, {"BiosVersion": None}), None),
    )
    for versions, expected in cases:
        more: dict[str, Body | Unknown] = {f"{systems}/{n}": {"Id": "same", **v} for n, v in enumerate(versions)}
        reading = of(machine({}, {}, **more))["firmware.bios"]
        assert reading == expected if expected else isinstance(reading, Unknown)


def test_a_silent_bmc_gives_its_reason_to_every_promise() -> None:
    why = Unknown(Reason.TIMEOUT, "silent for 30 s")
    found = of(BmcCapture({ROOT: why}))
    assert {r.reason for r in found.values() if isinstance(r, Unknown)} == {Reason.TIMEOUT}
    assert all(isinstance(r, Unknown) for r in found.values())


# Nonsense


@cache
def sound() -> dict[str, Body]:
    """A small BMC on which every probe finds something."""
    capture = read(DMTF)
    asides = {"Oem", "Actions", "Description", "@odata.type", "@Redfish.Copyright", "Location", "RelatedItem"}
    return {
        uri: {name: value for name, value in body.items() if name not in asides}
        for uri, body in capture.bodies.items()
        if not isinstance(body, Unknown)
    }


def places(body: object) -> Iterator[tuple[Any, Any]]:
    """Every place inside a body: its container, and its key."""
    if isinstance(body, dict | list):
        for key in list(body) if isinstance(body, dict) else range(len(body)):
            yield body, key
            yield from places(body[key])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("/redfish/v1/Chassis"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
WRONG = st.one_of(
    JSON,
    st.sampled_from(
        [10**400, "*", '"', "%", "\x00\x1b[2J", "٣", "x" * 5000, {"@odata.id": ROOT}, [None], {"": ""}, [[]]]
    ),
)


@pytest.mark.parametrize("name", sorted(PROBES))
@settings(
    max_examples=depth.examples(20, 60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_reader_fed_with_nonsense_gives_facts_or_is_unreadable(name: str, data: st.DataObject) -> None:
    bodies: dict[str, Any] = copy.deepcopy(sound())
    for _ in range(data.draw(st.integers(1, 6))):
        uri = data.draw(st.sampled_from(sorted(bodies)))
        if data.draw(st.integers(0, 9)) == 0:
            bodies[uri] = Unknown(data.draw(st.sampled_from(Reason)), "x")
        elif isinstance(bodies[uri], dict) and (inside := list(places(bodies[uri]))):
            holder, key = inside[data.draw(st.integers(0, len(inside) - 1))]
            holder[key] = copy.deepcopy(data.draw(WRONG))
    promised = Catalogue.of(PROBES[name].entries())
    try:
        for path, _ in single(PROBES[name].parse(Documents(bodies))):  # type: ignore[arg-type]  # the ask is Redfish
            assert promised.find(paths.parse(path)) is not None, path
    except (Unreadable, Missing):
        pass


@settings(max_examples=60, deadline=None)
@given(
    attributes=st.dictionaries(st.text(max_size=12) | st.sampled_from(["LogicalProc", "TurboMode_3D06", "*"]), WRONG)
)
def test_no_attribute_can_break_a_reader(attributes: dict[str, Any]) -> None:
    for leaf in facts(machine(attributes)).values():
        assert not (isinstance(leaf.reading, Unknown) and "failed" in leaf.reading.detail), leaf


def test_all_links_together_are_few() -> None:
    assert len(links()) <= 62


def without(name: str, end: str) -> dict[str, Reading]:
    """What is read from a BMC when the resources with this end of the URI do not answer."""
    lost = Unknown(Reason.TIMEOUT, "no answer")
    bodies = {uri: lost if uri.endswith(end) else body for uri, body in read(name).bodies.items()}
    assert lost in bodies.values()
    return {path: leaf.reading for path, leaf in facts(BmcCapture(bodies)).items()}


def test_a_system_that_was_not_read_leaves_the_bmc_s_firmware_unknown() -> None:
    lost = Unknown(Reason.TIMEOUT, "no answer")
    assert readings(DGX)["firmware.bmc"] == "23.11.20"
    found = without(DGX, "/Systems/DGX")
    assert (found["firmware.bmc"], found["firmware.bios"], found["bmc.system"]) == (lost, lost, lost)


def test_an_empty_system_is_not_counted_and_not_skipped() -> None:
    bodies = {**read(DGX).bodies, "/redfish/v1/Systems/DGX": {}}
    found = of(BmcCapture(bodies))
    for fact in ("bmc.system", "firmware.bios", "firmware.bmc", "bios.smt", "bios.pending"):
        assert isinstance(found[fact], Unknown), fact


def test_another_manager_does_not_replace_one_without_a_firmware_version() -> None:
    place = "/redfish/v1/Managers/BMC"
    system = {**resource(DGX, "/redfish/v1/Systems/DGX"), "Links": {"Chassis": []}}
    bodies = {**read(DGX).bodies, "/redfish/v1/Systems/DGX": system}
    bodies[place] = {**resource(DGX, place), "FirmwareVersion": None}
    assert isinstance(of(BmcCapture(bodies))["firmware.bmc"], Unknown)


def test_a_name_that_could_not_be_decoded_leaves_the_list_of_attributes_unknown() -> None:
    found = of(machine({"A\ufffd": "x", "B": "y\ufffd", "LogicalProc": "Enabled"}))
    assert isinstance(found["bios.attribute"], Unknown)
    assert isinstance(found["bios.attribute/B"], Unknown)
    assert found["bios.smt"] == "enabled"


def test_an_older_form_does_not_stand_in_for_one_that_failed() -> None:
    found = without(DELL, "/PowerSubsystem/PowerSupplies")
    assert isinstance(found["psu"], Unknown)
    assert not [path for path in found if path.startswith("psu/") and "*" not in path]


def test_a_bios_with_attributes_beyond_reason_is_too_large_not_slow() -> None:
    bodies: dict[str, Body | Unknown] = dict(read(DELL).bodies)
    bodies[DELL_BIOS] = {"Id": "Bios", "Attributes": {f"A{n}": "Enabled" for n in range(200_000)}}
    found = {path: leaf.reading for path, leaf in facts(BmcCapture(bodies)).items()}
    assert isinstance(found["bios.smt"], Unknown)
    assert found["bios.smt"].reason is Reason.TOO_LARGE
    assert not [path for path in found if path.startswith("bios.attribute/")]
