"""Results of shards merge to the same bytes in any number and order; what is lost is unknown, what is foreign refused."""

import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import depth
import pytest
from reading_workers import fleet_run
from replayed_fleet import Fleet

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.inventory import BmcAccess
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.run import store
from rackcheck.run.event import Answered, Event, RunDone
from rackcheck.run.job import Again
from rackcheck.session import shard_merge
from rackcheck.session.audit_setup import Prepared
from rackcheck.session.registry_loading import known
from rackcheck.session.shard_asking import is_done, job_of
from rackcheck.session.shard_plan import RESULTS, SHARDS, planned, shards_of
from rackcheck.shard.document import Shard
from rackcheck.shard.result import ResultWriter

NODES = 5
Change = Callable[[Answered], Answered | None]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    found = Fleet(fleet_run(tmp_path_factory.mktemp("fleet") / "run", NODES))
    nodes = [replace(node, bmc=BmcAccess(f"https://bmc-{node.name}")) for node in found.job.nodes]
    found.job = replace(found.job, nodes=tuple(nodes))
    return found


def plan(fleet: Fleet, folder: Path, by: str) -> list[Shard]:
    return planned(Prepared(fleet.job, folder, fleet.given, (), (), {}), by, folder)


def answers(fleet: Fleet, shard: Shard) -> list[Answered]:
    names = {node.name for node in shard.nodes}
    return [answer for (name, _), answer in sorted(fleet.held.items()) if name in names]


def write(shard: Shard, path: Path, found: Sequence[Answered]) -> Path:
    with ResultWriter(shard, path) as writer:
        writer.begin(())
        for answer in found:
            writer.write(answer)
        writer.finish()
    return path


def merge(folder: Path, results: Sequence[Path], target: Path) -> tuple[shard_merge.Merged, list[Event]]:
    _, job = shard_merge.run_of(folder)
    with shard_merge.scratch(target) as scratch:
        found = shard_merge.merged(folder, results, Path(scratch))
        return found, list(shard_merge.events(folder, job, found, target, Path(scratch)))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def undivided(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undivided")
    (shard,) = plan(fleet, folder / "plan", "1")
    merge(folder / "plan", [write(shard, folder / "result", answers(fleet, shard))], folder / "run")
    return folder / "run"


@pytest.mark.parametrize("seed", depth.first(3, range(20)))
def test_any_number_of_results_in_any_order_and_twice_gives_the_same_bytes(
    seed: int, fleet: Fleet, undivided: Path, tmp_path: Path
) -> None:
    random = Random(seed)
    shards = plan(fleet, tmp_path / "plan", str(random.randint(2, NODES)))
    results = []
    for shard in shards:
        found = answers(fleet, shard)
        random.shuffle(found)
        results.append(write(shard, tmp_path / "plan" / RESULTS / shard.name, found))
    results += random.choices(results, k=random.randrange(3))
    random.shuffle(results)
    merge(tmp_path / "plan", results, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(undivided)


def test_the_verdicts_are_those_of_an_audit_that_is_not_divided(fleet: Fleet, undivided: Path, tmp_path: Path) -> None:
    list(fleet.audit(tmp_path / "run"))
    audited, merged = store.find(str(tmp_path / "run")), store.find(str(undivided))
    assert sorted(audited.judged(), key=lambda each: each.node) == sorted(merged.judged(), key=lambda each: each.node)
    raw = {name for name in contents(tmp_path / "run") if name.startswith("raw/")}
    assert raw == {name for name in contents(undivided) if name.startswith("raw/")}


def test_a_lost_result_is_unknown_and_the_run_is_incomplete(fleet: Fleet, tmp_path: Path) -> None:
    shards = plan(fleet, tmp_path / "plan", "5")
    results = [write(shard, tmp_path / shard.name, answers(fleet, shard)) for shard in shards[1:]]
    found, events = merge(tmp_path / "plan", results, tmp_path / "run")
    _, job = shard_merge.run_of(tmp_path / "plan")
    lost = shards[0].nodes[0].name
    assert shard_merge.missing(job, found) == [lost]
    stored = store.find(str(tmp_path / "run"))
    assert {a.trouble for a in stored.answered() if a.node == lost} == {shard_merge.NOT_ASKED}
    assert {each.node: each.outcome for each in stored.judged()}[lost] is Outcome.INCOMPLETE
    ended = events[-1]
    assert isinstance(ended, RunDone)
    assert ended.outcome in {Outcome.FAIL, Outcome.INCOMPLETE}


def test_nothing_at_all_is_no_pass(fleet: Fleet, tmp_path: Path) -> None:
    plan(fleet, tmp_path / "plan", "2")
    _, events = merge(tmp_path / "plan", [], tmp_path / "run")
    ended = events[-1]
    assert isinstance(ended, RunDone)
    assert ended.outcome is Outcome.INCOMPLETE


def test_a_result_of_another_plan_is_refused_and_nothing_is_written(fleet: Fleet, tmp_path: Path) -> None:
    shards = plan(fleet, tmp_path / "plan", "2")
    other = planned(
        Prepared(replace(fleet.job, id="other"), tmp_path, fleet.given, (), (), {}), "2", tmp_path / "other"
    )
    results = [
        write(shards[0], tmp_path / "1", answers(fleet, shards[0])),
        write(other[1], tmp_path / "2", answers(fleet, other[1])),
    ]
    with pytest.raises(UserError, match="2 is a result of another plan"):
        merge(tmp_path / "plan", results, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert not list(tmp_path.glob(".merge-*"))


def test_a_result_that_was_cut_off_gives_its_whole_answers(fleet: Fleet, tmp_path: Path) -> None:
    shards = plan(fleet, tmp_path / "plan", "2")
    results = [write(shard, tmp_path / shard.name, answers(fleet, shard)) for shard in shards]
    data = results[0].read_bytes()
    results[0].write_bytes(data[: len(data) * 2 // 3])
    found, events = merge(tmp_path / "plan", results, tmp_path / "run")
    assert list(found.damaged) == [str(results[0])]
    assert "it is cut off after" in found.damaged[str(results[0])]
    assert 0 < len(found.answers) < 2 * NODES
    assert isinstance(events[-1], RunDone)


def test_of_two_answers_the_earlier_whole_one_counts_in_any_order(fleet: Fleet, tmp_path: Path) -> None:
    (shard,) = plan(fleet, tmp_path / "plan", "1")
    first = answers(fleet, shard)
    silent = Unknown(Reason.TIMEOUT, "silent")
    failed = [replace(answer, time="2020-01-01T00:00:00Z", trouble=silent, capture=None) for answer in first]
    later = [replace(answer, time="2099-01-01T00:00:00Z") for answer in first]
    results = [write(shard, tmp_path / name, found) for name, found in zip("abc", (failed, first, later), strict=True)]
    one, _ = merge(tmp_path / "plan", results, tmp_path / "run1")
    merge(tmp_path / "plan", results[::-1], tmp_path / "run2")
    assert contents(tmp_path / "run1") == contents(tmp_path / "run2")
    assert {answer.time for answer in one.answers.values()} == {answer.time for answer in first}
    assert set(one.twice.values()) == {3}


def foreign(fleet: Fleet, shard: Shard) -> list[Answered]:
    """An answer of a node that another shard asks, after those of the shard's own nodes."""
    other = next(answer for answer in fleet.held.values() if answer.node not in {node.name for node in shard.nodes})
    return [*answers(fleet, shard), other]


def test_a_shard_answers_for_its_own_nodes_only(fleet: Fleet, undivided: Path, tmp_path: Path) -> None:
    shards = plan(fleet, tmp_path / "plan", "2")
    results = [write(shards[0], tmp_path / "1", foreign(fleet, shards[0]))]
    results.append(write(shards[1], tmp_path / "2", answers(fleet, shards[1])))
    found, _ = merge(tmp_path / "plan", results, tmp_path / "run")
    assert "is no node of its shard" in found.damaged[str(results[0])]
    assert contents(tmp_path / "run") == contents(undivided)


def test_a_reply_of_an_invalid_form_costs_its_plane_only(fleet: Fleet, tmp_path: Path) -> None:
    (shard,) = plan(fleet, tmp_path / "plan", "1")
    path = write(shard, tmp_path / "1", answers(fleet, shard))
    head, line, *rest = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    doc = json.loads(line.split(b" ", 1)[1].partition(b"\t")[0])
    reply = b'{"bodies":3}' if doc["plane"] == "bmc" else b'{"commands":[]}'
    doc["raw"] = hashlib.sha256(reply).hexdigest()
    own = json.dumps(doc, sort_keys=True, separators=(",", ":")).encode()
    line = hashlib.sha256(own).hexdigest().encode() + b" " + own + b"\t" + reply + b"\n"
    path.write_bytes(gzip.compress(b"".join([head, line, *rest])))
    found, events = merge(tmp_path / "plan", [path], tmp_path / "run")
    assert not found.damaged
    wrong = found.answers[doc["node"], Plane(doc["plane"]), 1]
    assert wrong.trouble is not None
    assert wrong.trouble.reason is Reason.UNPARSABLE
    assert sum(answer.trouble is not None for answer in found.answers.values()) == 1
    assert isinstance(events[-1], RunDone)


def test_a_shard_asks_what_the_plan_asks_and_has_no_secret(fleet: Fleet, tmp_path: Path) -> None:
    second = Again(5.0, known().plan([parse("kernel.release"), parse("firmware.bmc")]))
    job = replace(fleet.job, again=second, secrets={"env:X": "s3cret"})
    planned(Prepared(job, tmp_path, fleet.given, (), (), {}), "2", tmp_path / "plan")
    shards = shards_of(tmp_path / "plan")
    mine = job_of(shards[0])
    assert mine.plan.questions == fleet.job.plan.questions
    assert (mine.plan.links, mine.plan.whole_links) == (fleet.job.plan.links, fleet.job.plan.whole_links)
    assert mine.again == second
    assert "s3cret" not in "".join(path.read_text() for path in (tmp_path / "plan" / SHARDS).iterdir())
    with pytest.raises(UserError, match="asks nodes something else: use the same release"):
        job_of(replace(shards[0], questions="0" * 64))


def test_a_result_that_is_there_is_not_asked_again_and_that_of_another_shard_is_refused(
    fleet: Fleet, tmp_path: Path
) -> None:
    one, two = plan(fleet, tmp_path / "plan", "2")
    assert not is_done(one, tmp_path / "1")
    path = write(one, tmp_path / "1", answers(fleet, one))
    assert is_done(one, path)
    with pytest.raises(UserError, match="is the result of another shard"):
        is_done(two, path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UserError, match="is damaged"):
        is_done(one, path)


def test_a_plan_is_not_overwritten_and_a_plan_with_a_missing_shard_is_named(fleet: Fleet, tmp_path: Path) -> None:
    plan(fleet, tmp_path / "plan", "3")
    with pytest.raises(UserError, match="already exists; a plan is never overwritten"):
        plan(fleet, tmp_path / "plan", "3")
    (tmp_path / "plan" / SHARDS / "2.json").unlink()
    with pytest.raises(UserError, match="has no shard 2"):
        shards_of(tmp_path / "plan")
    with pytest.raises(UserError, match="is not a plan"):
        shards_of(tmp_path)
