"""A failing verdict of a minor rule has a mark of its own, and each rendering explains how severity makes the verdict."""

import json
import subprocess
from pathlib import Path

import pytest
from command import Done, rackcheck

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
DECISIVE = "present: false"
"""The first rule with this condition fails, too: every machine has a kernel."""


def audited(folder: Path, severity: str, kernel: str = "present: true") -> Done:
    """Audit this machine; the run is stored in the folder `run`."""
    profile = folder / "two.yaml"
    profile.write_text(PROFILE.replace("{severity}", severity).replace("present: true", kernel))
    return rackcheck("audit", "localhost", "-p", profile, "-o", folder / "run", "-q")


def outcome(done: Done) -> str:
    return done.out.rpartition("Verdict: ")[2].split()[0]


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(("kernel", "verdict"), [("present: true", "PASS"), (DECISIVE, "FAIL")])
def test_the_terminal_marks_and_explains_a_minor_failure_beside_every_outcome(
    tmp_path: Path, kernel: str, verdict: str
) -> None:
    done = audited(tmp_path, "minor", kernel)
    assert (outcome(done), WHY in words(done.out)) == (verdict, True)
    heads = [line.split()[:3] for line in done.out.splitlines() if line.startswith(("▽ MINOR", "✘ FAIL"))]
    decisive = [["✘", "FAIL", "kernel.any"]] if verdict == "FAIL" else []
    assert heads == [*decisive, ["▽", "MINOR", "swap.ninety"]]
    assert f"✘ {1 + len(decisive)} fail (1 minor)" in done.out


@pytest.mark.parametrize("severity", ["blocker", "major", "advisory"])
def test_a_verdict_of_another_severity_has_neither_the_mark_nor_the_note(tmp_path: Path, severity: str) -> None:
    done = audited(tmp_path, severity)
    assert outcome(done) == ("PASS" if severity == "advisory" else "FAIL")
    shown = done.out + rackcheck("groups", tmp_path / "run").out
    assert [text for text in ("▽", "minor", "only blocker and major rules") if text in shown] == []


def test_the_mark_is_ascii_where_the_terminal_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audited(tmp_path, "minor")
    monkeypatch.setenv("LC_ALL", "C")
    done = rackcheck("runs", "show", tmp_path / "run")
    assert "v MINOR" in done.out
    assert done.out.isascii()


def test_the_rack_and_an_acceptance_explain_it(tmp_path: Path) -> None:
    audited(tmp_path, "minor")
    assert WHY in words(rackcheck("rack", tmp_path / "run").out)
    steps = ("--no-burn-in", "a test")
    (tmp_path / "rack.yaml").write_text("rackcheck: 1\nnodes:\n  localhost: { host: localhost }\n")
    where = ("-p", tmp_path / "two.yaml", "-i", tmp_path / "rack.yaml")
    assert rackcheck("accept", "new", "pod7", *where, *steps, "--planes", "os").status == 0
    assert WHY in words(rackcheck("accept", "add", "pod7", tmp_path / "run").out)


def test_groups_mark_and_explain_it(tmp_path: Path) -> None:
    audited(tmp_path, "minor")
    text = words(rackcheck("groups", tmp_path / "run").out)
    assert ("▽ MINOR" in text, "✘ FAIL" in text, WHY in text) == (True, False, True)


@pytest.mark.parametrize("kernel", ["present: true", DECISIVE])
@pytest.mark.parametrize("form", ["markdown", "html", "pdf"])
def test_each_report_marks_and_explains_it(tmp_path: Path, form: str, kernel: str) -> None:
    audited(tmp_path, "minor", kernel)
    target = tmp_path / f"report.{form}"
    assert rackcheck("report", tmp_path / "run", "--format", form, "-o", target).status == 0
    text = words(_pdf_text(target) if form == "pdf" else target.read_text(encoding="utf-8"))
    assert WHY in text
    mark = {"markdown": "🔽 minor `swap.ninety`", "html": 'class="v v-m"', "pdf": "▽ minor"}[form]
    assert mark in text


def _pdf_text(place: Path) -> str:
    return subprocess.run(["pdftotext", place, "-"], capture_output=True, text=True, check=True).stdout


def test_verify_explains_a_minor_failure_beside_the_verdict_of_the_bundle(tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    for severity, noted in (("minor", True), ("advisory", False)):
        folder = tmp_path / severity
        folder.mkdir()
        assert outcome(audited(folder, severity)) == "PASS"
        assert rackcheck("report", folder / "run", "--bundle", "-q", "-o", folder / "bundle").status == 0
        assert rackcheck("sign", folder / "bundle", "--key", key).status == 0
        done = rackcheck("verify", folder / "bundle", "--key", f"{key}.pub")
        assert (done.status, WHY in done.out) == (0, noted)
        doc = json.loads(rackcheck("verify", folder / "bundle", "--key", f"{key}.pub", "--json").out)
        assert doc["minor_failures"] == int(noted)
