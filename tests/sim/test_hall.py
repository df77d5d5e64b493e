"""Seventy-two nodes, six of them dead in six ways: the audit ends by the deadline, and its output fits a screen."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEAD = ["n0005", "n0011", "n0023", "n0038", "n0047", "n0060"]
SCREEN = 50
"""Number of lines of a terminal on a laptop."""


def run(*words: str, folder: Path) -> "tuple[subprocess.CompletedProcess[str], float]":
    """Run the command as a user would, with a separate home; returns its result and how many seconds it took."""
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "COLUMNS": "100", "LANG": "C.UTF-8"}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck", *words], capture_output=True, text=True, env=env, check=False
    )
    return done, time.monotonic() - began


@pytest.mark.slow
def test_an_audit_of_a_hall_distinguishes_dead_nodes_within_its_deadline_and_on_one_screen(tmp_path: Path) -> None:
    deadline = 240
    words = ("audit", "--rack", "sim:hall", "-p", "h100-dgx", "-o", str(tmp_path / "run"), "--timeout", str(deadline))
    done, seconds = run(*words, folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert seconds < 2 * deadline
    rows = done.stdout.splitlines()
    assert len(rows) <= SCREEN, done.stdout
    assert any(row.startswith("PASS         66  ") for row in rows), done.stdout
    assert any(row.startswith("INCOMPLETE    6  n[0005,0011,0023,0038,0047,0060]") for row in rows)
    # Dead in six ways, each with its own reason.
    for output in ("login as audit refused", "expected SHA256:", "Connection refused", "login: HTTP 401", "silent for"):
        assert output in done.stdout, output
    again, _ = run("runs", "show", str(tmp_path / "run"), "--json", folder=tmp_path)
    nodes = json.loads(again.stdout)["nodes"]
    assert [name for name, node in nodes.items() if node["outcome"] != "PASS"] == DEAD


@pytest.mark.slow
def test_doctor_of_a_hall_ends_long_before_an_audit_would_and_fits_a_screen(tmp_path: Path) -> None:
    done, seconds = run("doctor", "--rack", "sim:hall", "-p", "h100-dgx", folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert seconds < 60  # 15 on an otherwise idle machine: benchmarks/first_hour.py
    assert "66 of 72 ready: n[0001-0004,0006-0010,0012-0022,0024-0037,0039-0046,0048-0059,0061-0072]" in " ".join(
        done.stdout.split()
    )
    table = "\n".join(done.stdout.splitlines()[-24:])
    for node in DEAD:
        assert f"\n{node}  " in table, table
