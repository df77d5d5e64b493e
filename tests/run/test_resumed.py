"""A run that breaks off anywhere and is continued has the answers and the verdicts of a run that did not break off."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event as Stop
from threading import Lock

import depth
import pytest
from reading_workers import fleet_run
from replayed_fleet import Fleet

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.resource import ROOT
from rackcheck.run import resumed, store
from rackcheck.run.asking import wanted
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, Event, RunDone
from rackcheck.run.job import Again, Job
from rackcheck.run.resumed import STOPPED, ResumedWriter, complete
from rackcheck.run.run_writer import RunWriter, locked
from rackcheck.run.stored_replies import StoredReplies
from rackcheck.transport.memory import INTERRUPTED

NODES = 5
TIME = "2026-11-20T10:00:00Z"


class Broken(Exception):
    """Raised in place of the end of the process."""


class Counted(Fleet):
    """A fleet that counts how often each plane is asked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: list[tuple[str, Plane]] = []
        self.lock = Lock()

    def reply(self, node: Node, plane: Plane, _job: Job, _stop: Stop) -> Answered:
        with self.lock:
            self.asked.append((node.name, plane))
        return self.held[node.name, plane]

    def until(self, folder: Path, event: int) -> None:
        """Audit the fleet until an event is stored; then end without closing anything in order."""
        with pytest.raises(Broken):
            for number, _ in enumerate(self.audit(folder)):
                if number == event:
                    raise Broken

    def continued(self, folder: Path, job: Job | None = None) -> list[Event]:
        """Continue a run as the command does, and return its events."""
        stored = store.find(str(folder))
        job = replace(job or self.job, stored=StoredReplies())
        assert job.stored is not None
        there = complete(stored.answers(), {node.name: wanted(node, job) for node in job.nodes})
        found: list[Event] = []
        writer = ResumedWriter(stored, there)
        try:
            for event in audit(job, self.reply, Stop(), there):
                done = writer.write(event)
                if isinstance(done, Answered):
                    job.stored.add(folder, done)
                found.append(done)
        finally:
            writer.close()
        return found


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Counted:
    return Counted(fleet_run(tmp_path_factory.mktemp("fleet") / "run", NODES))


def lines(folder: Path, *kinds: str) -> list[str]:
    """The lines of the answers and of the verdicts of a run, sorted; the order is that in which nodes answer."""
    found = (folder / "events.jsonl").read_text().splitlines()
    return sorted(line for line in found if json.loads(line)["event"] in (kinds or ("answered", "judged")))


@pytest.fixture(scope="module")
def whole(fleet: Counted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    list(fleet.audit(folder))
    return folder


@pytest.mark.parametrize("seed", depth.first(3, (1, 2, 3, *range(4, 20))))
def test_a_run_that_breaks_off_at_any_event_is_continued_to_the_same_run(
    seed: int, fleet: Counted, whole: Path, tmp_path: Path
) -> None:
    fleet.asked.clear()
    random = Random(seed)
    fleet.until(tmp_path / "run", random.randrange(2, 30))
    if random.random() < 0.5:  # the last line was being written
        path = tmp_path / "run" / "events.jsonl"
        path.write_bytes(path.read_bytes()[: -random.randrange(1, 60)])
    kept = len(lines(tmp_path / "run", "answered")) if path_is_whole(tmp_path / "run") else None
    before = len(fleet.asked)
    events = fleet.continued(tmp_path / "run")
    if kept is not None:
        assert len(fleet.asked) - before == 2 * NODES - kept, "only what is missing is asked"
    assert lines(tmp_path / "run") == lines(whole)
    assert lines(tmp_path / "run", "facts") or not lines(whole, "facts")
    assert isinstance(events[-1], RunDone)
    assert not events[-1].interrupted
    assert {path.name for path in (tmp_path / "run" / "raw").iterdir()} == {
        path.name for path in (whole / "raw").iterdir()
    }


def path_is_whole(folder: Path) -> bool:
    return (folder / "events.jsonl").read_bytes().endswith(b"\n")


def test_a_run_that_breaks_off_while_it_is_continued_loses_no_answer(
    fleet: Counted, whole: Path, tmp_path: Path
) -> None:
    fleet.until(tmp_path / "run", 6)
    first = lines(tmp_path / "run", "answered")
    assert first
    stored = store.find(str(tmp_path / "run"))
    there = complete(stored.answers(), {node.name: wanted(node, fleet.job) for node in fleet.job.nodes})
    writer = ResumedWriter(stored, there)
    assert lines(tmp_path / "run", "answered") == first, "from its first moment, the run has all answers"
    new = fleet.held[next(key for key in sorted(fleet.held) if key not in {(a.node, a.plane) for a in there})]
    writer.write(new)
    writer.close()
    assert len(lines(tmp_path / "run", "answered")) == len(first) + 1
    fleet.continued(tmp_path / "run")
    assert lines(tmp_path / "run") == lines(whole)


def test_a_run_that_is_being_written_is_not_continued(fleet: Counted, tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", {"run": "x"}, {})
    writer.write(fleet.job.started())
    stored = store.find(str(tmp_path / "run"))
    with pytest.raises(UserError, match="still being written by another process"):
        ResumedWriter(stored, [])
    writer.close()
    second = ResumedWriter(stored, [])
    with pytest.raises(UserError, match="still being written by another process"):
        ResumedWriter(stored, [])
    second.close()
    with (tmp_path / "run" / "events.jsonl").open() as file:
        assert locked(file)


def answer(plane: Plane, trouble: Unknown | None = None, reading: int = 1) -> Answered:
    return Answered("n1", plane, TIME, trouble, reading=reading)


def test_answers_that_an_interrupt_cut_short_are_asked_again_and_refusals_are_not() -> None:
    planes = {"n1": {(Plane.OS, 1), (Plane.BMC, 1)}}
    refused = answer(Plane.OS, Unknown(Reason.DENIED, "no"))
    cut = replace(answer(Plane.BMC), capture=BmcCapture({ROOT: {"Id": "root"}, "/redfish/v1/Systems": INTERRUPTED}))
    assert complete([refused, cut], planes) == [refused]
    assert complete([answer(Plane.OS, STOPPED), answer(Plane.BMC, INTERRUPTED)], planes) == []


def test_of_two_answers_of_a_plane_the_first_one_stays() -> None:
    first, second = answer(Plane.OS, Unknown(Reason.DENIED, "1")), answer(Plane.OS, Unknown(Reason.DENIED, "2"))
    assert complete([first, second], {"n1": {(Plane.OS, 1)}}) == [first]
    assert complete([first], {"n2": {(Plane.OS, 1)}}) == [], "a node that is not wanted"


def test_a_first_reading_without_its_second_one_is_asked_again(fleet: Counted, tmp_path: Path) -> None:
    job = replace(fleet.job, again=Again(0.05, fleet.job.plan))
    folder = tmp_path / "run"
    with pytest.raises(Broken):
        for number, _ in enumerate(fleet.audit(folder, job=job)):
            if number == 9:
                raise Broken
    fleet.continued(folder, job)
    found = [json.loads(line) for line in lines(folder, "answered")]
    seen = [(doc["node"], doc["plane"], doc.get("reading", 1)) for doc in found]
    assert len(seen) == len(set(seen)) == 4 * NODES
    assert all("apart" in doc for doc in found if doc.get("reading") == 2)


def test_a_reply_that_is_stored_is_not_written_a_second_time(fleet: Counted, tmp_path: Path) -> None:
    fleet.until(tmp_path / "run", 8)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "raw").iterdir()}
    fleet.continued(tmp_path / "run")
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "raw").iterdir()}
    assert before.items() <= after.items()
    assert resumed.key(answer(Plane.OS)) == ("n1", Plane.OS, 1)
    shutil.rmtree(tmp_path / "run")
