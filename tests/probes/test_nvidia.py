"""Around the NVIDIA driver: its module's parameters, its tool, the Fabric Manager's settings.

The forms are those of the driver's own documentation and of threads that quote them; no recording exists.
"""

import pytest
from recordings import answering, facts, holding, os_probes

from rackcheck.model.fact import Absent, Reason, Unknown

PARAMS, SMI, SETTINGS = (os_probes()[name] for name in ("driver_params", "nvidia_smi", "fabric_settings"))
PLACE = "/proc/driver/nvidia/params"


def test_parameters_are_listed_by_name_and_an_empty_text_is_absent() -> None:
    text = 'EnableStreamMemOPs: 1\nRegistryDwords: "PeerMappingOverride=1;"\nRmMsg: ""\n'
    given = facts(PARAMS, holding(PARAMS, {PLACE: text}))
    assert given == {
        "driver.param": ("EnableStreamMemOPs", "RegistryDwords", "RmMsg"),
        "driver.param/EnableStreamMemOPs": "1",
        "driver.param/RegistryDwords": "PeerMappingOverride=1;",
        "driver.param/RmMsg": Absent("empty"),
    }


@pytest.mark.parametrize("text", ["EnableMSI: 1\nRegistryDw", "EnableMSI 1\n", 'RmMsg: "a\n'])
def test_what_is_no_parameter_leaves_them_unknown(text: str) -> None:
    assert isinstance(facts(PARAMS, holding(PARAMS, {PLACE: text}))["driver.param"], Unknown)


@pytest.mark.parametrize(("text", "status", "seconds"), [("0 86437.11 86437.93", 0, 0.82), ("14 9.99 15.01", 14, 5.02)])
def test_nvidia_smi_is_timed(text: str, status: int, seconds: float) -> None:
    assert facts(SMI, answering(SMI, f"{text}\n")) == {"driver.smi.status": status, "driver.smi.seconds": seconds}


def test_without_nvidia_smi_it_is_missing_and_a_backwards_clock_gives_no_time() -> None:
    given = facts(SMI, answering(SMI, "", 127, "nvidia-smi: not found\n"))["driver.smi.status"]
    assert given == Unknown(Reason.TOOL_MISSING, "nvidia-smi: not found")
    assert isinstance(facts(SMI, answering(SMI, "0 2.00 1.00\n"))["driver.smi.seconds"], Unknown)


def test_a_setting_that_is_empty_is_absent_and_not_an_empty_text() -> None:
    place = "/usr/share/nvidia/nvswitch/fabricmanager.cfg"
    given = facts(SETTINGS, holding(SETTINGS, {place: "FABRIC_MODE=0\nUNIX_SOCKET_PATH=\n"}))
    assert given["driver.fabric.setting/UNIX_SOCKET_PATH.value"] == Absent("empty")
    assert given["driver.fabric.setting/FABRIC_MODE.value"] == "0"
    assert given["driver.fabric.setting"] == ("FABRIC_MODE", "UNIX_SOCKET_PATH")
