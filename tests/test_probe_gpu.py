"""The GPU probe: what it makes of NVML's answers, and the program that asks, really run."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from recordings import answering, ask, facts, os_probes, shared_text

from rackcheck.core.capture import PAYLOAD, named
from rackcheck.core.fact import Absent, Reading, Reason, Unknown
from rackcheck_probes.nvml import payload

GPU = os_probes()["gpu"]
BUS = "bus 0000:53:00.0\nbus read\n"
NO_LIBRARY = {"unknown": "tool missing", "detail": "NVML: NVML Shared Library Not Found"}


def told(bus: str, reply: Any) -> dict[str, Reading]:
    """The facts of a node whose bus and whose NVML say this."""
    return facts(GPU, answering(GPU, f"{bus}{json.dumps(reply)}\n"))


def value(value: object) -> dict[str, object]:
    return {"value": value}


def as_nvml_says(smi: ET.Element) -> dict[str, object]:
    """One GPU of a recorded `nvidia-smi -q -x` in the numbers that NVML gave to nvidia-smi."""

    def number(path: str, unit: float = 1) -> dict[str, object]:
        said = (smi.findtext(path) or "N/A").split(" ")[0].rstrip("x")
        return {"absent": "NVML: Not Supported"} if said == "N/A" else value(round(float(said) * unit))

    def word(path: str, *words: str) -> dict[str, object]:
        said = smi.findtext(path) or "N/A"
        return {"absent": "NVML: Not Supported"} if said == "N/A" else value(words.index(said) if words else said)

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
    gpus = [as_nvml_says(gpu) for gpu in root.findall("gpu")]
    given = told(BUS, {"driver": value(root.findtext("driver_version")), "gpus": gpus})
    assert given["driver.version"] == "580.105.08"
    assert given["gpu"] == tuple("01234567")
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
    given = told(BUS, {"driver": value("418.43"), "gpus": [as_nvml_says(gpu) for gpu in root.findall("gpu")]})
    assert given["gpu/0.persistence"] is False
    assert given["gpu/0.vbios"] == "90.16.25.00.4C"
    assert isinstance(given["gpu/0.serial"], Absent)
    assert isinstance(given["gpu/0.ecc.mode"], Absent)
    assert isinstance(given["gpu/0.mig.mode"], Absent)


def test_a_node_without_nvidia_hardware_has_no_gpus_and_no_driver() -> None:
    given = told("bus read\n", NO_LIBRARY)
    assert given["gpu"] == ()
    assert isinstance(given["driver.version"], Absent)


def test_a_gpu_on_the_bus_without_a_driver_is_unknown_not_none() -> None:
    given = told(BUS, NO_LIBRARY)
    assert given["gpu"] == given["driver.version"] == Unknown(Reason.TOOL_MISSING, NO_LIBRARY["detail"])


def test_a_gpu_on_the_bus_of_a_node_without_python_is_unknown_not_none() -> None:
    given = facts(GPU, answering(GPU, f"{BUS}driver loaded\nno python3\n"))
    assert given["gpu"] == Unknown(Reason.TOOL_MISSING, "no python3 on the node to ask NVML with")
    assert facts(GPU, answering(GPU, "bus read\nno python3\n"))["gpu"] == ()


def test_a_bus_that_could_not_be_read_leaves_the_gpus_unknown() -> None:
    assert isinstance(told("", NO_LIBRARY)["gpu"], Unknown)


def test_gpus_on_the_bus_that_the_driver_could_not_start_are_unknown_not_none() -> None:
    given = told(BUS, {"driver": value("580.105.08"), "gpus": []})
    assert given["gpu"] == Unknown(Reason.NOT_READY, "NVIDIA GPUs on the PCI bus, and none that the driver could start")
    assert given["driver.version"] == "580.105.08"


def test_a_lost_gpu_keeps_its_place_and_is_unknown() -> None:
    lost = {"unknown": "not collected", "detail": "NVML: GPU is lost"}
    given = told(BUS, {"driver": value("580.105.08"), "gpus": [{"uuid": value("GPU-0")}, lost]})
    assert given["gpu"] == ("0", "1")
    assert given["gpu/0.uuid"] == "GPU-0"
    assert given["gpu/1.uuid"] == given["gpu/1.ecc.mode"] == Unknown(Reason.NOT_COLLECTED, "NVML: GPU is lost")


def test_a_field_that_nvml_refuses_is_unknown_for_its_reason() -> None:
    denied = {"unknown": "denied", "detail": "NVML: Insufficient Permissions"}
    given = told(BUS, {"driver": value("1.0"), "gpus": [{"power_limit": denied, "ecc": value(7), "uuid": value("")}]})
    assert given["gpu/0.power.limit"] == Unknown(Reason.DENIED, "NVML: Insufficient Permissions")
    assert isinstance(given["gpu/0.ecc.mode"], Unknown)
    assert isinstance(given["gpu/0.uuid"], Unknown)
    assert given["gpu/0.name"] == Unknown(Reason.NOT_COLLECTED, "NVML was not asked")


def test_the_question_is_the_same_text_every_time_and_fits_one_argument() -> None:
    assert payload() == payload()
    assert len(GPU.ask.command) < 100_000  # type: ignore[union-attr]  # a Shell; Linux allows 131072


def test_pynvml_rides_along_and_is_no_part_of_the_questions_name() -> None:
    command = GPU.ask.command  # type: ignore[union-attr]  # a Shell
    assert PAYLOAD in command
    assert len(named(command)) < 1000


FAKE = r"""
#include <string.h>
typedef unsigned int u; typedef unsigned long long ull;
typedef struct { char legacy[16]; u domain, bus, device, id, sub; char bus_id[32]; } pci;
int nvmlInitWithFlags(u f) { return INIT; }
int nvmlInit_v2(void) { return INIT; }
const char *nvmlErrorString(int r) { return "said by the library"; }
int nvmlSystemGetDriverVersion(char *s, u n) { strcpy(s, "580.105.08"); return 0; }
int nvmlDeviceGetCount_v2(u *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(u i, void **h) { *h = (void *)(long)(i + 1); return i ? 15 : 0; }
int nvmlDeviceGetName(void *h, char *s, u n) { strcpy(s, "NVIDIA H100 80GB HBM3"); return 0; }
int nvmlDeviceGetUUID(void *h, char *s, u n) { strcpy(s, "GPU-00000000-0000-0000-0000-000000000000"); return 0; }
int nvmlDeviceGetSerial(void *h, char *s, u n) { return 3; }
int nvmlDeviceGetVbiosVersion(void *h, char *s, u n) { strcpy(s, "96.00.99.00.01"); return 0; }
int nvmlDeviceGetPciInfo_v3(void *h, pci *p) { strcpy(p->bus_id, "00000000:AB:00.0"); return 0; }
int nvmlDeviceGetMemoryInfo(void *h, ull *m) { m[0] = 81559ull << 20; m[1] = m[2] = 0; return 0; }
int nvmlDeviceGetPersistenceMode(void *h, u *v) { *v = 1; return 0; }
int nvmlDeviceGetEccMode(void *h, u *a, u *b) { *a = 1; *b = 0; return 0; }
int nvmlDeviceGetTotalEccErrors(void *h, u t, u c, ull *v) { *v = t == 1 && c == 0 ? 3 : 99; return 0; }
int nvmlDeviceGetMigMode(void *h, u *a, u *b) { *a = *b = 0; return 0; }
int nvmlDeviceGetPowerManagementLimit(void *h, u *v) { return 4; }
int nvmlDeviceGetEnforcedPowerLimit(void *h, u *v) { *v = 650000; return 0; }
int nvmlDeviceGetPowerManagementDefaultLimit(void *h, u *v) { *v = 700000; return 0; }
int nvmlDeviceGetPowerManagementLimitConstraints(void *h, u *a, u *b) { *a = 200000; *b = 700000; return 0; }
int nvmlDeviceGetMaxClockInfo(void *h, u t, u *v) { *v = t == 1 ? 1980 : 0; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *h, ull *v) { *v = 1 | 4 | 1ull << 40; return 0; }
int nvmlDeviceGetTemperature(void *h, u t, u *v) { *v = 29; return 0; }
int nvmlDeviceGetCurrPcieLinkGeneration(void *h, u *v) { *v = 5; return 0; }
int nvmlDeviceGetMaxPcieLinkGeneration(void *h, u *v) { return 13; }
int nvmlDeviceGetCurrPcieLinkWidth(void *h, u *v) { *v = 8; return 0; }
int nvmlDeviceGetMaxPcieLinkWidth(void *h, u *v) { *v = 16; return 0; }
"""


def library(folder: Path, init: int) -> dict[str, str]:
    """Build a tiny libnvidia-ml.so.1 of an old driver; gives the environment that finds it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build a library with NVML's names")
    source = folder / "nvml.c"
    source.write_text(FAKE)
    target = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", f"-DINIT={init}", "-o", target, source], check=True)
    return {"LD_LIBRARY_PATH": str(folder)}


def test_the_program_really_asks_a_library_with_nvmls_names(tmp_path: Path) -> None:
    given = facts(GPU, ask(GPU, library(tmp_path, 0)))
    assert given["driver.version"] == "580.105.08"
    assert given["gpu"] == ("0", "1")
    assert given["gpu/0.pci"] == "0000:ab:00.0"
    assert given["gpu/0.memory.total"] == 81559 / 1024
    assert isinstance(given["gpu/0.serial"], Absent)
    assert (given["gpu/0.ecc.mode"], given["gpu/0.ecc.pending"]) == ("enabled", "disabled")
    assert given["gpu/0.ecc.uncorrected"] == 3
    assert given["gpu/0.power.limit"] == Unknown(Reason.DENIED, "NVML: Insufficient Permissions")
    assert given["gpu/0.power.enforced"] == 650.0
    assert given["gpu/0.clock.sm_max"] == 1980.0
    assert given["gpu/0.clock.event_reasons"] == ("gpu idle", "sw power cap", "bit 40")
    assert given["gpu/0.link.width"] == 8
    assert given["gpu/0.link.max_generation"] == Unknown(Reason.TOOL_MISSING, "NVML: Function Not Found")
    assert given["gpu/1.name"] == Unknown(Reason.NOT_COLLECTED, "NVML: GPU is lost")


def test_a_library_that_does_not_fit_the_loaded_driver_says_not_ready(tmp_path: Path) -> None:
    capture = ask(GPU, library(tmp_path, 18))
    (answer,) = capture.commands.values()
    assert "not ready" in str(answer)
    assert "mismatch" in str(answer)


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
    given = told(BUS, {"driver": value("580.105.08"), "gpus": [{name: value(number)}]})[f"gpu/0.{fact}"]
    assert isinstance(given, Unknown)
    assert given.reason is Reason.UNPARSABLE
