"""Causes planted in the replies of a whole fleet are named after these replies were read and judged like any other."""

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT


@pytest.mark.slow
def test_every_planted_cause_of_a_whole_run_is_named_and_no_other(tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "planted_fleet.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "run"), "--nodes", "128"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 of 9 causes named, 0 false" in done.stdout
