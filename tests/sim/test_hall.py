"""A hall with six nodes dead in six ways: the audit ends by the deadline, and its output fits a screen.

`make full` audits the shipped hall of 72 nodes. A usual run audits one of 18 with the same six faults: a healthy node
costs two seconds, and all of them are one line of the output.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import depth
import pytest

from rackcheck.model.fold import fold
from rackcheck.sim import scenario

NUMBERS = {5: 5, 11: 6, 23: 8, 38: 11, 47: 12, 60: 14}
"""The dead nodes of the shipped hall, and of the small one."""

COUNT = 72 if depth.DEEP else 18
"""With fewer, the healthy nodes would be less than the three quarters that rules between nodes need."""
DEAD = [f"n{large if depth.DEEP else small:04}" for large, small in NUMBERS.items()]
ALIVE = fold(name for name in (f"n{number:04}" for number in range(1, COUNT + 1)) if name not in DEAD)
SCREEN = 50
"""Number of lines of a terminal on a laptop."""


def hall(folder: Path) -> str:
    """The rack of this run, as the command names it."""
    if depth.DEEP:
        return "sim:hall"
    text = (scenario.FOLDER / "hall.yaml").read_text().replace("count: 72", f"count: {COUNT}")
    for large, small in NUMBERS.items():
        text = text.replace(f"nodes: n{large:04},", f"nodes: n{small:04},")
    (folder / "hall.yaml").write_text(text)
    return "sim:./hall.yaml"


def run(*words: str, folder: Path) -> "tuple[subprocess.CompletedProcess[str], float]":
    """Run the command as a user would, with a separate home; returns its result and how many seconds it took."""
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "COLUMNS": "100", "LANG": "C.UTF-8"}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck", *words], capture_output=True, text=True, env=env, check=False, cwd=folder
    )
    return done, time.monotonic() - began


@pytest.mark.slow
def test_an_audit_of_a_hall_distinguishes_dead_nodes_within_its_deadline_and_on_one_screen(tmp_path: Path) -> None:
    deadline = 240 if depth.DEEP else 120
    words = (
        "audit",
        "--rack",
        hall(tmp_path),
        "-p",
        "h100-dgx",
        "-o",
        str(tmp_path / "run"),
        "--timeout",
        str(deadline),
    )
    done, seconds = run(*words, folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert seconds < 2 * deadline
    rows = done.stdout.splitlines()
    assert len(rows) <= SCREEN, done.stdout
    assert any(row.startswith(f"PASS {COUNT - len(DEAD):>10}  ") for row in rows), done.stdout
    assert any(row.startswith(f"INCOMPLETE    6  {fold(DEAD)}") for row in rows)
    # Dead in six ways, each with its own reason.
    for output in ("login as audit refused", "expected SHA256:", "Connection refused", "login: HTTP 401", "silent for"):
        assert output in done.stdout, output
    again, _ = run("runs", "show", str(tmp_path / "run"), "--json", folder=tmp_path)
    nodes = json.loads(again.stdout)["nodes"]
    assert [name for name, node in nodes.items() if node["outcome"] != "PASS"] == DEAD
    assert len(nodes) == COUNT


@pytest.mark.slow
def test_doctor_of_a_hall_ends_long_before_an_audit_would_and_fits_a_screen(tmp_path: Path) -> None:
    done, seconds = run("doctor", "--rack", hall(tmp_path), "-p", "h100-dgx", folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert seconds < 60  # 15 on an otherwise idle machine: benchmarks/first_hour.py
    assert f"{COUNT - len(DEAD)} of {COUNT} ready: {ALIVE}" in " ".join(done.stdout.split())
    table = "\n".join(done.stdout.splitlines()[-24:])
    for node in DEAD:
        assert f"\n{node}  " in table, table
