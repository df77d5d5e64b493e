"""What surrounds the NVIDIA driver: its module's parameters, its tool, the Fabric Manager's port.

The forms are those of the driver's own documentation and of threads that quote them; no recording exists.
"""

import pytest
from recordings import answering, facts, holding, os_probes

from rackcheck.core.fact import Absent, Reason, Unknown

PARAMS, SMI, PORT = (os_probes()[name] for name in ("driver_params", "nvidia_smi", "fabric_manager_port"))
PLACE = "/proc/driver/nvidia/params"
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def test_parameters_are_told_by_name_and_an_empty_text_is_absent() -> None:
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


@pytest.mark.parametrize(("said", "status", "seconds"), [("0 86437.11 86437.93", 0, 0.82), ("14 9.99 15.01", 14, 5.02)])
def test_nvidia_smi_is_timed(said: str, status: int, seconds: float) -> None:
    assert facts(SMI, answering(SMI, f"{said}\n")) == {"driver.smi.status": status, "driver.smi.seconds": seconds}


def test_without_nvidia_smi_it_is_missing_and_a_clock_that_runs_backwards_tells_nothing() -> None:
    given = facts(SMI, answering(SMI, "", 127, "nvidia-smi: not found\n"))["driver.smi.status"]
    assert given == Unknown(Reason.TOOL_MISSING, "nvidia-smi: not found")
    assert isinstance(facts(SMI, answering(SMI, "0 2.00 1.00\n"))["driver.smi.seconds"], Unknown)


@pytest.mark.parametrize(
    ("row", "listens"),
    [
        ("   1: 0100007F:1A0A 00000000:0000 0A 00000000:00000000", True),
        ("   1: 0100007F:1A0A 0100007F:9C40 01 00000000:00000000", False),
        ("   1: 0100007F:1A0B 00000000:0000 0A 00000000:00000000", False),
    ],
)
@pytest.mark.parametrize("place", ["/proc/net/tcp", "/proc/net/tcp6"])
def test_only_a_listener_on_6666_counts(row: str, listens: bool, place: str) -> None:
    files = {"/proc/net/tcp": HEAD} | {place: f"{HEAD}{row} 00:00000000 00000000     0        0 42 1\n"}
    assert facts(PORT, holding(PORT, files)) == {"driver.fabric_manager_listens": listens}


def test_a_kernel_that_shows_no_sockets_leaves_it_unknown() -> None:
    assert isinstance(facts(PORT, holding(PORT, {}))["driver.fabric_manager_listens"], Unknown)
