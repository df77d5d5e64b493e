"""A run that passes although rules fail states why, in every form that a person reads."""

from pathlib import Path

import pytest
from command import rackcheck

PROFILE = """\
rackcheck: 1
profile: two
version: 1
title: A rule that decides, and one that does not
rules:
  kernel.any:
    title: The machine has a kernel
    severity: major
    fact: kernel.release
    present: true
    why: The test needs it.
    fix: Install one.
  swap.ninety:
    title: Swappiness is 99
    severity: {severity}
    fact: sysctl.vm.swappiness
    is: 99
    why: The test needs it.
    fix: sysctl -w vm.swappiness=99
"""

WHY = "1 verdict of a minor rule fails (to be fixed); only blocker and major rules decide the outcome"


def run(folder: Path, severity: str) -> tuple[str, str]:
    """Audit this machine; return the outcome and the text."""
    profile = folder / "two.yaml"
    profile.write_text(PROFILE.replace("{severity}", severity))
    done = rackcheck("audit", "localhost", "-p", profile, "-o", folder / severity, "-q")
    return done.out.rpartition("Verdict: ")[2].split()[0], " ".join(done.out.split())


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))


def test_a_pass_beside_a_minor_failure_is_explained(tmp_path: Path) -> None:
    outcome, text = run(tmp_path, "minor")
    assert (outcome, WHY in text) == ("PASS", True)


@pytest.mark.parametrize("severity", ["major", "advisory"])
def test_without_a_minor_failure_beside_a_pass_there_is_nothing_to_explain(tmp_path: Path, severity: str) -> None:
    _, text = run(tmp_path, severity)
    assert "only blocker and major rules" not in text


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_report_explains_it_too(tmp_path: Path, form: str) -> None:
    run(tmp_path, "minor")
    target = tmp_path / f"report.{form}"
    rackcheck("report", tmp_path / "minor", "--format", form, "-o", target)
    assert WHY in " ".join(target.read_text(encoding="utf-8").split())
