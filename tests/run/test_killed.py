"""An audit that is killed at any point leaves only what is true: whole replies, and a run that is named as cut off."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import depth
import pytest
from edge_racks import rack
from waiting import until

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import Plane
from rackcheck.run import store
from rackcheck.run.event import RunDone
from rackcheck.session import subject
from rackcheck.session.run_session import RunSession
from rackcheck.sim.rack import SimRack

POINTS = depth.first(4, (1, 320_000, 180_000, 420_000, *range(20_000, 500_000, 30_000)))
"""Bytes of the run's folder at which the audit is killed; a whole run takes about 500,000. The usual run tries four."""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimRack]:
    with rack(tmp_path_factory.mktemp("rack")) as found:
        yield found
        for station in found.stations:
            if station.bmc is not None:
                station.bmc.sessions.clear()  # a process that is killed cannot close them


def size(home: Path) -> int:
    total = 0
    for path in (home / "runs").rglob("*") if (home / "runs").is_dir() else ():
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # a reply that has just got its name
            continue
    return total


@pytest.mark.parametrize("point", POINTS)
def test_wherever_an_audit_is_killed_its_answers_are_whole_and_it_is_no_pass(
    point: int, up: SimRack, whole: Path, tmp_path: Path
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    env = {**os.environ, "HOME": str(tmp_path), "RACKCHECK_HOME": str(home), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "rackcheck"]
    child = subprocess.Popen(
        [*command, "audit", "-i", str(up.inventory), "-p", "h100-dgx", "-q"], env=env, stdout=subprocess.DEVNULL
    )
    until(lambda: size(home) >= point or child.poll() is not None, "the run does not grow")
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert list(temporary.iterdir()) == [], "replies on disk have no name"

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*command, *words], env=env, capture_output=True, text=True, check=False)

    listed = run("runs", "list")
    assert listed.returncode == 0, listed.stderr
    folders = list((home / "runs").iterdir())
    assert len(folders) == 1
    fresh = list((folders[0] / "raw").glob("*.new")) if (folders[0] / "raw").is_dir() else []
    assert len(fresh) <= 1, "at most the reply that was being written"
    shown = run("runs", "show", folders[0].name)
    if not (folders[0] / "run.json").is_file() or not (folders[0] / "events.jsonl").is_file():
        assert shown.returncode == 2
        return
    stored = store.find(str(folders[0]))
    answered = [doc for _, doc in stored.documents() if doc["event"] == "answered"]
    for doc in answered:
        if "raw" in doc:
            stored.capture(doc["raw"], Plane(doc["plane"]))  # raises UserError unless the digest is right
    if stored.done() is not None:
        assert shown.returncode == 0, "it was killed after the end of its run"
        return
    if any(doc["event"] == "run started" for _, doc in stored.documents()):
        assert "CUT OFF" in listed.stdout
        assert shown.returncode in {1, 130}, shown.stdout + shown.stderr
        assert "Verdict: INCOMPLETE (interrupted" in shown.stdout
        again = run("audit", "--from", folders[0].name, "-p", "h100-dgx")
        assert "Verdict: PASS" not in again.stdout
        assert again.returncode in {1, 130}
        *_, last = RunSession(found=subject.find(str(folders[0]))).events()  # what the TUI shows
        assert isinstance(last, RunDone)
        assert (last.outcome, last.interrupted) == (Outcome.INCOMPLETE, True)
        there = {(doc["node"], doc["plane"]): doc["time"] for doc in answered}
        resumed = run("audit", "--resume", folders[0].name, "-i", str(up.inventory))
        assert resumed.returncode == 0, resumed.stderr
        assert verdicts(stored) == verdicts(store.find(str(whole)))
        now = {(answer.node, answer.plane.value): answer.time for answer in stored.answered()}
        assert there.items() <= now.items(), "an answer that was stored was asked for again"
        assert run("audit", "--resume", folders[0].name, "-i", str(up.inventory)).returncode == 2, "it is complete"


@pytest.fixture(scope="module")
def whole(up: SimRack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the rack that was not killed."""
    home = tmp_path_factory.mktemp("whole")
    subprocess.run(
        [sys.executable, "-m", "rackcheck", "audit", "-i", str(up.inventory), "-p", "h100-dgx", "-q", "-o", str(home / "run")],
        env={**os.environ, "HOME": str(home), "RACKCHECK_HOME": str(home / "home")}, stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return home / "run"


def verdicts(stored: store.Stored) -> dict[str, dict[str, str]]:
    return {each.node: {v.rule: v.status.value for v in each.verdicts} for each in stored.judged()}


def test_a_reply_whose_file_was_cut_is_caught(up: SimRack, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "RACKCHECK_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "rackcheck"]
    subprocess.run(
        [*command, "audit", "-i", str(up.inventory), "-p", "h100-dgx", "-q", "-o", str(tmp_path / "run")],
        env=env, stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    file = next((tmp_path / "run" / "raw").iterdir())
    file.write_bytes(file.read_bytes()[:-100])
    done = subprocess.run(
        [*command, "runs", "show", str(tmp_path / "run")], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "cannot read the raw answer" in done.stderr
