"""The query of the NVIDIA driver, really run: against a library with NVML's names, and an nvidia-smi beside it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from fake_driver import MARKS, DriverState, library, shell, state, tools
from gpu_driver import by_index
from recordings import answering, ask, facts, os_probes, shared_text
from simulated_driver import CASES, made, simulated

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.probe.collect import collect
from rackcheck.sim import machine
from rackcheck_probes import payload as payloads
from rackcheck_probes.gpu.nvml import QUESTION

PROBES = [probe for probe in os_probes().values() if probe.ask is QUESTION]
GPU = os_probes()["gpu"]
Facts = Mapping[str, Reading]

ONLY_NVML = {
    "driver.library": "nvidia-smi -q -x does not print the library's version",
    "driver.confidential.*": "it prints the memory set aside, not the node's mode",
    "gpu/*.inforom.valid": "it warns of a broken infoROM on its terminal only",
    "gpu/*.gsp.default": "it prints the firmware's version alone",
    "gpu/*.clock.event_reasons_known": "it prints the reasons that hold now",
    "gpu/*.link.errors.*": "it prints replays, no errors",
    "gpu/*.peers": "that is `nvidia-smi topo -p2p r`",
    "gpu/*.nvlink*": "those are `nvidia-smi nvlink`",
    **{
        f"gpu/*.temperature_{limit}": "of this generation it prints margins, where older ones print limits"
        for limit in ("shutdown", "slowdown", "max_operating", "memory_max")
    },
}
"""Facts that only NVML reports, and why; without Python on the node they are unknown, never another value."""


def readings(capture: NodeCapture) -> dict[str, Reading]:
    found = by_index(collect(PROBES, capture))
    return {path: leaf.reading for path, leaf in found.items()}


Way = Callable[..., Facts]


@pytest.fixture(scope="module")
def by_nvml(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """Query through pynvml."""
    folder = tmp_path_factory.mktemp("nvml")
    library(folder)
    return lambda value, **more: _collected(folder, value, more, {})


@pytest.fixture(scope="module")
def by_old_nvml(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """Query a driver from before 2020 through pynvml."""
    folder = tmp_path_factory.mktemp("old")
    library(folder, "-DOLD")
    return lambda value, **more: _collected(folder, value, more, {})


@pytest.fixture(scope="module")
def by_smi(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """Query nvidia-smi, on a node without Python."""
    folder = tmp_path_factory.mktemp("smi")
    path = str(tools(folder))
    return lambda value, **more: _collected(folder, value, more, {"PATH": path})


def _collected(folder: Path, values: DriverState, more: Mapping[str, object], env: Mapping[str, str]) -> Facts:
    """Query; with `bus`, the node's bus holds a GPU whatever this machine's does."""
    place = folder / "state"
    place.write_text(state(values, **{key: value for key, value in more.items() if key != "bus"}))
    path = f"{shell(folder)}:{os.environ['PATH']}"
    capture = ask(GPU, {"LD_LIBRARY_PATH": str(folder), "FAKE_NVML_STATE": str(place), "PATH": path, **env})
    ((command, output),) = capture.commands.items()
    assert isinstance(output, Output)
    bus = "bus 0000:17:00.0\n" if more.get("bus") else ""
    return readings(NodeCapture(commands={command: replace(output, out=f"{bus}{output.out}")}))


def test_eight_healthy_h100_come_through_the_true_pynvml_as_they_are(by_nvml: Way) -> None:
    node = machine.load(machine.shipped()["dgx-h100"], "n01", 1).host
    expected = readings(NodeCapture(commands=node.commands))
    given = by_nvml(simulated())
    assert given == expected
    assert len(given) > 4000
    assert [path for path, reading in given.items() if isinstance(reading, Unknown)] == []


@pytest.mark.parametrize("case", CASES)
def test_both_ways_to_the_driver_give_the_same_facts(case: str, by_nvml: Way, by_smi: Way) -> None:
    values = made(case)
    nvml, smi = by_nvml(values), by_smi(values)
    alone = {path for path in nvml if any(fnmatchcase(path, only) for only in ONLY_NVML)}
    assert {path: smi[path] for path in alone if not _not_known(smi.get(path))} == {}
    shared = nvml.keys() - alone
    assert smi.keys() - alone == shared
    assert {p: (nvml[p], smi[p]) for p in sorted(shared) if _kind(nvml[p]) != _kind(smi[p])} == {}
    assert len(shared) > 100 * len(values["gpus"])


def test_every_fact_listed_as_nvml_only_is_reported_by_nvml(by_nvml: Way) -> None:
    names = {p for p, reading in by_nvml(simulated()).items() if not isinstance(reading, Unknown)}
    assert [only for only in ONLY_NVML if not any(fnmatchcase(path, only) for path in names)] == []


def _not_known(reading: Reading | None) -> bool:
    return reading is None or (isinstance(reading, Unknown) and reading.reason is Reason.NOT_COLLECTED)


def _kind(reading: Reading) -> object:
    """A reading without the detail of an unknown or absent one."""
    return reading.reason if isinstance(reading, Unknown) else Absent if isinstance(reading, Absent) else reading


def test_a_fault_of_a_gpu_is_reported_for_that_gpu_alone(by_nvml: Way) -> None:
    given = by_nvml(made("mixed"))
    assert [given[f"gpu/{n}.mig.mode"] for n in range(3)] == ["enabled", "disabled", "disabled"]
    assert (given["gpu/0.mig.devices"], given["gpu/0.processes"], given["gpu/1.processes"]) == (3, 2, 0)
    assert [given[f"gpu/{n}.remap.pending"] for n in range(3)] == [False, True, False]
    assert given["gpu/1.recovery_action"] == "reset"
    assert given["gpu/1.ecc.aggregate.dram.corrected"] == 1 << 40
    assert given["gpu/2.power.limit"] == Unknown(Reason.DENIED, "NVML: Insufficient Permissions")
    assert given["gpu/2.power.default"] == 700.0
    assert given["gpu/2.temperature"] == Unknown(Reason.NOT_COLLECTED, "NVML: GPU is lost")
    assert given["gpu/3.clock.limited"] is True
    assert given["gpu/3.clock.event_reasons"] == ("sw power cap", "hw thermal slowdown")
    assert (given["gpu/3.margin"], given["gpu/3.clock.limited_for.hw_thermal"]) == (-3.0, 0.005)
    assert isinstance(given["gpu/4.ecc.mode"], Absent)
    assert isinstance(given["gpu/4.remap.failed"], Absent)
    assert (given["gpu/4.retired.single"], given["gpu/4.retired.pending"]) == (3, True)
    assert (given["gpu/5.ecc.sram_threshold_exceeded"], given["gpu/5.unrepairable"]) == (True, True)
    assert given["gpu/5.ecc.volatile.sram.uncorrected"] == 3
    assert given["gpu/5.fabric.state"] == "in progress"
    assert isinstance(given["gpu/5.fabric.status"], Absent)
    assert isinstance(given["gpu/5.fabric.cluster"], Absent)


def test_links_and_fabric_of_a_rack_are_decoded(by_nvml: Way) -> None:
    given = by_nvml(made("rack scale"))
    assert (given["gpu/0.nvlinks_active"], given["gpu/1.nvlinks_active"]) == (18, 17)
    assert (given["gpu/0.nvlink/0.version"], given["gpu/0.nvlink/0.speed"]) == ("5.0", 53.125)
    assert (given["gpu/0.nvlink/0.effective_ber"], given["gpu/0.nvlink/0.effective_ber_exponent"]) == ("15e-255", -253)
    assert (given["gpu/1.nvlink/3.effective_ber"], given["gpu/1.nvlink/3.effective_ber_exponent"]) == ("2e-12", -11)
    assert given["gpu/1.nvlink/3.link_recoveries.failed"] == 1
    assert given["gpu/1.nvlink/4.state"] == "inactive"
    assert isinstance(given["gpu/1.nvlink/4.speed"], Absent)
    assert isinstance(given["gpu/1.nvlink/4.effective_ber"], Unknown)
    assert isinstance(given["gpu/0.nvlink/0.replays"], Absent)
    assert (given["gpu/0.fabric.clique"], given["gpu/0.fabric.cluster"]) == (2, "6f1c7e0a-0000-4000-8000-00000000beef")
    health = {leaf: [given[f"gpu/{n}.fabric.health.{leaf}"] for n in (0, 1)] for leaf in ("summary", "configuration")}
    assert health == {"summary": ["healthy", "unhealthy"], "configuration": ["good", "good"]}
    assert [given[f"gpu/{n}.fabric.health.degraded_bandwidth"] for n in (0, 1)] == [False, True]
    assert [given[f"gpu/{n}.fabric.health.route_recovery"] for n in (0, 1)] == [False, True]
    assert given["gpu/1.fabric.health.route_unhealthy"] is False
    assert given["gpu/0.power.module.limit"] == 2500.0


def test_a_lost_gpu_keeps_its_place(by_nvml: Way, by_smi: Way) -> None:
    values = simulated()
    values["gpus"][3] = {"lost": 15}
    given = by_nvml(values)
    assert {f"gpu/{n}.uuid" for n in range(8)} < set(given)
    assert given["gpu/4.uuid"] == values["gpus"][4]["uuid"]["value"]
    assert given["gpu/4.peers"] == 6
    of_lost = {path: given[path] for path in given if path.startswith("gpu/3.") and path != "gpu/3.index"}
    assert set(of_lost.values()) == {Unknown(Reason.NOT_COLLECTED, "NVML: GPU is lost")}
    assert len(of_lost) > 100
    why = "nvidia-smi: Unable to determine the device handle for GPU3: GPU is lost."
    assert by_smi(values, bus=True)["gpu"] == Unknown(Reason.NOT_READY, why)


def test_an_old_driver_loses_only_values_it_cannot_report(by_old_nvml: Way) -> None:
    given = by_old_nvml(simulated())
    assert given["gpu/0.serial"] == simulated()["gpus"][0]["serial"]["value"]
    assert given["gpu/0.memory.total"] == given["gpu/0.memory.total"] == 81559 / 1024
    assert (given["gpu/0.clock.event_reasons"], given["gpu/0.power.draw"]) == (("gpu idle",), 68.92)
    assert (given["gpu/0.nvlink/0.state"], given["gpu/0.nvlinks_active"]) == ("active", 18)
    cannot = Unknown(Reason.NOT_COLLECTED, "NVML: Function Not Found: this driver does not provide it")
    for leaf in (
        "mig.mode",
        "gsp.version",
        "remap.pending",
        "ecc.sram_threshold_exceeded",
        "fabric.state",
        "processes",
    ):
        assert given[f"gpu/0.{leaf}"] == cannot
    assert given["driver.confidential.mode"] == cannot
    assert given["gpu/0.recovery_action"] == Unknown(Reason.NOT_COLLECTED, "NVML: Invalid Argument")
    assert given["gpu/0.nvlink/0.symbol_ber"] == Unknown(Reason.NOT_COLLECTED, "NVML: Invalid Argument")


@pytest.mark.parametrize(("number", "reason"), [(18, Reason.NOT_READY), (9, Reason.TOOL_MISSING), (4, Reason.DENIED)])
def test_an_unreachable_driver_leaves_a_node_with_gpus_unknown(number: int, reason: Reason, by_nvml: Way) -> None:
    given = by_nvml({"gpus": []}, bus=True, init=number)
    assert {getattr(reading, "reason", None) for reading in given.values()} == {reason}
    assert "gpu" in given


def test_a_driver_without_gpus_has_none_where_the_bus_has_none(by_nvml: Way) -> None:
    given = by_nvml(simulated() | {"gpus": []})
    assert given["gpu"] == ()
    assert given["driver.version"] == "550.90.07"


def test_a_gpu_that_hangs_loses_only_facts_not_yet_read(tmp_path: Path) -> None:
    library(tmp_path)
    place = tmp_path / "state"
    place.write_text(state(simulated()) + "5.hangs=1\n")
    source = (Path(payloads.__path__[0]) / "nvml.py").read_text()
    assert "\nSECONDS = 45\n" in source
    done = subprocess.run(
        [sys.executable, "-"],
        input=source.replace("\nSECONDS = 45\n", "\nSECONDS = 2\n"),
        env={"LD_LIBRARY_PATH": str(tmp_path), "FAKE_NVML_STATE": str(place)},
        capture_output=True,
        text=True,
        check=True,
    )
    value = json.loads(done.stdout)
    late = {"unknown": "timeout", "detail": "NVML gave no answer within 2 s"}
    assert [gpu == late for gpu in value["gpus"]] == [False] * 5 + [True] * 3
    assert value["gpus"][4]["uuid"] == simulated()["gpus"][4]["uuid"]


def test_a_node_without_python_and_nvidia_smi_reports_it(tmp_path: Path) -> None:
    path = tools(tmp_path)
    (path / "nvidia-smi").unlink()
    given = readings(ask(GPU, {"PATH": str(path)}))
    assert given["gpu"] == () or given["gpu"] == Unknown(
        Reason.TOOL_MISSING, "neither python3 (to call NVML) nor nvidia-smi is on the node"
    )


def test_a_python_that_cannot_ask_leaves_the_answer_to_nvidia_smi(tmp_path: Path) -> None:
    path = tools(tmp_path)
    broken = path / "python3"
    broken.write_text("#!/bin/sh\necho 'no module named ctypes' >&2\nexit 1\n")
    broken.chmod(0o755)
    place = tmp_path / "state"
    place.write_text(state(simulated()))
    given = readings(ask(GPU, {"PATH": str(path), "FAKE_NVML_STATE": str(place)}))
    assert {f"gpu/{n}.uuid" for n in range(8)} < set(given)
    assert given["gpu/0.peers"] == Unknown(Reason.NOT_COLLECTED, "nvidia-smi -q -x does not report it")


def test_who_runs_on_the_gpus_never_leaves_the_node(tmp_path: Path) -> None:
    path = tools(tmp_path)
    users = "".join(
        f"<process_info>\n<pid>{pid}</pid>\n<process_name>/home/jane/{name}</process_name>\n</process_info>\n"
        for pid, name in ((7, "train"), (8, "two\nlines"), (9, "a</process_name>b"))
    )
    whole = shared_text("nvidia/nvidia-smi-qx-h100.xml")
    printed = re.sub(r"<processes>\s*</processes>", lambda _: f"<processes>{users}</processes>", whole)
    assert printed.count("jane") == 24
    (tmp_path / "printed").write_text(printed)
    (path / "nvidia-smi").write_text(f"#!/bin/sh\ncat '{tmp_path}/printed'\n")
    capture = ask(GPU, {"PATH": str(path)})
    assert "jane" not in repr(capture)
    assert readings(capture)["gpu/0.processes"] == 3


@pytest.mark.parametrize("there", [MARKS[1:], MARKS[:1], ("none",)], ids=["stale device", "no device", "neither"])
@pytest.mark.parametrize("name", ["gpu", "nvidia_smi"])
def test_a_driver_that_a_query_would_load_or_give_device_files_is_not_queried(
    name: str, there: tuple[str, ...], tmp_path: Path
) -> None:
    """NVIDIA's library loads a missing module and creates missing device files, as nvidia-modprobe(1) states."""
    path, asked = tools(tmp_path), tmp_path / "asked"
    for tool in ("nvidia-smi", "python3"):
        (path / tool).unlink(missing_ok=True)
        (path / tool).write_text(f"#!{shutil.which('sh')}\n: >'{asked}'\n")
        (path / tool).chmod(0o755)
    loaded = MARKS[0] in there
    (path / "sh").unlink()
    (path / "sh").symlink_to(shell(tmp_path, *there) / "sh")
    probe = os_probes()[name]
    capture = ask(probe, {"PATH": str(path)})
    assert not asked.exists()
    ((command, output),) = capture.commands.items()
    assert isinstance(output, Output)
    bus = "bus 0000:17:00.0\n" if name == "gpu" else ""
    given = facts(probe, NodeCapture(commands={command: replace(output, out=f"{bus}{output.out}")}))
    reason = Reason.NOT_READY if loaded else Reason.TOOL_MISSING
    assert {getattr(reading, "reason", None) for reading in given.values()} == {reason}
    assert given.keys() & {"gpu", "driver.smi.status"}


def test_a_node_without_gpus_and_driver_is_known_to_have_none_without_a_query() -> None:
    given = facts(GPU, answering(GPU, "bus read\ndriver not loaded\n"))
    assert given["gpu"] == ()
    assert isinstance(given["driver.version"], Absent)
    assert isinstance(facts(GPU, answering(GPU, "bus read\ndriver loaded\nno device file\n"))["gpu"], Unknown)
