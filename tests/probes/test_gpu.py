"""The GPU probes: how they parse NVML's answers; test_fake_driver.py tests how NVML is queried."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from gpu_driver import GPU, SMI, driver_readings
from recordings import answering, ask, facts, shared_text

from rackcheck.model.capture import PAYLOAD, named
from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.probe.tree_shaking import needed
from rackcheck_probes.gpu.nvml import QUESTION
from rackcheck_probes.gpu.nvml_pack import payload
from rackcheck_probes.gpu.nvml_values import ber, ber_exponent, degrees, recovery

BUS = "bus 0000:53:00.0\nbus read\n"
NO_LIBRARY = {"unknown": "tool missing", "detail": "NVML: NVML Shared Library Not Found"}


def value(value: object) -> dict[str, object]:
    return {"value": value}


def as_nvml_values(smi: ET.Element) -> dict[str, object]:
    """One GPU of a recorded `nvidia-smi -q -x` as the numbers that NVML returned to nvidia-smi."""

    def number(path: str, unit: float = 1) -> dict[str, object]:
        output = (smi.findtext(path) or "N/A").split(" ")[0].rstrip("x")
        return {"absent": "NVML: Not Supported"} if output == "N/A" else value(round(float(output) * unit))

    def word(path: str, *words: str) -> dict[str, object]:
        output = smi.findtext(path) or "N/A"
        return {"absent": "NVML: Not Supported"} if output == "N/A" else value(words.index(output) if words else output)

    power = "gpu_power_readings" if smi.find("gpu_power_readings") is not None else "power_readings"
    limit = "current_power_limit" if smi.find(f"{power}/current_power_limit") is not None else "power_limit"
    link = "pci/pci_gpu_link_info"
    return {
        "name": word("product_name"),
        "uuid": word("uuid"),
        "serial": word("serial"),
        "pci": word("pci/pci_bus_id"),
        "vbios": word("vbios_version"),
        "memory": number("fb_memory_usage/total", 2**20),
        "persistence": word("persistence_mode", "Disabled", "Enabled"),
        "ecc": word("ecc_mode/current_ecc", "Disabled", "Enabled"),
        "ecc_pending": word("ecc_mode/pending_ecc", "Disabled", "Enabled"),
        "mig": word("mig_mode/current_mig", "Disabled", "Enabled"),
        "power_limit": number(f"{power}/{limit}", 1000),
        "power_default": number(f"{power}/default_power_limit", 1000),
        "power_max": number(f"{power}/max_power_limit", 1000),
        "sm_max": number("max_clocks/sm_clock"),
        "temperature": number("temperature/gpu_temp"),
        "link_generation": number(f"{link}/pcie_gen/current_link_gen"),
        "link_max_generation": number(f"{link}/pcie_gen/max_link_gen"),
        "link_width": number(f"{link}/link_widths/current_link_width"),
        "link_max_width": number(f"{link}/link_widths/max_link_width"),
    }


def test_eight_recorded_h100_are_eight_gpus() -> None:
    root = ET.fromstring(shared_text("nvidia/nvidia-smi-qx-h100.xml"))
    gpus = [as_nvml_values(gpu) for gpu in root.findall("gpu")]
    given = driver_readings(BUS, {"driver": value(root.findtext("driver_version")), "gpus": gpus})
    assert given["driver.version"] == "580.105.08"
    assert {f"gpu/{n}.uuid" for n in range(8)} < set(given)
    assert given["gpu/0.name"] == "NVIDIA H100 80GB HBM3"
    assert given["gpu/0.serial"] == "1650000000001"
    assert given["gpu/0.pci"] == "0000:53:00.0"
    assert given["gpu/0.vbios"] == "96.00.99.00.01"
    assert given["gpu/0.memory.total"] == 81559 / 1024
    assert given["gpu/0.persistence"] is True
    assert given["gpu/0.ecc.mode"] == given["gpu/0.ecc.pending"] == "enabled"
    assert given["gpu/0.mig.mode"] == "disabled"
    assert given["gpu/0.power.limit"] == given["gpu/0.power.max"] == 700.0
    assert given["gpu/0.clock.sm_max"] == 1980.0
    assert given["gpu/0.temperature"] == 29.0
    assert given["gpu/0.link.max_generation"] == 5
    assert given["gpu/0.link.width"] == 16


def test_what_a_desktop_gpu_does_not_have_is_absent_not_off() -> None:
    root = ET.fromstring(shared_text("nvidia/nvidia-smi-qx-telegraf-gtx-1660-ti.xml"))
    given = driver_readings(
        BUS, {"driver": value("418.43"), "gpus": [as_nvml_values(gpu) for gpu in root.findall("gpu")]}
    )
    assert given["gpu/0.persistence"] is False
    assert given["gpu/0.vbios"] == "90.16.25.00.4C"
    assert isinstance(given["gpu/0.serial"], Absent)
    assert isinstance(given["gpu/0.ecc.mode"], Absent)
    assert isinstance(given["gpu/0.mig.mode"], Absent)


def test_a_node_without_nvidia_hardware_has_no_gpus_and_no_driver() -> None:
    given = driver_readings("bus read\n", NO_LIBRARY)
    assert given["gpu"] == ()
    assert isinstance(given["driver.version"], Absent)


def test_a_gpu_on_the_bus_without_a_driver_is_unknown_not_none() -> None:
    given = driver_readings(BUS, NO_LIBRARY)
    assert given["gpu"] == given["driver.version"] == Unknown(Reason.TOOL_MISSING, NO_LIBRARY["detail"])


def test_a_gpu_on_the_bus_of_a_node_without_python_is_unknown_not_none() -> None:
    given = facts(GPU, answering(GPU, f"{BUS}driver loaded\nno python3\n"))
    assert given["gpu"] == Unknown(Reason.TOOL_MISSING, "neither python3 (to call NVML) nor nvidia-smi is on the node")
    assert facts(GPU, answering(GPU, "bus read\nno python3\n"))["gpu"] == ()


def test_a_bus_that_could_not_be_read_leaves_the_gpus_unknown() -> None:
    assert isinstance(driver_readings("", NO_LIBRARY)["gpu"], Unknown)


def test_gpus_on_the_bus_that_the_driver_could_not_start_are_unknown_not_none() -> None:
    given = driver_readings(BUS, {"driver": value("580.105.08"), "gpus": []})
    assert given["gpu"] == Unknown(Reason.NOT_READY, "the driver lists no GPU, but the PCI bus has NVIDIA GPUs")
    assert given["driver.version"] == "580.105.08"


def test_a_lost_gpu_keeps_its_place_and_is_unknown() -> None:
    lost = {"unknown": "not collected", "detail": "NVML: GPU is lost"}
    given = driver_readings(BUS, {"driver": value("580.105.08"), "gpus": [{"uuid": value("GPU-0")}, lost]})
    assert given["gpu"] == ("0", "1")
    assert given["gpu/0.uuid"] == "GPU-0"
    assert given["gpu/1.uuid"] == given["gpu/1.ecc.mode"] == Unknown(Reason.NOT_COLLECTED, "NVML: GPU is lost")


def test_a_field_that_nvml_refuses_is_unknown_for_its_reason() -> None:
    denied = {"unknown": "denied", "detail": "NVML: Insufficient Permissions"}
    given = driver_readings(
        BUS, {"driver": value("1.0"), "gpus": [{"power_limit": denied, "ecc": value(7), "uuid": value("")}]}
    )
    assert given["gpu/0.power.limit"] == Unknown(Reason.DENIED, "NVML: Insufficient Permissions")
    assert isinstance(given["gpu/0.ecc.mode"], Unknown)
    assert isinstance(given["gpu/0.uuid"], Unknown)
    assert given["gpu/0.name"] == Unknown(Reason.NOT_COLLECTED, "NVML was not queried for this value")


def test_the_question_is_the_same_text_every_time_and_fits_one_argument() -> None:
    assert payload() == payload()
    assert len(QUESTION.command) < 30_000  # Linux allows 131072, to all questions together


MODULE = '''\
# Licence
import os
A = 1 # C
B = (
    2,
)
C = [A]
try:
    D = A
except OSError:
    D = B
@wraps
@other(A)
def used(x):
    return helper(x)
def helper(x):
    # mentions in_a_comment
    return E
def helper2(x): return 0
E = "x"
in_a_comment = 1
NVML_ERROR_ODD = 9
class Unused(object):
    """Text
    """
'''


def test_what_is_needed_of_pynvml_rides_along_as_it_stands_there() -> None:
    unused = MODULE.index("class Unused")
    assert needed(MODULE, "m.used(1)") == MODULE[:unused].replace("def helper2(x): return 0\n", "")
    assert needed(MODULE, "m.Unused()").endswith(MODULE[unused:])


def test_a_pynvml_that_cannot_be_taken_apart_rides_along_whole() -> None:
    odd = MODULE + 'def used2():\n    """Text\nat the margin\n    """\n'
    assert needed(odd, "m.used(1)") == odd


def test_pynvml_rides_along_and_is_no_part_of_the_questions_name() -> None:
    assert PAYLOAD in QUESTION.command
    assert len(named(QUESTION.command)) < 1000


def test_this_machine_gives_a_list_of_gpus_or_a_reason() -> None:
    given = facts(GPU, ask(GPU))
    assert isinstance(given["gpu"], tuple | Unknown)
    assert not isinstance(given["gpu"], Unknown) or given["gpu"].detail


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("memory", "memory.total"),
        ("power_limit", "power.limit"),
        ("sm_max", "clock.sm_max"),
        ("temperature", "temperature"),
        ("ecc_uncorrected", "ecc.uncorrected"),
        ("link_width", "link.width"),
    ],
)
@pytest.mark.parametrize("number", [-1, -100_000, 1 << 64])
def test_a_number_that_nvml_cannot_give_is_no_answer(name: str, fact: str, number: int) -> None:
    given = driver_readings(BUS, {"driver": value("580.105.08"), "gpus": [{name: value(number)}]})[f"gpu/0.{fact}"]
    assert isinstance(given, Unknown)
    assert given.reason is Reason.UNPARSABLE


@pytest.mark.parametrize(
    ("raw", "text", "exponent"),
    [
        (1 << 8 | 12, "1e-12", -12),
        (2 << 8 | 12, "2e-12", -11),
        (10 << 8 | 12, "10e-12", -11),
        (15 << 8 | 255, "15e-255", -253),
        (0 << 8 | 15, "0e-15", -15),
    ],
)
def test_a_bit_error_rate_is_held_against_a_power_of_ten_it_does_not_exceed(raw: int, text: str, exponent: int) -> None:
    assert (ber(raw), ber_exponent(raw)) == (text, exponent)


@pytest.mark.parametrize("raw", [0, -1, 1 << 12, "1e-12", True, None])
def test_what_is_no_bit_error_rate_is_none(raw: object) -> None:
    values_of = {"gpus": [{"nvlinks": value([{"effective_ber": value(raw)}])}]}
    given = driver_readings(BUS, values_of)
    assert isinstance(given["gpu/0.nvlink/0.effective_ber"], Unknown)
    assert isinstance(given["gpu/0.nvlink/0.effective_ber_exponent"], Unknown)


@pytest.mark.parametrize(("number", "word"), [(0, "none"), (1, "reset"), (4, "drain and reset"), (5, "action 5")])
def test_a_recovery_action_without_a_sure_name_is_never_none(number: int, word: str) -> None:
    assert recovery(number) == word


@pytest.mark.parametrize(("number", "read"), [(58, 58.0), (-8, -8.0), ((1 << 32) - 2, -2.0)])
def test_a_margin_below_zero_is_read_as_one(number: int, read: float) -> None:
    assert degrees(number) == read


@pytest.mark.parametrize(
    ("mask", "limited"),
    [(0x0, False), (0x1, False), (0x4, False), (0x8, True), (0x20, True), (0x40, True), (0x84, True)],
)
def test_a_software_power_cap_alone_is_no_slowdown(mask: int, limited: bool) -> None:
    assert driver_readings(BUS, {"gpus": [{"reasons": value(mask)}]})["gpu/0.clock.limited"] is limited


def test_a_gpu_without_nvlink_has_none_and_one_that_cannot_report_it_is_unknown() -> None:
    given = driver_readings(
        BUS, {"gpus": [{"nvlinks": {"absent": "NVML: Not Supported"}}, {}, {"nvlinks": value([{}, 7])}]}
    )
    assert (given["gpu/0.nvlink"], given["gpu/0.nvlinks_active"]) == ((), Absent("NVML: Not Supported"))
    assert (
        given["gpu/1.nvlink"]
        == given["gpu/1.nvlinks_active"]
        == Unknown(Reason.NOT_COLLECTED, "NVML was not queried for this value")
    )
    assert given["gpu/2.nvlink"] == ("0", "1")
    assert isinstance(given["gpu/2.nvlinks_active"], Unknown)


@pytest.mark.parametrize("gpus", [[{}] * 257, [{"nvlinks": value([{}] * 257)}]], ids=["gpus", "links"])
def test_more_than_any_machine_has_is_not_read(gpus: list[Any]) -> None:
    given = driver_readings(BUS, {"driver": value("1.0"), "gpus": gpus})
    assert len(given) < 1000
    assert isinstance(given["gpu" if len(gpus) > 1 else "gpu/0.nvlink"], Unknown)


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9, Reason.TOOL_MISSING),
        ("Failed to initialize NVML: Driver/library version mismatch", 18, Reason.NOT_COLLECTED),
        ("Unable to determine the device handle for GPU0000:1B:00.0: GPU is lost.", 15, Reason.NOT_READY),
        ("", 255, Reason.NOT_COLLECTED),
    ],
)
def test_an_nvidia_smi_that_fails_gives_its_own_error_text(text: str, status: int, reason: Reason) -> None:
    given = facts(GPU, answering(GPU, f"{BUS}{SMI}\n{text}\nended {status}\n"))["gpu"]
    assert given == Unknown(reason, f"nvidia-smi: {text or f'ended with {status}'}")


def test_an_nvidia_smi_that_was_cut_is_no_answer() -> None:
    given = facts(GPU, answering(GPU, f"{BUS}{SMI}\n{shared_text('nvidia/nvidia-smi-qx-h100.xml')}"))["gpu"]
    assert isinstance(given, Unknown)
    assert given.reason is Reason.UNPARSABLE


def test_eight_h100_that_nvidia_smi_printed_are_eight_gpus() -> None:
    given = driver_readings(BUS, f"{SMI}\n{shared_text('nvidia/nvidia-smi-qx-h100.xml')}ended 0")
    assert {f"gpu/{n}.uuid" for n in range(8)} < set(given)
    assert (given["driver.version"], given["driver.cuda"]) == ("580.105.08", "13.0")
    assert [given[f"gpu/{n}.module"] for n in range(8)] == [7, 5, 6, 8, 1, 3, 4, 2]
    assert (given["gpu/0.margin"], given["gpu/0.temperature_memory"]) == (58.0, 37.0)
    assert (given["gpu/0.power.draw"], given["gpu/0.power.memory"]) == (68.92, 32.98)
    assert (given["gpu/0.recovery_action"], given["gpu/0.fabric.state"]) == ("none", "completed")
    assert given["gpu/0.link.replays"] == 150
    assert given["gpu/0.nvlinks_active"] == Unknown(Reason.NOT_COLLECTED, "nvidia-smi -q -x does not report it")


def test_four_gb200_that_nvidia_smi_printed_are_of_one_clique() -> None:
    given = driver_readings(BUS, f"{SMI}\n{shared_text('nvidia/nvidia-smi-qx-gb200.xml')}ended 0")
    assert [given[f"gpu/{n}.fabric.clique"] for n in range(4)] == [2] * 4
    assert [given[f"gpu/{n}.fabric.health.summary"] for n in range(4)] == ["healthy"] * 4
    assert given["gpu/0.fabric.health.degraded_bandwidth"] is False
    assert given["gpu/0.power.module.limit"] == 2500.0
    assert given["gpu/0.unrepairable"] is False
