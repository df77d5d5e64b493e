"""The check for machines with a GPU, NVML against nvidia-smi and the burn-in against its goals: briefly, on fakes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from burn_nodes import WORDS, libraries
from burn_nvml import numbered
from fake_driver import DriverState, library, state, tools
from gpu_driver import by_index
from places import ROOT, TESTS
from recordings import facts, leaves, os_probes
from simulated_driver import made, simulated
from waiting import until

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import VOLATILE, Absent, Reading, Unknown
from rackcheck_probes.gpu.nvml import QUESTION

CHECK = ROOT / "benchmarks" / "gpu_check.py"
BURN = CHECK.with_name("gpu_burn.py")
PYNVML = pytest.importorskip("pynvml").__file__


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine with a driver, an nvidia-smi, a Python without packages, and pynvml's one file."""
    folder = tmp_path_factory.mktemp("gpu")
    library(folder)
    path = tools(folder)
    (path / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (path / "python3").chmod(0o755)
    (folder / "brought").mkdir()
    shutil.copy(str(PYNVML), folder / "brought")
    return folder


def run(place: Path, values: DriverState) -> tuple[int, str, dict[str, Any]]:
    (place / "state").write_text(state(values))
    env = {
        "PATH": str(place / "bin"),
        "LD_LIBRARY_PATH": str(place),
        "FAKE_NVML_STATE": str(place / "state"),
        "PYTHONPATH": str(place / "brought"),
    }
    done = subprocess.run(
        [sys.executable, "-S", str(CHECK), "-o", str(place / "out.json"), "--probes-only"],
        capture_output=True,
        text=True,
        env=env | {k: v for k, v in os.environ.items() if k == "COVERAGE_PROCESS_START"},
        check=False,
    )
    assert (place / "out.json").exists(), done.stderr
    return done.returncode, done.stdout, json.loads((place / "out.json").read_text())


@pytest.mark.parametrize("case", ["healthy", "mixed", "rack scale"])
def test_on_a_machine_where_both_report_the_same_nothing_differs(case: str, place: Path) -> None:
    status, output, kept = run(place, made(case))
    assert (status, kept["_compared"]["differ"], kept["_compared"]["only nvidia-smi"]) == (0, {}, {}), output
    assert len(kept["_compared"]["same"]) > 400


def test_what_differs_is_named_and_ends_with_1(place: Path) -> None:
    smi = place / "bin" / "nvidia-smi"
    true = smi.read_text()
    smi.write_text(f"{true.replace('exec ', '')} | {shutil.which('sed')} s/Hopper/Ampere/\n".replace("\n |", " |"))
    try:
        status, output, kept = run(place, simulated())
    finally:
        smi.write_text(true)
    assert status == 1
    assert set(kept["_compared"]["differ"]) == {f"gpu/module-{n}.architecture" for n in range(1, 9)}
    assert 'gpu/module-1.architecture  {"nvml": "Hopper", "smi": "Ampere"}' in output


def test_a_machine_without_a_gpu_has_nothing_to_compare(place: Path) -> None:
    status, output, _ = run(place, {"driver": {"value": "1.0"}, "cuda": {"value": "1.0"}, "gpus": []})
    assert status == 3
    assert "nothing was compared" in output


def test_what_is_kept_is_a_recording_that_names_no_machine(place: Path) -> None:
    values = made("mixed")
    values["gpus"][3]["fabric_cluster"] = {"value": "6f1c7e0a-0000-4000-8000-00000000beef"}
    _, _, kept = run(place, values)
    text = json.dumps(kept)
    true = [gpu[key]["value"] for gpu in values["gpus"] for key in ("uuid", "serial") if "value" in gpu[key]]
    assert len(true) == 15
    assert [name for name in (*true, "6f1c7e0a", "beef") if name in text] == []
    probe = os_probes()["gpu"]
    given = facts(probe, NodeCapture.from_json(kept))
    names = [path for path in given if path.startswith("gpu/") and path.endswith(".uuid")]
    uuids = [given[path] for path in names]
    assert len(set(uuids)) == 8
    assert all(str(uuid).startswith("GPU-00000000-") for uuid in uuids)
    assert uuids == [kept["_facts"][path] for path in names]


RISING = (
    numbered(2)
    .replace("*.energy=5000000\n", "*.energy=5000000~70000000/100\n")
    .replace("*.reasons=1\n", "*.reasons=4\n")
)
"""Two GPUs that draw 650 of 700 W at the power cap."""

GOALS = {
    "clean", "golden", "ptx", "verify", "march", "march_down", "coverage", "seeds", "mma", "first", "stop",
    "binding", "numa", "memory_faults", "unit_faults", "not_a_number", "cap", "tier_2_needless", "integers", "jitter", "sampling", "rate_loss",
}  # fmt: skip


class Burnt:
    """A machine of two fake GPUs with a copy of cuBLASLt; `burn` compares a short burn-in with the goals."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.built, self.folder = built, folder
        for name in ("proc/driver/nvidia/version", "dev/nvidiactl", "proc/loadavg"):
            (folder / "root" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "root" / name).write_text("0.1 0.1 0.1\n")
        allowed = sorted(os.sched_getaffinity(0))
        for number, cpus in enumerate((allowed[:1], allowed[1:])):
            node = folder / f"root/sys/devices/system/node/node{number}"
            node.mkdir(parents=True, exist_ok=True)
            (node / "cpulist").write_text(",".join(map(str, cpus)) + "\n")
        device = folder / "root/sys/bus/pci/devices/0000:17:00.0"
        device.mkdir(parents=True, exist_ok=True)
        (device / "numa_node").write_text("0\n")

    def start(self, *words: str, cuda: str = "", nvml: str = RISING, program: Path = BURN, python: str = sys.executable,
              **env: Any) -> "subprocess.Popen[str]":  # fmt: skip
        # A GPU that never rests: the stages of a trial are short.
        (self.folder / "cuda").write_text(f"gpus=2\nduty=100\n{cuda}\n")
        (self.folder / "nvml").write_text(nvml)
        (self.folder / "home").mkdir(exist_ok=True)
        given = {
            "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(self.built), "FAKE_CUDA_STATE": str(self.folder / "cuda"),
            "FAKE_NVML_STATE": str(self.folder / "nvml"), "HOME": str(self.folder / "home"),
            "PYTHONPATH": str(Path(str(PYNVML)).parent),
        }  # fmt: skip
        short = [
            "--scale",
            "0.04",
            "--hang",  # a launch of this GPU runs on the CPU, which other work may use
            "30",
            "--side",
            "48",
            "--cublas",
            str(self.built / "lt"),
            "--root",
            str(self.folder / "root"),
        ]
        return subprocess.Popen(
            [python, str(program), "-o", str(self.folder / "out.json"), *short, *words], env={**given, **env},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def burn(self, *only: str, words: Sequence[str] = (), **how: Any) -> tuple[int, str, dict[str, Any]]:
        skip = [word for item in ITEMS if only and item not in only for word in ("--skip", item)]
        process = self.start(*skip, *words, **how)
        output, _ = process.communicate(timeout=120)
        assert (self.folder / "out.json").exists(), output
        return process.returncode, output, json.loads((self.folder / "out.json").read_text())


ITEMS = ("binding", "clean", "ptx", "rates", "yardstick", "seeds", "quick", "inject", "numa", "cap", "data", "trace")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = libraries(tmp_path_factory.mktemp("nvidia"))
    (folder / "lt").mkdir()
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None
    source = str(TESTS / "fake_cuda" / "cublas.c")
    subprocess.run([compiler, *WORDS, "-o", str(folder / "lt" / "libcublasLt.so.12"), source], check=True)
    return folder


@pytest.fixture
def machine(built: Path, tmp_path: Path) -> Burnt:
    return Burnt(built, tmp_path)


def met(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {name: goal["met"] for name, goal in kept["goals"].items()}


def test_every_goal_has_a_figure_and_states_if_it_is_met(machine: Burnt) -> None:
    _, output, kept = machine.burn()
    goals = kept["goals"]
    assert set(goals) == GOALS
    assert {name for name, goal in goals.items() if goal["met"] is None} == set(), output
    for goal in goals.values():
        assert set(goal) == {"what", "bar", "value", "met"}
    right = {
        "binding",
        "clean",
        "golden",
        "ptx",
        "coverage",
        "memory_faults",
        "unit_faults",
        "not_a_number",
        "stop",
        "cap",
    }
    assert {name for name in right if not goals[name]["met"]} == set(), output
    # Passes over the memory in two seconds: on a processor that is shared, the count is the machine's.
    assert goals["seeds"]["met"] is (goals["seeds"]["value"] >= 6)
    assert goals["cap"]["value"] == pytest.approx(650 / 700, rel=0.02)
    assert goals["integers"]["value"] == pytest.approx(1, rel=0.05)
    assert goals["tier_2_needless"]["value"] is False  # 93 % of the limit
    assert kept["about"]["device"]["model"] == "Fake GPU"
    assert (kept["about"]["driver"], kept["about"]["limit"]) == ("580.95.05", 700)
    assert kept["measured"]["yardstick"]["version"] == "12.2.5"
    rows = kept["measured"]["trace"]["trace"]
    assert len(rows) >= 4
    assert {"t", "clock", "power", "temp", "reasons"} <= set(rows[1])


def test_what_is_kept_names_no_gpu_and_no_home(machine: Burnt) -> None:
    copy = machine.folder / "home" / "venv" / "lt"
    shutil.copytree(machine.built / "lt", copy)
    _, _, kept = machine.burn("clean", "yardstick", "trace", words=["--cublas", str(copy)])
    text = json.dumps(kept)
    for name in ("GPU-0", "1650000000000", "a0a0a0a0"):
        assert name not in text
    found = kept["measured"]["yardstick"]["found"]
    assert "~/venv/lt/libcublasLt.so.12" in found


FAULTS = {
    "wrong=0:1:mma:8": {"clean"},
    "stuck=0:0x2460:0x1": {"clean"},
    "wrong=0:2:fp32:2": {"clean"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_gpu_that_is_wrong_does_not_meet_the_goal_of_a_clean_run(machine: Burnt, fault: str) -> None:
    status, _, kept = machine.burn("clean", cuda=fault)
    assert status == 1
    assert {name for name, each in met(kept).items() if each is False} == FAULTS[fault]
    assert kept["measured"]["clean"]["errors"]


@pytest.mark.parametrize(("fault", "text"), [
    ("hang=0:3", "hang"), ("sticky=0:3:719", "cuda"), ("lost=0:3:999", "lost"), ("context=0:46", "foreign process"),
])  # fmt: skip
def test_an_item_that_fails_states_why_and_loses_no_other(machine: Burnt, fault: str, text: str) -> None:
    skipped = [word for item in ITEMS[8:] for word in ("--skip", item)]
    process = machine.start(*skipped, *(["--hang", "1"] if text == "hang" else []), cuda=fault)
    out, _ = process.communicate(timeout=120)
    kept = json.loads((machine.folder / "out.json").read_text())
    assert set(kept["goals"]) == GOALS
    assert text in json.dumps(kept["measured"]["clean"]), out
    assert kept["goals"]["verify"]["met"] is None
    assert kept["goals"]["verify"]["why"]
    # The first products may have come before it, and a load that hangs is stopped, too.
    early = {"first", "binding", *(["stop"] if text == "hang" else [])}
    assert {name for name, each in met(kept).items() if each} <= early
    if fault.startswith("context"):
        assert False not in met(kept).values()


@pytest.mark.parametrize("cuda", ["twin=1:0", "at=1:99", "order=1"])
def test_gpus_that_cuda_identifies_otherwise_do_not_meet_the_goal_of_binding(machine: Burnt, cuda: str) -> None:
    _, _, kept = machine.burn("binding", cuda=cuda)
    assert kept["goals"]["binding"]["met"] is False, kept["measured"]["binding"]


def test_gpus_in_another_order_are_bound_by_uuid(machine: Burnt) -> None:
    _, _, kept = machine.burn("binding", cuda="order=1,0")
    assert kept["measured"]["binding"] | {"took": 0} == {"listed": 2, "bound": 2, "others": 0, "took": 0}


def test_without_a_second_numa_node_its_effect_is_not_known(machine: Burnt) -> None:
    (machine.folder / "root/sys/devices/system/node/node1/cpulist").write_text("\n")
    _, _, kept = machine.burn("numa")
    assert kept["goals"]["numa"]["met"] is None
    assert "may not use processors" in kept["goals"]["numa"]["why"]


def test_memory_of_another_node_that_is_slower_meets_the_goal_and_one_that_is_faster_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(CHECK.parent))
    goals = import_module("gpu_goals")

    def goal(near: float, far: float) -> object:
        return goals.judged({"numa": {"ratio": near / far}})["numa"]["met"]

    assert (goal(50e9, 30e9), goal(50e9, 50e9), goal(40e9, 50e9)) == (True, True, False)


def test_without_a_copy_of_cublas_its_goals_alone_are_not_known(machine: Burnt, tmp_path: Path) -> None:
    shutil.copytree(machine.built, tmp_path / "bare", ignore=shutil.ignore_patterns("lt"))
    machine.built = tmp_path / "bare"
    _, _, kept = machine.burn("yardstick", "data", "seeds")
    assert kept["goals"]["seeds"]["met"] is not None
    for name in ("mma", "integers"):
        assert kept["goals"][name]["met"] is None
        assert "tool missing" in kept["goals"][name]["why"]


def test_a_copy_of_cublas_that_multiplies_wrong_is_no_yardstick(machine: Burnt) -> None:
    _, _, kept = machine.burn("yardstick", FAKE_CUBLAS="wrong")
    assert kept["goals"]["mma"]["met"] is None
    assert "a wrong product" in kept["goals"]["mma"]["why"]


def test_a_power_counter_that_stands_still_is_not_known(machine: Burnt) -> None:
    _, _, kept = machine.burn("cap", nvml=numbered(2))
    assert kept["goals"]["cap"]["met"] is None
    assert "did not move" in kept["goals"]["cap"]["why"]


def test_a_gpu_that_others_use_is_left_alone(machine: Burnt) -> None:
    status, _, kept = machine.burn(nvml=RISING.replace("*.processes=0", "*.processes=2"))
    assert status == 3
    assert set(met(kept).values()) == {None}
    assert all("foreign process: 2" in each["why"] for each in kept["measured"].values())


def test_without_a_driver_every_goal_is_not_known(machine: Burnt) -> None:
    status, _, kept = machine.burn(cuda="init=802")
    assert status == 3
    assert set(met(kept).values()) == {None}
    assert "fabric manager down" in kept["goals"]["clean"]["why"]


def test_what_was_found_is_written_as_it_goes(machine: Burnt) -> None:
    process = machine.start()
    until((machine.folder / "out.json").exists, "no JSON yet")
    kept = json.loads((machine.folder / "out.json").read_text())
    assert set(kept["measured"]) < set(ITEMS)
    assert set(kept["goals"]) == GOALS
    process.kill()
    process.communicate()


OLD = Path("~/.pyenv/versions/3.8.18/bin/python3.8").expanduser()


@pytest.mark.skipif(not OLD.exists(), reason="no Python 3.8 on this machine")
def test_an_older_python_holds_the_burn_in_alone_against_its_goals(machine: Burnt) -> None:
    status, output, kept = machine.burn("clean", "rates", program=CHECK, python=str(OLD))
    assert "python3 >= 3.11 is needed" in output
    assert (met(kept)["clean"], met(kept)["golden"]) == (True, True), (status, output)


@pytest.mark.parametrize(("fault", "clean"), [("", True), ("wrong=0:1:mma:8", False), ("stuck=0:0x2460:0x1", False)])
def test_a_trial_too_short_for_each_test_takes_longer_and_a_fault_is_found_all_the_same(
    machine: Burnt, fault: str, clean: bool
) -> None:
    """A busy machine makes the stages of a trial as good as empty; here they last for a millisecond."""
    _, output, kept = machine.burn("clean", words=["--scale", "0.0003"], cuda=fault)
    assert met(kept)["clean"] is clean, output
    assert kept["measured"]["clean"]["seconds"] > 0.0009 or fault


def test_the_comparison_and_the_burn_in_lie_in_one_file(machine: Burnt) -> None:
    program_path = tools(machine.folder)
    (program_path / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (program_path / "python3").chmod(0o755)
    _, output, kept = machine.burn("seeds", nvml=state(made("healthy")), program=CHECK, PATH=str(program_path))
    assert kept["_compared"]["differ"] == {}, output
    assert len(kept["_compared"]["same"]) > 400
    assert set(kept["_burn"]["goals"]) == GOALS
    assert kept["_burn"]["goals"]["seeds"]["value"] >= 1, output
    assert NodeCapture.from_json(kept)


# -- what real GPUs returned -------------------------------------------------------------------------------------------

MEASURED = sorted((ROOT / "benchmarks" / "measured").glob("*.json"))


@pytest.mark.parametrize("file", MEASURED, ids=lambda file: file.stem)
def test_a_real_gpu_reads_today_as_it_did_and_nvidia_smi_of_that_minute_differs_in_no_fact_that_stands_still(
    file: Path,
) -> None:
    kept = json.loads(file.read_text(encoding="utf-8"))
    capture = NodeCapture.from_json(kept)
    ((command, answer),) = capture.commands.items()
    assert isinstance(answer, Output)
    bus = "".join(f"{row}\n" for row in answer.out.splitlines() if row.startswith(("bus ", "driver loaded")))
    printed = NodeCapture({command: Output(0, f"{bus}nvidia-smi -q -x\n{kept['_nvidia_smi']}")})
    sharing = [probe for probe in os_probes().values() if probe.ask == QUESTION]
    nvml, smi = (
        {path: leaf for probe in sharing for path, leaf in leaves(probe, way).items()} for way in (capture, printed)
    )
    named = {path: shown(leaf.reading) for path, leaf in by_index(nvml).items()}
    # These machines were read when GPUs were named by the driver's index, which is a fact since.
    assert {path: reading for path, reading in named.items() if path != "gpu/0.index"} == kept["_facts"]
    both = {path for path in nvml.keys() & smi.keys() if not isinstance(smi[path].reading, Unknown)}
    still = {path for path in both if nvml[path].kind.cls not in VOLATILE}
    assert len(still) > 50
    pairs = {path: (nvml[path].reading, smi[path].reading) for path in still}
    assert {path: (a, b) for path, (a, b) in pairs.items() if a != b and not (is_absent(a) and is_absent(b))} == {}


def is_absent(reading: Reading) -> bool:
    return isinstance(reading, Absent)


def shown(reading: Reading) -> Any:
    """A reading in the form of the file."""
    if isinstance(reading, Absent):
        return {"absent": reading.detail}
    return list(reading) if isinstance(reading, tuple) else reading


def test_what_was_measured_is_of_two_models_and_meets_each_goal_but_one() -> None:
    found = {}
    for file in MEASURED:
        burnt = json.loads(file.read_text(encoding="utf-8"))["_burn"]
        missed = {name for name, goal in burnt["goals"].items() if goal["met"] is not True}
        whole = set(burnt["goals"]) == GOALS - {
            "march_down",
            "binding",
            "numa",
        }  # these GPUs were measured before these goals
        found[burnt["about"]["device"]["model"]] = (missed, burnt["about"]["driver"], whole)
    assert found == {
        "NVIDIA H100 80GB HBM3": (set(), "580.159.04", True),
        "NVIDIA H200": ({"tier_2_needless"}, "580.159.04", True),
    }
