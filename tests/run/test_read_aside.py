"""Worker processes that read the replies of a running audit change no verdict, whatever becomes of them."""

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import depth
import pytest
from reading_workers import fleet_run, workers
from replayed_fleet import Facts, Fleet, verdicts

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import Plane
from rackcheck.run.event import Answered, Event, Judged
from rackcheck.run.job import Again
from rackcheck.run.look_ahead import WORKERS

NODES = 5


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    return Fleet(fleet_run(tmp_path_factory.mktemp("fleet") / "run", NODES))


@pytest.fixture(scope="module")
def alone(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Judged], dict[str, Facts]]:
    """The verdicts and facts without workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(WORKERS, "0")
        judged, facts, done = verdicts(fleet.audit(tmp_path_factory.mktemp("alone") / "run"))
    assert done.outcome is Outcome.FAIL
    assert len(facts) == NODES
    return judged, facts


Alone = tuple[dict[str, Judged], dict[str, Facts]]


@pytest.mark.parametrize("count", depth.first(1, (2, 1, 5)))
def test_the_verdicts_are_the_same_for_any_number_of_workers(
    count: int, fleet: Fleet, alone: Alone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, str(count))
    seen: set[int] = set()
    judged, facts, done = verdicts(fleet.audit(tmp_path / "run", lambda _: seen.update(workers(os.getpid()))))
    assert 0 < len(seen) <= count
    assert workers(os.getpid()) == []
    assert (judged, facts) == alone
    assert (done.outcome, done.interrupted) == (Outcome.FAIL, False)


def test_a_second_reading_is_read_by_workers_too(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = replace(fleet.job, again=Again(0.1, fleet.job.plan))
    found = []
    for count in (0, 2):
        monkeypatch.setenv(WORKERS, str(count))
        judged, facts, _ = verdicts(fleet.audit(tmp_path / str(count), job=job))
        found.append(({name: each.outcome for name, each in judged.items()}, facts))
    assert found[0] == found[1]


def test_a_worker_that_is_killed_costs_no_fact(
    fleet: Fleet, alone: Alone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, "2")
    killed: list[int] = []

    def kill(_: Event) -> None:
        if not killed and (found := workers(os.getpid())):
            os.kill(found[0], signal.SIGKILL)
            killed.append(found[0])

    judged, facts, done = verdicts(fleet.audit(tmp_path / "run", kill))
    assert killed
    assert (judged, facts) == alone
    assert not done.interrupted


def test_a_reply_that_was_not_stored_is_read_in_this_process(
    fleet: Fleet, alone: Alone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, "2")
    events = fleet.audit(
        tmp_path / "run", kept=lambda answered: (answered.node, answered.plane) != ("n00001", Plane.BMC)
    )
    assert verdicts(events)[:2] == alone


def test_a_stored_reply_that_is_damaged_at_once_costs_the_facts_of_its_plane_alone(
    fleet: Fleet, alone: Alone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, "2")

    def damage(event: Event) -> None:
        if isinstance(event, Answered) and event.node == "n00002" and event.plane is Plane.OS:
            (tmp_path / "run" / "raw" / f"{event.digest}.json.gz").write_bytes(b"")

    judged, facts, _ = verdicts(fleet.audit(tmp_path / "run", damage))
    assert {name for name in facts if facts[name] != alone[1][name]} == {"n00002"}
    assert judged["n00002"].outcome is not Outcome.PASS
    leaves, silent, _ = facts["n00002"]
    assert [*silent] == [Plane.OS]
    assert "could not be read" in silent[Plane.OS].detail
    before = alone[1]["n00002"][0]
    assert all(before[path] == leaf for path, leaf in leaves.items() if leaf.plane is Plane.BMC)
    assert {leaf.plane for leaf in leaves.values()} == {Plane.BMC, Plane.DERIVED}


def test_a_stored_reply_that_is_gone_costs_the_facts_of_its_plane_alone_if_the_other_plane_was_not_stored(
    fleet: Fleet, alone: Alone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is read in the process of the audit, as one of its replies is in memory only."""
    monkeypatch.setenv(WORKERS, "2")
    came: list[Answered] = []

    def kept(answered: Answered) -> bool:
        came.extend([answered] if answered.node == "n00002" else [])
        return answered not in came[1:]

    def remove(event: Event) -> None:
        if came and event is came[0]:
            (tmp_path / "run" / "raw" / f"{came[0].digest}.json.gz").unlink()

    judged, facts, _ = verdicts(fleet.audit(tmp_path / "run", remove, kept=kept))
    gone = came[0].plane
    assert {name for name in facts if facts[name] != alone[1][name]} == {"n00002"}
    assert judged["n00002"].outcome is not Outcome.PASS
    leaves, silent, _ = facts["n00002"]
    assert [*silent] == [gone]
    assert "could not be read" in silent[gone].detail
    assert {leaf.plane for leaf in leaves.values()} == {Plane.OS, Plane.BMC, Plane.DERIVED} - {gone}


def test_a_run_that_is_stopped_judges_all_replies_that_it_has_stored(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, "2")
    stop = threading.Event()
    came: dict[str, int] = {}

    def after_six(event: Event) -> None:
        if isinstance(event, Answered) and event.capture is not None:
            came[event.node] = came.get(event.node, 0) + 1
            if sum(came.values()) == 6:
                stop.set()

    judged, facts, _ = verdicts(fleet.audit(tmp_path / "run", after_six, stop=stop))
    assert len(facts) == NODES
    whole = [name for name, count in came.items() if count == 2]
    assert all(not facts[name][1] for name in whole)
    assert all(judged[name].outcome is Outcome.INCOMPLETE for name in facts if name not in whole and name not in came)
    assert workers(os.getpid()) == []
