"""The comparison of NVML with nvidia-smi that is run where there is a GPU: on the fake driver, with a bare Python."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_driver import Told, library, state, tools
from recordings import facts, os_probes
from test_fake_driver import made, simulated

from rackcheck.core.capture import NodeCapture

CHECK = Path(__file__).parents[1] / "benchmarks" / "gpu_check.py"
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


def run(place: Path, told: Told) -> tuple[int, str, dict[str, Any]]:
    (place / "state").write_text(state(told))
    env = {
        "PATH": str(place / "bin"),
        "LD_LIBRARY_PATH": str(place),
        "FAKE_NVML_STATE": str(place / "state"),
        "PYTHONPATH": str(place / "brought"),
    }
    done = subprocess.run(
        [sys.executable, "-S", str(CHECK), "-o", str(place / "out.json")],
        capture_output=True,
        text=True,
        env=env | {k: v for k, v in os.environ.items() if k == "COVERAGE_PROCESS_START"},
        check=False,
    )
    assert (place / "out.json").exists(), done.stderr
    return done.returncode, done.stdout, json.loads((place / "out.json").read_text())


@pytest.mark.parametrize("case", ["healthy", "mixed", "rack scale"])
def test_on_a_machine_where_both_tell_the_same_nothing_differs(case: str, place: Path) -> None:
    status, said, kept = run(place, made(case))
    assert (status, kept["_compared"]["differ"], kept["_compared"]["only nvidia-smi"]) == (0, {}, {}), said
    assert len(kept["_compared"]["same"]) > 400


def test_what_differs_is_named_and_ends_with_1(place: Path) -> None:
    smi = place / "bin" / "nvidia-smi"
    true = smi.read_text()
    smi.write_text(f"{true.replace('exec ', '')} | {shutil.which('sed')} s/Hopper/Ampere/\n".replace("\n |", " |"))
    try:
        status, said, kept = run(place, simulated())
    finally:
        smi.write_text(true)
    assert status == 1
    assert set(kept["_compared"]["differ"]) == {f"gpu/{n}.architecture" for n in range(8)}
    assert 'gpu/0.architecture  {"nvml": "Hopper", "smi": "Ampere"}' in said


def test_a_machine_without_a_gpu_has_nothing_to_compare(place: Path) -> None:
    status, said, _ = run(place, {"driver": {"value": "1.0"}, "cuda": {"value": "1.0"}, "gpus": []})
    assert status == 3
    assert "nothing was compared" in said


def test_what_is_kept_is_a_recording_that_names_no_machine(place: Path) -> None:
    told = made("mixed")
    told["gpus"][3]["fabric_cluster"] = {"value": "6f1c7e0a-0000-4000-8000-00000000beef"}
    _, _, kept = run(place, told)
    text = json.dumps(kept)
    true = [gpu[key]["value"] for gpu in told["gpus"] for key in ("uuid", "serial") if "value" in gpu[key]]
    assert len(true) == 15
    assert [name for name in (*true, "6f1c7e0a", "beef") if name in text] == []
    probe = os_probes()["gpu"]
    given = facts(probe, NodeCapture.from_json(kept))
    uuids = [given[f"gpu/{n}.uuid"] for n in range(8)]
    assert len(set(uuids)) == 8
    assert all(str(uuid).startswith("GPU-00000000-") for uuid in uuids)
    assert uuids == [kept["_facts"][f"gpu/{n}.uuid"] for n in range(8)]
