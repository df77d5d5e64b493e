"""`nvidia-smi -q -x`: answers of real drivers, value for value, odd ones, and what they must not be read as."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import shared, shared_text

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text import elements
from rackcheck.parse.host.gpu import smi
from rackcheck.parse.host.gpu.smi_fields import FIELDS

MIG = "telegraf-a100-sxm4-v12"
NAMES = (
    "a100", "gb200", "h100", "l40s", "mock-gb200-ecc-injected", "mock-gb200-fabric-degraded", "mock-gb200-lost",
    "mock-gb200-throttle-counters", "netdata-rtx-4090-driver-535", "netdata-tesla-p100", MIG, "telegraf-gtx-1660-ti",
    "telegraf-rtx-3080-v13", "telegraf-rtx-4000-sff-ada-v13", "telegraf-tesla-t4",
)  # fmt: skip
MIB = 1 << 20
NA = {"absent": "nvidia-smi: N/A"}
DEPRECATED = {"unknown": "not collected", "detail": "nvidia-smi: Requested functionality has been deprecated"}
LOST = {"unknown": "not collected", "detail": "nvidia-smi: GPU is lost"}
LEFT_OUT = None
"""Not printed by this driver."""


@cache
def recorded(name: str) -> str:
    """A recorded answer; that of the machine with MIG was shortened to one of its GPUs, without correcting their count."""
    text = shared_text(f"nvidia/nvidia-smi-qx-{name}.xml")
    return text.replace("<attached_gpus>4<", "<attached_gpus>1<") if name == MIG else text


def gpu(name: str, index: int = 0) -> dict[str, Any]:
    """The parsed values of one GPU of a recording."""
    gpus: list[dict[str, Any]] = smi.parse_xml(recorded(name))["gpus"]
    return gpus[index]


def plain(value: Any) -> Any:
    """The value of a quantity; anything else unchanged."""
    return value["value"] if isinstance(value, dict) and "value" in value else value


def changed(text: str, old: str, new: str) -> str:
    """A text with all occurrences of a substring replaced."""
    assert old in text
    return text.replace(old, new)


EXPECTED: dict[tuple[str, int], dict[str, Any]] = {
    ("a100", 0): {
        "name": "NVIDIA A100-SXM4-40GB", "architecture": "Ampere", "serial": "1650000000001", "minor": 0,
        "uuid": "GPU-00000000-0000-0000-0000-000000000000", "pci": "00000000:06:00.0", "vbios": "92.00.45.00.03",
        "board_id": 0x600, "board_part_number": "692-2G506-0200-003", "module_id": 7, "addressing": "HMM",
        "brand": "NVIDIA", "gpu_part_number": "20B0-884-A1", "accounting": 0,
        "inforom_image": "G506.0200.00.04", "inforom_oem": "2.0", "inforom_ecc": "6.16", "inforom_power": NA,
        "gsp_version": "570.148.08", "gsp_mode": 1, "persistence": 1, "display_mode": 1, "display_active": 0,
        "memory": 40960 * MIB, "memory_reserved": 518 * MIB, "memory_used": 0, "bar1": 65536 * MIB, "bar1_used": MIB,
        "ecc": 1, "ecc_pending": 1, "mig": 0, "mig_pending": 0, "mig_devices": 0, "recovery_action": 0,
        "reset_required": DEPRECATED, "retired_single": NA, "retired_pending": NA, "unrepairable": LEFT_OUT,
        "remap_max": 640, "remap_none": 0, "remap_failed": 0, "temperature": 33, "temperature_margin": NA,
        "temperature_shutdown": 92, "temperature_slowdown": 89, "temperature_max_operating": 85,
        "temperature_memory": 34, "temperature_memory_max": 95, "margin_shutdown": LEFT_OUT, "power_usage": 49680,
        "power_average": NA, "power_limit": 400_000, "power_min": 100_000, "app_graphics": 1095, "clock_sm": 210,
        "sm_max": 1410, "link_generation": 4, "link_width": 16, "fabric_state": NA, "fabric_health": NA,
        "fabric_clique": NA, "reasons": 1, "virtualization": 1, "compute_mode": 0, "processes": 0, "cc_memory": 0,
    },
    ("gb200", 2): {
        "name": "NVIDIA GB200", "architecture": "Blackwell", "serial": "1650000000002", "pci": "00000000:9C:00.0",
        "module_id": 4, "chassis_serial": "1820000000001", "slot": 14, "tray": 4, "host": 1,
        "peer_type": "Switch Connected", "fabric_guid": "0x0000000000000003", "addressing": "ATS", "c2c": 1, "display_mode": DEPRECATED,
        "memory": 189471 * MIB, "bar1": 262144 * MIB, "power_usage": 156_480, "power_average": 156_480,
        "power_limit": 1_200_000, "power_memory": 31_030, "module_power_usage": 459_640,
        "module_power_average": 459_800, "module_power_limit": 2_500_000, "module_power_min": 500_000,
        "temperature": 27, "temperature_margin": 60, "margin_shutdown": -5, "margin_slowdown": -2,
        "margin_max_operating": 0, "margin_memory_max": 0, "temperature_shutdown": LEFT_OUT, "unrepairable": 0,
        "channel_repair_pending": 0, "tpc_repair_pending": 0, "violation_power_ns": 7_337_828_000,
        "violation_thermal_ns": 7_319_467_000, "violation_hw_thermal_ns": 0, "link_device_max_generation": 6,
        "link_max_generation": 5, "link_host_max_generation": NA, "fabric_state": 3, "fabric_status": "Success",
        "fabric_clique": 2, "fabric_cluster": "00000001-0000-0000-0000-000000000001", "fabric_summary": 1,
        "fabric_health": 0b10101010, "recovery_action": 0, "remap_max": 3968,
    },
    ("h100", 5): {
        "name": "NVIDIA H100 80GB HBM3", "architecture": "Hopper", "serial": "1650000000006", "minor": 5,
        "pci": "00000000:A8:00.0", "memory": 81559 * MIB, "memory_reserved": 480 * MIB, "pcie_replay": 172,
        "pcie_replay_rollover": 0, "power_usage": 68_250, "power_average": 68_110, "power_enforced": 700_000,
        "ecc": 1, "ecc_uncorrected": 0, "ecc_volatile_sram_uncorrected": 0, "ecc_sram_threshold_exceeded": 0,
        "ecc_sram_source_l2": 0, "remap_max": 2560, "margin_shutdown": -8, "violation_power_ns": 7_015_263_757_000,
        "fabric_state": 3, "fabric_status": "Success", "fabric_clique": 0, "fabric_summary": 0, "fabric_health": 0,
        "fabric_cluster": "00000000-0000-0000-0000-000000000000", "app_graphics": 1980, "memory_max": 2619,
        "link_generation": 5, "link_width": 16, "mig": 0, "mig_devices": 0, "nvlinks": LEFT_OUT, "c2c": 0,
    },
    ("l40s", 0): {
        "architecture": "Ada Lovelace", "mig": NA, "mig_devices": NA, "app_graphics": DEPRECATED,
        "default_app_memory": DEPRECATED, "link_width": 8, "link_max_width": 16, "temperature_memory": NA,
        "unrepairable": NA, "ecc": 1, "clock_sm": 2040, "clock_memory": 9001, "power_usage": 66_160,
        "remap_max": 192, "fabric_state": NA,
    },
    ("mock-gb200-ecc-injected", 0): {
        "ecc_volatile_dram_uncorrected": 5, "ecc_aggregate_dram_uncorrected": 8, "ecc_volatile_dram_corrected": 0,
        "ecc_volatile_sram_uncorrected": NA, "ecc_uncorrected": 5, "remap_uncorrected": 1, "remap_failed": 1,
        "remap_pending": 0, "remap_max": NA, "temperature": 63, "temperature_margin": 30, "retired_double": 0,
        "recovery_action": NA, "fabric_health": 0, "inforom_power": "1.0", "violation_power_ns": NA, "virtualization": NA,
    },
    ("mock-gb200-fabric-degraded", 0): {"fabric_state": 3, "fabric_summary": 1, "fabric_health": 0b01_10101010},
    ("mock-gb200-fabric-degraded", 1): {"fabric_state": 3, "fabric_summary": 2, "fabric_health": 0b01_10011010},
    ("mock-gb200-lost", 0): {"temperature": 63, "memory": 196608 * MIB, "fabric_state": 3},
    ("mock-gb200-lost", 1): {
        "serial": "1562849103701", "memory": LOST, "memory_used": LOST, "temperature": LOST, "utilization": LOST,
        "temperature_margin": LOST, "ecc_volatile_dram_uncorrected": LOST, "ecc_uncorrected": LOST,
        "remap_failed": LOST, "remap_max": LOST, "power_usage": LOST, "clock_sm": LOST, "fabric_state": LOST,
        "fabric_status": LOST, "fabric_health": LOST, "fabric_summary": LOST, "power_limit": 1_000_000,
    },
    ("mock-gb200-throttle-counters", 0): {
        "violation_power_ns": 39_595_000, "violation_thermal_ns": 0, "remap_max": 3072, "virtualization": 0,
    },
    ("netdata-rtx-4090-driver-535", 0): {
        "serial": NA, "board_part_number": NA, "ecc": 0, "ecc_uncorrected": NA, "addressing": "None", "fan": 0,
        "gsp_version": NA, "gsp_mode": LEFT_OUT, "reset_required": 0, "drain_and_reset_recommended": NA,
        "recovery_action": LEFT_OUT, "power_usage": 26_840, "power_average": LEFT_OUT, "power_limit": 450_000,
        "link_generation": 1, "link_max_generation": 3, "link_host_max_generation": 3, "reasons": 1, "pstate": 8,
        "fabric_state": NA, "module_id": 1, "temperature_target": 84, "bar1": 256 * MIB,
    },
    ("netdata-tesla-p100", 0): {
        "serial": "0324217145110", "architecture": "Pascal", "persistence": 0, "memory": 16384 * MIB, "mig": NA,
        "ecc_volatile_dram_corrected": 0, "ecc_aggregate_dram_corrected": 3, "ecc_aggregate_dram_uncorrected": 0,
        "ecc_uncorrected": 0, "ecc_volatile_sram_uncorrected": LEFT_OUT, "retired_single": 0, "retired_double": 0,
        "retired_pending": 0, "remap_corrected": NA, "remap_none": NA, "power_usage": 26_160, "power_limit": 250_000,
        "power_enforced": 250_000, "power_min": 125_000, "reasons": 1, "temperature_max_operating": NA,
        "fabric_state": LEFT_OUT, "board_part_number": LEFT_OUT,
    },
    (MIG, 0): {
        "name": "NVIDIA A100-SXM4-80GB", "serial": "1650522003820", "minor": 1, "mig": 1, "mig_pending": 1,
        "mig_devices": 4, "utilization": NA, "reasons": 0, "power_usage": 67_030, "temperature_memory": 44,
        "ecc_volatile_sram_uncorrected": 0, "ecc_uncorrected": 0, "memory_used": 50 * MIB, "processes": 0,
        "recovery_action": LEFT_OUT, "reset_required": 0, "drain_and_reset_recommended": 0, "sm_max": 1410, "link_host_max_generation": 4,
    },
    ("telegraf-gtx-1660-ti", 0): {
        "name": "Graphics Device", "architecture": LEFT_OUT, "serial": NA, "memory": 5912 * MIB, "mig": LEFT_OUT,
        "mig_devices": LEFT_OUT, "memory_reserved": LEFT_OUT, "gsp_version": LEFT_OUT, "ecc": NA, "power_usage": 8930,
        "power_limit": 130_000, "fan": 0, "pstate": 8, "reasons": 1, "app_graphics": NA, "remap_failed": LEFT_OUT,
    },
    ("telegraf-rtx-3080-v13", 0): {
        "reasons": 0, "pstate": 2, "utilization": 65, "power_usage": 142_330, "power_average": 139_620,
        "power_max": 336_000, "memory_used": 9184 * MIB, "remap_corrected": NA, "ecc": NA, "addressing": "HMM",
    },
    ("telegraf-rtx-4000-sff-ada-v13", 0): {
        "display_active": 1, "processes": 4, "fan": 30, "ecc": 0, "violation_power_ns": 4_251_825_415_000,
        "remap_max": 96, "power_limit": 70_000, "utilization_memory": 37,
    },
    ("telegraf-tesla-t4", 0): {
        "processes": 2, "reasons": 0, "clock_memory": 5000, "ecc_volatile_sram_uncorrected": 0, "ecc_uncorrected": 0,
        "ecc_sram_parity_volatile": LEFT_OUT, "retired_pending": 0, "link_width": 8, "mig_devices": NA,
        "gsp_version": "515.105.01", "gsp_mode": 1, "temperature_memory_max": NA,
    },
}  # fmt: skip


def test_every_recorded_answer_is_read_here() -> None:
    found = {path.stem.removeprefix("nvidia-smi-qx-") for path in shared("nvidia").glob("nvidia-smi-qx-*.xml")}
    assert found == set(NAMES) == {name for name, _ in EXPECTED}


@pytest.mark.parametrize(("name", "index"), EXPECTED)
def test_a_recorded_gpu_is_reported_as_the_driver_printed_it(name: str, index: int) -> None:
    values = gpu(name, index)
    assert {key: plain(values.get(key)) for key in EXPECTED[name, index]} == EXPECTED[name, index]


@pytest.mark.parametrize("name", NAMES)
def test_every_gpu_of_a_recorded_answer_has_its_place_and_its_values_are_of_one_form(name: str) -> None:
    whole = smi.parse_xml(recorded(name))
    root = ET.fromstring(recorded(name))
    assert plain(whole["driver"]) == root.findtext("driver_version")
    assert plain(whole["cuda"]) == root.findtext("cuda_version")
    assert len(whole["gpus"]) == int(root.findtext("attached_gpus") or -1)
    assert [plain(one["pci"]) for one in whole["gpus"]] == [one.findtext("pci/pci_bus_id") for one in root.iter("gpu")]
    for one in whole["gpus"]:
        assert well_formed(one)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_a_real_driver_printed_is_beyond_the_reader(name: str) -> None:
    rows = [one for of_gpu in smi.parse_xml(recorded(name))["gpus"] for one in of_gpu.values()]
    assert not [one for one in rows if one.get("unknown") == Reason.UNPARSABLE.value]


def well_formed(values: dict[str, Any]) -> bool:
    """Whether each value of a GPU, or the GPU itself, is a number or text, absent, or unknown with a valid reason."""
    if "unknown" in values:
        return set(values) == {"unknown", "detail"} and values["unknown"] in set(Reason)
    return all(
        (set(one) == {"value"} and isinstance(one["value"], int | str) and one["value"] != "")
        or (set(one) == {"absent"} and isinstance(one["absent"], str))
        or (set(one) == {"unknown", "detail"} and one["unknown"] in set(Reason))
        for one in values.values()
    )


# Numbers that are not reported: no check needs them, another key has them, or they are only counted.
UNTOLD = re.compile(
    "/(timestamp|accounting_mode_buffer_size|gpu_fru_part_number|pdi"
    "|inforom_bbx_flush/.*|pci/(pci_(bus|device|domain|device_id|sub_system_id|base_class|sub_class)|[rt]x_util)"
    "|pci/atomic_caps_.*|fb_memory_usage/free|bar1_memory_usage/free|cc_protected_memory_usage/(used|free)"
    "|utilization/(en|de)coder_util|utilization/(jpeg|ofa)_util|(encoder|fbc)_stats/.*"
    "|ecc_errors/.*/(single|double)_bit/(register_file|l1_cache|l2_cache|texture_memory|texture_shm|cbu)"
    "|ecc_errors/(volatile/single_bit|aggregate/(single|double)_bit)/total|remapped_rows/remapped_row_.*_inactive"
    "|supported_gpu_target_temp/.*|max_customer_boost_clocks/.*|voltage/.*|module_power_readings/requested_power_limit"
    "|mig_devices/.*|processes/process_info/(pid|used_memory|gpu_instance_id|compute_instance_id|type|process_name)"
    "|accounted_processes/.*|((gpu|module)_)?power_readings/power_state)"
)


def leaves(element: ET.Element, path: str = "") -> Iterator[tuple[str, ET.Element]]:
    """Each element without children, and its path."""
    for child in element:
        yield from leaves(child, f"{path}/{child.tag}")
    if not len(element):
        yield path, element


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_number_changes_its_fact_and_all_others_stay_known(name: str) -> None:
    root = ET.fromstring(recorded(name))
    only, *others = root.findall("gpu")
    for other in others:
        root.remove(other)
    for clocks in only.findall("supported_clocks"):
        only.remove(clocks)
    (root.find("attached_gpus") or root[3]).text = "1"
    before = smi.parse_xml(ET.tostring(root, encoding="unicode"))
    silent, heard = [], 0
    for path, leaf in leaves(root):
        text = leaf.text or ""
        at = re.search("[0-9]", text)
        if at is None or "attached_gpus" in path:
            continue
        leaf.text = f"{text[: at.start()]}{(int(at[0]) + 1) % 10 or 1}{text[at.end() :]}"
        if smi.parse_xml(ET.tostring(root, encoding="unicode")) == before:
            silent.append(path.removeprefix("/gpu"))
        else:
            heard += 1
        leaf.text = text
    assert [path for path in silent if not UNTOLD.fullmatch(path)] == []
    assert heard > 40


def test_each_reason_has_its_bit_under_both_of_its_names() -> None:
    for name in ("h100", "telegraf-tesla-t4"):
        for bit, reason in enumerate(smi._REASONS):
            idle = recorded(name).replace("gpu_idle>Active", "gpu_idle>Not Active")
            text = changed(idle, f"_{reason}>Not Active<", f"_{reason}>Active<")
            assert smi.parse_xml(text)["gpus"][0]["reasons"] == {"value": 1 << bit}


def test_a_mask_with_a_gap_is_not_reported() -> None:
    line = "<clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>"
    for broken, why in (
        ("", "is not printed"),
        (line.replace("Not Active", "Perhaps"), "Perhaps"),
        (f"{line}<clocks_event_reason_new>Active</clocks_event_reason_new>", "clocks_event_reason_new is active"),
        (line.replace("Not Active", "[Unknown Error]"), "Unknown Error"),
    ):
        value = smi.parse_xml(changed(recorded("h100"), line, broken))["gpus"][0]["reasons"]
        assert "unknown" in value
        assert why in value["detail"]
    quiet = f"{line}<clocks_event_reason_new>Not Active</clocks_event_reason_new>"
    assert smi.parse_xml(changed(recorded("h100"), line, quiet))["gpus"][0]["reasons"] == {"value": 1}


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("N/A", {"absent": "nvidia-smi: N/A"}),
        ("[N/A]", {"absent": "nvidia-smi: N/A"}),
        ("Not Supported", {"absent": "nvidia-smi: Not Supported"}),
        ("Insufficient Permissions", {"unknown": "denied", "detail": "nvidia-smi: Insufficient Permissions"}),
        ("[Insufficient Permissions]", {"unknown": "denied", "detail": "nvidia-smi: Insufficient Permissions"}),
        ("Unknown Error", {"unknown": "not collected", "detail": "nvidia-smi: Unknown Error"}),
        ("[GPU is lost]", LOST),
        ("GPU requires reset", {"unknown": "not collected", "detail": "nvidia-smi: GPU requires reset"}),
        ("Unknown", {"unknown": "not collected", "detail": "nvidia-smi: Unknown"}),
        ("Timeout", {"unknown": "timeout", "detail": "nvidia-smi: Timeout"}),
    ],
)
def test_a_word_in_a_values_place_is_never_a_value(word: str, values: dict[str, str]) -> None:
    text = recorded("a100")
    for tag in ("serial", "current_ecc", "gpu_temp", "performance_state", "current_power_limit", "current_link_width"):
        text = re.sub(f"<{tag}>[^<]*<", f"<{tag}>{word}<", text)
    found = smi.parse_xml(text)["gpus"][0]
    for key in ("serial", "ecc", "temperature", "pstate", "power_enforced", "link_width"):
        assert found[key] == values, key


@pytest.mark.parametrize(
    ("tag", "key", "texts"),
    [
        (
            "gpu_temp",
            "temperature",
            ("33", "33 F", "0x21 C", "33.5 C", "1e1 C", "٣ C", "", "33 C C", "9" * 19 + " C", "9" * 30 + " C"),
        ),
        ("instant_power_draw", "power_usage", ("49.68", "49.68 kW", "-1.00 W", "49,68 W", "49.6801 W", "inf W")),
        ("current_link_width", "link_width", ("16", "x16", "-16x", "9999x")),
        ("performance_state", "pstate", ("8", "P", "P-1", "P123")),
        ("current_ecc", "ecc", ("On", "Yes", "1", "Enabled Disabled")),
        ("remapped_row_failure", "remap_failed", ("Enabled", "0", "Pending")),
        ("gpu_recovery_action", "recovery_action", ("Replace", "0", "")),
        ("board_id", "board_id", ("600", "0x", "0x123456789")),
        ("serial", "serial", ("", "x" * 300, "one\ntwo", "\u202e1")),
    ],
)
def test_a_text_of_another_format_is_rejected(tag: str, key: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        value = smi.parse_xml(re.sub(f"<{tag}>[^<]*<", f"<{tag}>{text}<", recorded("a100")))["gpus"][0]
        assert value[key].get("unknown") == "unparsable", text
        assert plain(value["name"]) == "NVIDIA A100-SXM4-40GB"


@pytest.mark.parametrize(
    ("word", "number"), [("None", 0), ("Reset", 1), ("Reboot", 2), ("Drain P2P", 3), ("Drain and Reset", 4)]
)
def test_each_recovery_action_has_nvmls_number(word: str, number: int) -> None:
    text = changed(recorded("h100"), "<gpu_recovery_action>None<", f"<gpu_recovery_action>{word}<")
    assert smi.parse_xml(text)["gpus"][0]["recovery_action"] == {"value": number}


def test_the_set_limit_is_distinguished_from_the_enforced_one() -> None:
    text = changed(recorded("h100"), "<current_power_limit>700.00 W", "<current_power_limit>510.25 W")
    value = smi.parse_xml(text)["gpus"][0]
    assert (value["power_limit"], value["power_enforced"]) == ({"value": 700_000}, {"value": 510_250})
    old = changed(recorded("telegraf-tesla-t4"), "<enforced_power_limit>70.00 W", "<enforced_power_limit>60.00 W")
    value = smi.parse_xml(old)["gpus"][0]
    assert (value["power_limit"], value["power_enforced"]) == ({"value": 70_000}, {"value": 60_000})


def test_an_error_as_the_fabrics_status_is_its_value() -> None:
    text = changed(recorded("h100"), "<status>Success<", "<status>Insufficient Resources<")
    value = smi.parse_xml(text)["gpus"][0]
    assert (value["fabric_state"], value["fabric_status"]) == ({"value": 3}, {"value": "Insufficient Resources"})


def test_a_fabric_that_is_still_joined_has_a_state_and_no_more() -> None:
    text = re.sub("<fabric>.*?</fabric>", waiting := (
        "<fabric><state>In Progress</state><status>N/A</status><cliqueId>N/A</cliqueId><clusterUuid>N/A</clusterUuid>"
        "<health><summary>N/A</summary><bandwidth>N/A</bandwidth></health></fabric>"
    ), recorded("gb200"), flags=re.DOTALL)  # fmt: skip
    assert waiting in text
    value = smi.parse_xml(text)["gpus"][0]
    assert value["fabric_state"] == {"value": 2}
    assert value["fabric_status"] == value["fabric_clique"] == value["fabric_cluster"] == NA
    assert value["fabric_health"] == value["fabric_summary"] == {"value": 0}


def test_a_word_of_the_fabrics_health_that_we_do_not_know_leaves_no_mask() -> None:
    known = "<incorrect_configuration>N/A<"
    text = changed(recorded("gb200"), known, "<incorrect_configuration>Something New<")
    value = smi.parse_xml(text)["gpus"][0]
    assert value["fabric_health"]["unknown"] == "unparsable"
    assert "Something New" in value["fabric_health"]["detail"]
    assert value["fabric_summary"] == {"value": 1}


def test_an_error_that_cannot_be_counted_leaves_no_total() -> None:
    text = changed(recorded("h100"), "<sram_uncorrectable_parity>0<", "<sram_uncorrectable_parity>Unknown Error<")
    value = smi.parse_xml(text)["gpus"][0]
    assert "unknown" in value["ecc_volatile_sram_uncorrected"]
    assert "unknown" in value["ecc_uncorrected"]
    assert value["ecc_volatile_dram_uncorrected"] == {"value": 0}
    three = changed(recorded("h100"), "<sram_uncorrectable_parity>0<", "<sram_uncorrectable_parity>3<")
    assert smi.parse_xml(three)["gpus"][0]["ecc_uncorrected"] == {"value": 3}


def test_a_kind_of_memory_that_is_not_printed_leaves_no_total() -> None:
    line = "<sram_uncorrectable_parity>0</sram_uncorrectable_parity>"
    value = smi.parse_xml(changed(recorded("h100"), line, ""))["gpus"][0]
    assert "ecc_uncorrected" not in value
    assert "ecc_volatile_sram_uncorrected" not in value
    assert value["ecc_sram_secded_volatile"] == {"value": 0}


@pytest.mark.parametrize(("word", "number"), [("True", 1), ("False", 2), ("N/A", 0)])
def test_each_part_of_the_fabrics_health_has_its_place_in_nvmls_mask(word: str, number: int) -> None:
    for part, shift in (
        ("route_recovery_in_progress", 2),
        ("route_unhealthy", 4),
        ("access_timeout_recovery", 6),
        ("partition_assigned", 12),
    ):
        text = re.sub(f"<{part}>[^<]*<", f"<{part}>{word}<", recorded("gb200"))
        others = 0b10101010 & ~(0b11 << shift)
        assert smi.parse_xml(text)["gpus"][0]["fabric_health"] == {"value": others | number << shift}


def test_a_performance_state_may_have_two_digits() -> None:
    text = changed(recorded("h100"), "<performance_state>P0<", "<performance_state>P12<")
    assert smi.parse_xml(text)["gpus"][0]["pstate"] == {"value": 12}


def test_a_process_on_two_instances_is_one_and_its_name_is_nobodys_business() -> None:
    name = "tele</process_name><serial>1</serial><x & \x01"
    many = "".join(
        f"<process_info><gpu_instance_id>{n}</gpu_instance_id><pid>{pid}</pid><process_name>{name}</process_name>"
        "</process_info>"
        for n, pid in ((1, 77), (2, 77), (3, 78))
    )
    text = re.sub(r"<processes>\s*</processes>", lambda _: f"<processes>{many}</processes>", recorded("a100"))
    assert many in text
    value = smi.parse_xml(text)["gpus"][0]
    assert value["processes"] == {"value": 2}
    assert value["serial"] == {"value": "1650000000001"}
    assert "tele" not in repr(value)


@pytest.mark.parametrize("block", ["processes", "mig_devices"])
def test_a_list_of_what_we_do_not_know_is_not_counted(block: str) -> None:
    text = re.sub(f"<{block}>.*?</{block}>", f"<{block}><other>1</other></{block}>", recorded("a100"), flags=re.DOTALL)
    assert "unknown" in smi.parse_xml(text)["gpus"][0][block]
    text = re.sub(f"<{block}>.*?</{block}>", f"<{block}>GPU is lost</{block}>", recorded("a100"), flags=re.DOTALL)
    assert smi.parse_xml(text)["gpus"][0][block] == LOST


def test_a_value_printed_twice_is_unparsable() -> None:
    value = smi.parse_xml(changed(recorded("a100"), "<serial>", "<serial>2</serial><serial>"))["gpus"][0]
    assert value["serial"]["unknown"] == "unparsable"
    assert value["name"] == {"value": "NVIDIA A100-SXM4-40GB"}
    value = smi.parse_xml(changed(recorded("gb200"), "</fabric>", "</fabric><fabric></fabric>"))["gpus"][0]
    assert {value.get(key, value).get("unknown") for key in ("fabric_state", "fabric_health")} == {"unparsable"}


def test_a_gpu_that_is_counted_and_not_printed_makes_all_unknown() -> None:
    short = smi.parse_xml(shared_text(f"nvidia/nvidia-smi-qx-{MIG}.xml"))
    assert [set(one) for one in short["gpus"]] == [{"unknown", "detail"}] * 4
    assert "1 of 4 GPUs printed" in short["gpus"][0]["detail"]
    counted = "<attached_gpus>1</attached_gpus>"
    more = changed(recorded("a100"), counted, "<attached_gpus>2</attached_gpus><error_string>No handle</error_string>")
    assert {one["detail"] for one in smi.parse_xml(more)["gpus"]} == {"nvidia-smi: 1 of 2 GPUs printed: No handle"}
    none = changed(recorded("a100"), counted, "<attached_gpus>0</attached_gpus>")
    with pytest.raises(Unreadable, match="1 GPUs printed, but attached_gpus is not a valid count"):
        smi.parse_xml(none)
    assert smi.parse_xml("<nvidia_smi_log><attached_gpus>0</attached_gpus></nvidia_smi_log>") == {"gpus": []}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No devices were found\n",
        "<nvidia_smi_log>",
        "<other><attached_gpus>0</attached_gpus></other>",
        "<nvidia_smi_log></nvidia_smi_log>",
        "<nvidia_smi_log><attached_gpus>N/A</attached_gpus></nvidia_smi_log>",
        "<nvidia_smi_log><attached_gpus>1000000000</attached_gpus></nvidia_smi_log>",
        "<nvidia_smi_log>\x00<attached_gpus>0</attached_gpus></nvidia_smi_log>",
        "<nvidia_smi_log><attached_gpus>&nothing;</attached_gpus></nvidia_smi_log>",
        "<nvidia_smi_log><attached_gpus>0</attached_gpus></nvidia_smi_log>" * 2,
    ],
)
def test_what_is_no_such_xml_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        smi.parse_xml(text)


@pytest.mark.parametrize("name", ["a100", "telegraf-tesla-t4"])
def test_a_cut_answer_is_refused(name: str) -> None:
    text = recorded(name).rstrip()
    for cut in range(0, len(text) - 1, 97):
        with pytest.raises(Unreadable):
            smi.parse_xml(text[:cut])


def test_what_stands_around_the_document_changes_nothing() -> None:
    noise = f"WARNING: something\n{recorded('a100')}\nWARNING: infoROM is corrupted at gpu 0000:06:00.0\n"
    assert smi.parse_xml(noise) == smi.parse_xml(recorded("a100"))


def test_a_text_is_whole_wherever_it_lies_in_a_long_answer() -> None:
    text = changed(recorded("a100"), "<product_name>", "<product_name>A &amp; B, ")
    head, tail = text.split("<nvidia_smi_log>")
    start = len(head) + tail.index("A &amp; B")
    for at in range(start - 20, start + 60):
        moved = f"{head}{' ' * (elements._PIECE - at)}<nvidia_smi_log>{tail}"
        assert smi.parse_xml(moved)["gpus"][0]["name"] == {"value": "A & B, NVIDIA A100-SXM4-40GB"}


COUNTED = {
    "ecc_volatile_sram_corrected": "ecc_errors/volatile/sram_correctable",
    "ecc_sram_parity_volatile": "ecc_errors/volatile/sram_uncorrectable_parity",
    "ecc_sram_secded_volatile": "ecc_errors/volatile/sram_uncorrectable_secded",
    "ecc_volatile_dram_corrected": "ecc_errors/volatile/dram_correctable",
    "ecc_volatile_dram_uncorrected": "ecc_errors/volatile/dram_uncorrectable",
    "ecc_aggregate_sram_corrected": "ecc_errors/aggregate/sram_correctable",
    "ecc_sram_parity_aggregate": "ecc_errors/aggregate/sram_uncorrectable_parity",
    "ecc_sram_secded_aggregate": "ecc_errors/aggregate/sram_uncorrectable_secded",
    "ecc_aggregate_dram_corrected": "ecc_errors/aggregate/dram_correctable",
    "ecc_aggregate_dram_uncorrected": "ecc_errors/aggregate/dram_uncorrectable",
    "ecc_sram_source_l2": "ecc_errors/aggregate_uncorrectable_sram_sources/sram_l2",
    "ecc_sram_source_sm": "ecc_errors/aggregate_uncorrectable_sram_sources/sram_sm",
    "ecc_sram_source_microcontroller": "ecc_errors/aggregate_uncorrectable_sram_sources/sram_microcontroller",
    "ecc_sram_source_pcie": "ecc_errors/aggregate_uncorrectable_sram_sources/sram_pcie",
    "ecc_sram_source_other": "ecc_errors/aggregate_uncorrectable_sram_sources/sram_other",
    "retired_single": "retired_pages/multiple_single_bit_retirement/retired_count",
    "retired_double": "retired_pages/double_bit_retirement/retired_count",
    "remap_corrected": "remapped_rows/remapped_row_corr",
    "remap_uncorrected": "remapped_rows/remapped_row_unc",
    "remap_max": "remapped_rows/row_remapper_histogram/row_remapper_histogram_max",
    "remap_high": "remapped_rows/row_remapper_histogram/row_remapper_histogram_high",
    "remap_partial": "remapped_rows/row_remapper_histogram/row_remapper_histogram_partial",
    "remap_low": "remapped_rows/row_remapper_histogram/row_remapper_histogram_low",
    "remap_none": "remapped_rows/row_remapper_histogram/row_remapper_histogram_none",
    "pcie_replay": "pci/replay_counter",
    "pcie_replay_rollover": "pci/replay_rollover_counter",
    "violation_sync_boost_ns": "clocks_event_reasons_counters/clocks_event_reasons_counters_sync_boost",
    "violation_hw_thermal_ns": "clocks_event_reasons_counters/clocks_event_reasons_counters_hw_therm_slowdown",
    "violation_hw_brake_ns": "clocks_event_reasons_counters/clocks_event_reasons_counters_hw_power_brake",
    "margin_max_operating": "temperature/gpu_temp_max_gpu_tlimit_threshold",
    "margin_memory_max": "temperature/gpu_temp_max_mem_tlimit_threshold",
    "graphics_max": "max_clocks/graphics_clock",
    "video_max": "max_clocks/video_clock",
    "clock_graphics": "clocks/graphics_clock",
    "clock_video": "clocks/video_clock",
    "app_memory": "applications_clocks/mem_clock",
    "default_app_graphics": "default_applications_clocks/graphics_clock",
    "default_app_memory": "default_applications_clocks/mem_clock",
    "power_default": "gpu_power_readings/default_power_limit",
    "module_power_default": "module_power_readings/default_power_limit",
    "module_power_max": "module_power_readings/max_power_limit",
    "link_device_generation": "pci/pci_gpu_link_info/pcie_gen/device_current_link_gen",
    "cc_memory": "cc_protected_memory_usage/total",
}
SCALE = {"us": 1000, "W": 1000, "MiB": MIB}


def test_a_counter_at_zero_in_the_recordings_is_read_under_its_own_key() -> None:
    root = ET.fromstring(recorded("gb200"))
    only = root.findall("gpu")[0]
    expected = {}
    for number, (key, path) in enumerate(COUNTED.items(), 101):
        leaf = only.find(path)
        assert leaf is not None, path
        unit = (leaf.text or "").partition(" ")[2]
        leaf.text = f"{number} {unit}".strip()
        expected[key] = number * SCALE.get(unit, 1)
    value = smi.parse_xml(ET.tostring(root, encoding="unicode"))["gpus"][0]
    assert {key: plain(value[key]) for key in expected} == expected
    assert plain(value["ecc_volatile_sram_uncorrected"]) == 102 + 103
    assert plain(value["ecc_uncorrected"]) == 102 + 103 + 105
    assert plain(value["ecc_aggregate_sram_uncorrected"]) == 107 + 108


@pytest.mark.parametrize(
    ("key", "tag"),
    [
        ("ecc_sram_threshold_exceeded", "sram_threshold_exceeded"),
        ("channel_repair_pending", "channel_repair_pending"),
        ("tpc_repair_pending", "tpc_repair_pending"),
        ("unrepairable", "unrepairable_memory"),
        ("remap_pending", "remapped_row_pending"),
        ("remap_failed", "remapped_row_failure"),
    ],
)
def test_a_yes_is_read_as_one_and_changes_nothing_else(key: str, tag: str) -> None:
    before, after = gpu("gb200"), smi.parse_xml(changed(recorded("gb200"), f"<{tag}>No<", f"<{tag}>Yes<"))["gpus"][0]
    assert {name for name in before if before[name] != after[name]} == {key}
    assert (before[key], after[key]) == ({"value": 0}, {"value": 1})


@pytest.mark.parametrize("tag", ["pending_retirement", "reset_required"])
def test_a_yes_of_an_older_driver_is_read_as_one(tag: str) -> None:
    name = "netdata-tesla-p100" if tag == "pending_retirement" else MIG
    key = "retired_pending" if tag == "pending_retirement" else tag
    assert smi.parse_xml(changed(recorded(name), f"<{tag}>No<", f"<{tag}>Yes<"))["gpus"][0][key] == {"value": 1}


BODY = "<nvidia_smi_log><attached_gpus>{}</attached_gpus></nvidia_smi_log>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "text",
    [
        f'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ENTITY l0 "0">{LAUGHS}]>{BODY.format("&l9;")}',
        f'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ENTITY f SYSTEM "{{file}}">]>{BODY.format("&f;")}',
        f'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ENTITY % f SYSTEM "{{file}}"> %f;]>{BODY.format("0")}',
        f'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ELEMENT gpu ANY>]>{BODY.format("0")}',
        f'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log SYSTEM "{{file}}">{BODY.format("&f;")}',
    ],
)
def test_a_document_that_declares_or_uses_entities_is_refused(text: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside.dtd"
    outside.write_text('<!ENTITY f "0">')
    with pytest.raises(Unreadable, match="custom entities"):
        smi.parse_xml(text.replace("{file}", outside.as_uri()))


def test_the_dtd_that_is_named_is_not_fetched(tmp_path: Path) -> None:
    bad = tmp_path / "bad.dtd"
    bad.write_text("<!this is no DTD>")
    text = f'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log SYSTEM "{bad.as_uri()}">{BODY.format("0")}'
    assert smi.parse_xml(text) == {"gpus": []}


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("<a/>" * (10 << 18), "characters of XML"),
        ("<a/>" * (elements.MOST_ELEMENTS + 1), "elements"),
        ("<a>" * 100_000, "levels of elements"),
        (f"<a>{'x' * (5 << 20)}</a>", "characters in one 'a'"),
        ("<process_name>" * 300_000, "levels of elements"),
        ("<gpu/>" * 300, "300 GPUs printed"),
    ],
)
def test_an_answer_without_bounds_is_refused(inside: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        smi.parse_xml(f"<nvidia_smi_log><attached_gpus>1</attached_gpus>{inside}</nvidia_smi_log>")


CHANGES = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 40),
        st.sampled_from(["", "<", ">", "&", "N/A", "[", "-1", "9" * 40, "\x00", "\ud800", "<gpu>", "</gpu>", "é", " W"])
        | st.text(max_size=6),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=300)
@given(name=st.sampled_from(["a100", "telegraf-tesla-t4", "netdata-tesla-p100", MIG]), changes=CHANGES)
def test_nonsense_is_well_formed_or_refused(name: str, changes: list[tuple[float, int, str]]) -> None:
    text = recorded(name)
    for place, length, new in changes:
        at = int(place * len(text))
        text = text[:at] + new + text[at + length :]
    try:
        values = smi.parse_xml(text)
    except Unreadable:
        return
    assert all(well_formed(one) for one in values["gpus"])


TAGS = sorted({place.rpartition("/")[2] for _, places in FIELDS.values() for place in places.split()})


@settings(max_examples=300)
@given(
    name=st.sampled_from(["a100", "telegraf-tesla-t4", "mock-gb200-lost"]),
    tag=st.sampled_from([*TAGS, "state", "cliqueId", "health", "fabric", "processes", "mig_devices", "ecc_errors"]),
    new=st.text(st.characters(exclude_characters="<&", exclude_categories=["Cs", "Cc"]), max_size=30)
    | st.sampled_from(["N/A", "[Unknown Error]", "<a/>", "<a>1</a>text", "-0 C", "0.0000001 W", "1 MiB"]),
)
def test_any_text_in_any_place_costs_no_other_place_its_form(name: str, tag: str, new: str) -> None:
    text = re.sub(f"<{tag}>.*?</{tag}>", lambda _: f"<{tag}>{new}</{tag}>", recorded(name), flags=re.DOTALL)
    values = smi.parse_xml(text)
    assert len(values["gpus"]) == len(smi.parse_xml(recorded(name))["gpus"])
    assert all(well_formed(one) for one in values["gpus"])
    assert all("uuid" in one for one in values["gpus"])
