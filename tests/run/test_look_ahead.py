"""Worker processes change no fact and no byte of what a command prints or keeps, whatever becomes of them."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import depth
import pytest
import rack_runs
from command import rackcheck
from reading_workers import fleet_run, workers
from waiting import until

from rackcheck.base import program
from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.tree import Tree
from rackcheck.run import look_ahead, raw_reply, store
from rackcheck.run.event import Answered, Event, Judged
from rackcheck.run.job import Again, Job
from rackcheck.run.judging import Judging
from rackcheck.run.kept_facts import KeptFacts
from rackcheck.run.kept_replies import kept_replies
from rackcheck.run.look_ahead import WORKERS, trees
from rackcheck.run.reading_pool import ReadingPool
from rackcheck.run.run_writer import RunWriter
from rackcheck.session.stored import stored_job

Replies = dict[str, list[Answered]]
COUNTS = depth.first(1, (2, 1, 5))
"""Numbers of workers: two in a usual run."""
NODES = 6


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of NODES nodes that differ in serial numbers, counters and faults."""
    return fleet_run(tmp_path_factory.mktemp("fleet") / "run", NODES)


@pytest.fixture(scope="module", params=depth.first(1, ("fleet", "rack")))
def run(request: pytest.FixtureRequest) -> tuple[Job, Replies]:
    """The job of a stored run, and the replies of each node."""
    folder = rack_runs.folder() / "first" if request.param == "rack" else request.getfixturevalue("fleet")
    return replies(folder)


def replies(folder: Path) -> tuple[Job, Replies]:
    stored = store.find(str(folder))
    came: Replies = {}
    for answer in stored.answers():
        came.setdefault(answer.node, []).append(answer)
    return replace(stored_job(stored), kept=None), came


def forgotten() -> None:
    """Forget the facts that this process keeps in memory."""
    for reply in kept_replies._replies.values():
        reply.trees.clear()


def read(
    run: tuple[Job, Replies], count: int, monkeypatch: pytest.MonkeyPatch, kept: KeptFacts | None = None
) -> tuple[dict[str, Tree], set[int]]:
    """The facts of all nodes, and the worker processes that were seen."""
    forgotten()
    monkeypatch.setenv(WORKERS, str(count))
    found, seen = {}, set[int]()
    for node, tree in trees(replace(run[0], kept=kept), {name: [*held] for name, held in run[1].items()}):
        found[node.name] = tree
        seen.update(workers(os.getpid()))
    assert workers(os.getpid()) == []
    return found, seen


def exact(tree: Tree) -> object:
    """Everything in a tree, with the types of readings, and in order."""
    leaves = [
        (path, repr(leaf.reading), type(leaf.reading), leaf.kind, leaf.plane, leaf.source)
        for path, leaf in tree.leaves.items()
    ]
    items = [(name, [*keys]) for name, keys in tree.items.items()]
    later = None if tree.later is None else (exact(tree.later.tree), tree.later.apart)
    return leaves, items, [*tree.silent.items()], [*tree.times.items()], tree.failed, later


@pytest.mark.parametrize("count", COUNTS)
def test_the_facts_are_the_same_for_any_number_of_workers(
    count: int, run: tuple[Job, Replies], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, none = read(run, 0, monkeypatch)
    assert none == set()
    found, seen = read(run, count, monkeypatch)
    assert 0 < len(seen) <= count
    assert found == expected
    assert list(found) == [node.name for node in run[0].nodes]
    for name, tree in expected.items():
        assert exact(found[name]) == exact(tree)


def sharing(trees: Mapping[str, Tree]) -> float:
    """The part of the facts equal to one of the first node that are the same object, of the node with the least."""
    first, *others = trees.values()
    parts = []
    for tree in others:
        equal = [path for path, leaf in first.leaves.items() if tree.leaves.get(path) == leaf]
        parts.append(sum(tree.leaves[path] is first.leaves[path] for path in equal) / len(equal))
    return min(parts)


def test_equal_facts_of_nodes_of_several_workers_are_one_object(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = read(replies(fleet), 2, monkeypatch)
    assert len(seen) == 2
    assert sharing(found) > 0.9


def test_equal_facts_of_workers_and_of_nodes_read_here_before_are_one_object(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten()
    monkeypatch.delenv(WORKERS, raising=False)
    monkeypatch.setattr(look_ahead, "TRIED", 2)
    monkeypatch.setattr(look_ahead, "COST", 0.0)
    monkeypatch.setattr(look_ahead, "FEWEST", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    job, came = replies(fleet)
    found, seen = {}, []
    for node, tree in look_ahead.trees(job, came):
        found[node.name] = tree
        seen.append(len(workers(os.getpid())))
    assert seen[:2] == [0, 0]
    assert min(seen[2:]) == 2
    by_workers = {name: tree for place, (name, tree) in enumerate(found.items()) if place != 1}
    assert sharing(by_workers) > 0.9


def test_a_second_reading_is_read_by_workers_too(run: tuple[Job, Replies], monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = run
    twice = {
        name: held + [replace(each, reading=2, apart=(60.0, 61.0), time="2026-11-21T09:00:00Z") for each in held]
        for name, held in came.items()
    }
    job = replace(job, again=Again(60.0, job.plan))
    expected, _ = read((job, twice), 0, monkeypatch)
    found, seen = read((job, twice), 2, monkeypatch)
    assert seen
    assert {name: exact(tree) for name, tree in found.items()} == {n: exact(tree) for n, tree in expected.items()}


def kept_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def printed(fleet: Path, out: Path) -> list[tuple[int, str]]:
    """What commands print or write: the first reads the replies, and the others find the facts that it has kept."""
    commands = [
        ("report", fleet, "--format", "json", "-o", out / "json"), ("report", fleet, "--format", "html", "-o", out / "html"),
        ("runs", "show", fleet), ("runs", "show", fleet, "--json"),
    ]  # fmt: skip
    found = []
    out.mkdir()
    for words in commands:
        forgotten()
        done = rackcheck(*words)
        assert done.status in {0, 1, 3}, done.err
        found.append((done.status, done.out.replace(str(out), "OUT")))
    return found + [(0, (out / name).read_text()) for name in ("json", "html")]


def test_the_bytes_of_commands_and_of_kept_facts_are_the_same_for_any_number_of_workers(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs, kept = [], []
    for count in (0, *COUNTS):
        home = tmp_path / str(count)
        monkeypatch.setenv(WORKERS, str(count))
        monkeypatch.setenv("RACKCHECK_HOME", str(home))
        outputs.append(printed(fleet, tmp_path / f"out{count}"))
        kept.append(kept_bytes(home / "cache" / "facts"))
    assert all(text for _, text in outputs[0][2:])
    assert len(kept[0]) == NODES
    assert [at for at, output in enumerate(outputs) if output != outputs[0]] == []
    assert [at for at, files in enumerate(kept) if files != kept[0]] == []


def test_kept_facts_need_no_worker_and_a_poisoned_file_is_read_here(
    run: tuple[Job, Replies], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = read(run, 0, monkeypatch)
    cold, seen = read(run, 2, monkeypatch, KeptFacts(tmp_path))
    assert seen
    warm, seen = read(run, 2, monkeypatch, KeptFacts(tmp_path))
    assert seen == set()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1] + b"?")
    poisoned, _ = read(run, 2, monkeypatch, KeptFacts(tmp_path))
    assert expected == cold == warm == poisoned


def test_facts_that_are_in_memory_need_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = replies(rack_runs.folder() / "first")
    read((job, came), 0, monkeypatch)
    monkeypatch.setenv(WORKERS, "2")
    for _ in trees(job, {name: [*held] for name, held in came.items()}):
        assert workers(os.getpid()) == []


def test_replies_for_a_probe_of_others_are_read_here(run: tuple[Job, Replies], monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = run
    theirs = replace(job.plan.probes[0])
    changed = replace(job, plan=replace(job.plan, probes=(theirs, *job.plan.probes[1:])))
    expected, _ = read((changed, came), 0, monkeypatch)
    found, seen = read((changed, came), 2, monkeypatch)
    assert seen == set()
    assert found == expected


def test_changed_copies_of_replies_are_read_here(run: tuple[Job, Replies], monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = run
    changed = {
        name: [replace(a, capture=None if a.capture is None else replace(a.capture)) for a in held]
        for name, held in came.items()
    }
    found, seen = read((job, changed), 2, monkeypatch)
    assert seen == set()
    assert found == read(run, 0, monkeypatch)[0]


@pytest.mark.parametrize("number", ["-1", "two", "65", "1.5", "٣"])
def test_a_number_of_workers_that_is_none_is_an_error(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = rack_runs.folder() / "first"
    monkeypatch.setenv(WORKERS, number)
    for words in (("runs", "show", stored), ("audit", "localhost", "-p", "linux-server")):
        done = rackcheck(*words)
        assert done.status == 2
        assert f"{WORKERS} must be a number from 0 to 64" in done.err


# ---- hostile replies


ODD: tuple[object, ...] = (
    None, True, 0, -0.0, 1.0, 10**40, float("nan"), math.inf, -math.inf, "", "\ud800", "\ud800\udc00", "\0", "é" * 5000,
    [], {}, [1, [2, {"a": None}]], {"unknown": "denied"}, {"absent": ""}, "n/a",
)  # fmt: skip


def odd(value: object, turn: Iterator[int]) -> object:
    """A JSON value in which every seventh part is another one, of any type."""
    number = next(turn)
    if number % 7 == 3:
        return ODD[number // 7 % len(ODD)]
    if isinstance(value, dict):
        return {key: odd(held, turn) for key, held in value.items()}
    return [odd(held, turn) for held in value] if isinstance(value, list) else value


def test_hostile_replies_give_the_same_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = rack_runs.copied("first", tmp_path)
    stored = store.find(str(folder))
    job = replace(stored_job(stored), kept=None)
    hostile: Replies = {}
    with RunWriter(tmp_path / "hostile", dict(stored.head), {}) as writer:
        writer.write(job.started())
        for answer in stored.answers():
            if answer.capture is not None:
                doc = json.loads(raw_reply.raw_bytes(answer.capture))
                turn = iter(range(len(answer.node) + sum(map(ord, answer.node)), 10**9))
                if answer.plane is Plane.BMC:
                    doc["bodies"] = {
                        uri: {"body": {key: odd(v, turn) for key, v in held["body"].items()}}
                        if "body" in held
                        else held
                        for uri, held in doc["bodies"].items()
                    }
                else:
                    doc["files"] = {
                        path: text if next(turn) % 3 else f"\ud800{text}\ud800\udc00"
                        for path, text in doc["files"].items()
                    }
                answer = replace(answer, capture=type(answer.capture).from_json(doc))  # noqa: PLW2901
            writer.write(answer)
    for answer in store.Stored(tmp_path / "hostile", {}).answers():
        hostile.setdefault(answer.node, []).append(answer)
    expected, _ = read((job, hostile), 0, monkeypatch)
    found, seen = read((job, hostile), 2, monkeypatch)
    assert seen
    assert {name: exact(tree) for name, tree in found.items()} == {n: exact(tree) for n, tree in expected.items()}
    assert any(isinstance(leaf.reading, Unknown) for tree in found.values() for leaf in tree.leaves.values())


@pytest.mark.parametrize("count", [0, 2])
def test_a_damaged_reply_is_the_same_error_after_the_same_nodes(
    count: int, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is changed after its digest was compared."""
    job, came = replies(fleet)
    monkeypatch.setenv(WORKERS, str(count))
    forgotten()
    broken = job.nodes[4].name
    answer = came[broken][0]
    assert answer.capture is not None
    file = Path(answer.capture.file)
    whole = file.read_bytes()
    file.write_bytes(b"cut")
    before = []
    try:
        with pytest.raises(UserError, match=r"cannot read the raw answer .*\.json\.gz"):
            for node, _ in trees(job, {name: [*held] for name, held in came.items()}):
                before.append(node.name)
    finally:
        file.write_bytes(whole)
    assert before == [node.name for node in job.nodes[:4]]
    assert workers(os.getpid()) == []


# ---- workers that end


@pytest.mark.parametrize("after", depth.first(1, (2, 1, 4)))
def test_a_worker_that_is_killed_costs_no_fact(after: int, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = replies(fleet)
    expected, _ = read(run, 0, monkeypatch)
    forgotten()
    monkeypatch.setenv(WORKERS, "2")
    found, killed = {}, 0
    for node, tree in trees(run[0], {name: [*held] for name, held in run[1].items()}):
        found[node.name] = tree
        if len(found) == after:
            for pid in workers(os.getpid()):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    assert killed
    assert {name: exact(tree) for name, tree in found.items()} == {n: exact(tree) for n, tree in expected.items()}


HELLO = f"""
import os, signal, struct, sys, time
def say(number, text):
    os.write(1, struct.pack(">Qii", len(text), number, 7) + text)
say(0, b'{{"program": "{program.digest()}"}}')
os.read(0, 1)
"""
"""A worker that becomes ready, and waits for its first task."""


WAIT = "\nwhile os.read(0, 65536): pass"
"""The worker goes on until its pipe is closed."""


def pool(code: str, count: int, seconds: float = 60.0) -> ReadingPool:
    return ReadingPool(count, seconds, (sys.executable, "-I", "-c", code))


@pytest.mark.parametrize(
    ("end", "seconds", "why"),
    depth.first(
        3,
        [
            ("os.kill(os.getpid(), signal.SIGKILL)", 60.0, "killed by SIGKILL"),
            ("sys.exit(3)", 60.0, "exit code 3"),
            ("time.sleep(3600)", 0.1, "no result in time"),
            ("say(0, b'{}')" + WAIT, 60.0, "a damaged result"),
            ("os.write(1, b'\\xff' * 16)" + WAIT, 60.0, "a result of 18446744073709551615 bytes"),
            ("os.write(1, b'cut')", 60.0, "exit code 0"),
        ],
    ),
)
def test_replies_that_end_two_workers_are_unknown_and_are_not_kept(
    end: str, seconds: float, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, came = replies(rack_runs.folder() / "first")
    forgotten()
    monkeypatch.setenv(WORKERS, "2")
    start = partial(pool, HELLO + end, seconds=seconds)
    judging = Judging(job)
    events: list[Event] = []
    for node, tree in trees(replace(job, kept=KeptFacts(tmp_path)), {n: [*held] for n, held in came.items()}, start):
        reason = Unknown(Reason.UNPARSABLE, f"two processes ended while they read the replies ({why})")
        assert tree.silent[Plane.OS] == reason
        assert all(leaf.plane is Plane.DERIVED for leaf in tree.leaves.values())
        events += judging.take(node, tree)
    events += judging.close()
    outcomes = {event.node: event.outcome for event in events if isinstance(event, Judged)}
    assert {outcomes[node.name] for node in job.nodes} == {Outcome.INCOMPLETE}
    assert kept_bytes(tmp_path) == {}
    found, _ = read((job, came), 2, monkeypatch)
    assert found == read((job, came), 0, monkeypatch)[0], "the next command reads the replies"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "raise SystemExit(1)",
        HELLO.replace(program.digest(), "another"),
        HELLO.replace(program.digest(), ""),
        "print(5)",
    ],
)
def test_if_workers_cannot_be_started_the_replies_are_read_here(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = replies(rack_runs.folder() / "first")
    expected, _ = read((job, came), 0, monkeypatch)
    forgotten()
    monkeypatch.setenv(WORKERS, "2")
    found = {
        node.name: tree for node, tree in trees(job, {n: [*held] for n, held in came.items()}, partial(pool, code))
    }
    assert found == expected


def test_a_command_that_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = replies(rack_runs.folder() / "first")
    forgotten()
    monkeypatch.setenv(WORKERS, "2")
    start = partial(ReadingPool, words=("/nowhere/python",))
    assert len([*trees(job, {n: [*held] for n, held in came.items()}, start)]) == len(job.nodes)


def test_an_iteration_that_is_given_up_leaves_no_worker(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job, came = replies(fleet)
    forgotten()
    monkeypatch.setenv(WORKERS, "2")
    events = trees(job, {n: [*held] for n, held in came.items()})
    next(events)
    assert workers(os.getpid())
    events.close()  # type: ignore[attr-defined]
    assert workers(os.getpid()) == []


# ---- the process that judges ends


def alive(pid: int) -> bool:
    try:
        return "reading_worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("sent", "ready"),
    depth.first(2, ((signal.SIGKILL, True), (signal.SIGINT, False), (signal.SIGKILL, False), (signal.SIGINT, True),
              (signal.SIGTERM, False), (signal.SIGTERM, True))),
)  # fmt: skip
def test_no_worker_outlives_the_process_that_judges(
    sent: signal.Signals, ready: bool, fleet: Path, tmp_path: Path
) -> None:
    env = {**os.environ, WORKERS: "2", "RACKCHECK_HOME": str(tmp_path), "SITE_SECRET": "hunter2"}
    child = subprocess.Popen(
        [sys.executable, "-m", "rackcheck", "runs", "show", str(fleet)],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def started() -> bool:
        found = workers(child.pid)
        threads = [len([*Path(f"/proc/{pid}/task").glob("*")]) for pid in found]
        return child.poll() is not None or (len(found) == 2 and (not ready or max(threads) > 1))

    until(started, "no worker starts")
    found = workers(child.pid)
    assert len(found) == 2
    for pid in found:
        assert b"hunter2" not in Path(f"/proc/{pid}/environ").read_bytes()
    child.send_signal(sent)
    child.communicate()
    assert child.returncode != 0
    until(lambda: not any(map(alive, found)), "a worker outlives the process that started it")


def test_a_worker_that_is_stopped_in_the_middle_of_a_task_ends_with_the_process_that_judges(
    fleet: Path, tmp_path: Path
) -> None:
    """A stopped worker ends when it goes on: then it finds its pipe closed."""
    env = {**os.environ, WORKERS: "1", "RACKCHECK_HOME": str(tmp_path)}
    child = subprocess.Popen([sys.executable, "-m", "rackcheck", "runs", "show", str(fleet)], env=env, stdout=-3)
    until(lambda: workers(child.pid), "no worker starts")
    (pid,) = workers(child.pid)
    os.kill(pid, signal.SIGSTOP)
    child.kill()
    child.wait()
    assert alive(pid)
    os.kill(pid, signal.SIGCONT)
    until(lambda: not alive(pid), "the worker goes on")
