"""Replies of stored runs are parsed once; what is kept never hides a changed file, and stays within its budget."""

import gzip
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import rack_runs
from command import rackcheck

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model import path as paths
from rackcheck.model.capture import Capture, NodeCapture
from rackcheck.model.fact import Plane
from rackcheck.model.tree import Tree
from rackcheck.probe.plan import Plan
from rackcheck.run import store
from rackcheck.run.event import Answered
from rackcheck.run.kept_replies import PLANS, KeptReplies

PLAN = Plan(())
NODE = Node("n1", host="n1.invalid")
TIME = "2026-01-01T00:00:00Z"


def made(name: str) -> Capture:
    """A reply that is read from the file `name` when it is used."""
    return NodeCapture.later(lambda: NodeCapture(files={"/name": name}), file=name)


def answer(capture: Capture, digest: str, time: str = TIME) -> Answered:
    return Answered("n1", Plane.OS, time, capture=capture, digest=digest)


def test_a_reply_is_kept_by_its_digest_plane_and_file() -> None:
    kept = KeptReplies()
    one = kept.capture("a", Plane.OS, 1, made("file"))
    assert kept.capture("a", Plane.OS, 1, made("file")) is one
    others = [("b", Plane.OS, "file"), ("a", Plane.BMC, "file"), ("a", Plane.OS, "a copy of the file")]
    for digest, plane, file in others:
        other = made(file)
        assert kept.capture(digest, plane, 1, other) is other


def test_the_reply_that_was_used_least_recently_gives_way_and_a_large_one_is_not_kept() -> None:
    kept = KeptReplies(budget=10)
    a, b = (kept.capture(digest, Plane.OS, 5, made("")) for digest in ("a", "b"))
    assert kept.capture("a", Plane.OS, 5, made("")) is a
    kept.capture("c", Plane.OS, 5, made(""))  # b gives way
    assert kept.capture("a", Plane.OS, 5, made("")) is a
    again = kept.capture("b", Plane.OS, 5, made(""))
    assert again is not b
    large = kept.capture("large", Plane.OS, 11, made(""))
    assert kept.capture("large", Plane.OS, 11, made("")) is not large
    assert kept.capture("b", Plane.OS, 5, made("")) is again


def test_facts_are_kept_for_the_same_inputs_alone() -> None:
    kept, reads = KeptReplies(), list[Tree]()
    capture = kept.capture("a", Plane.OS, 1, made("a"))

    def read() -> Tree:
        reads.append(Tree({}))
        return reads[-1]

    asked = answer(capture, "a")
    first = kept.tree(PLAN, NODE, [asked], read)
    assert kept.tree(Plan(()), replace(NODE, name="n2"), [asked], read) is first
    others = [
        (PLAN, NODE, [answer(capture, "a", "2026-01-01T00:00:01Z")]),
        (PLAN, replace(NODE, host=""), [asked]),
        (Plan((), (paths.parse("os.kernel"),)), NODE, [asked]),
        (PLAN, NODE, [asked, Answered("n1", Plane.BMC, TIME)]),
    ]
    assert all(kept.tree(plan, node, came, read) is not first for plan, node, came in others)
    assert len(others) > PLANS  # so the first one is forgotten
    assert kept.tree(PLAN, NODE, [asked], read) is not first


def test_facts_of_a_reply_that_is_not_kept_are_read_each_time_whatever_its_digest_says() -> None:
    kept = KeptReplies()
    kept.capture("a", Plane.OS, 1, made("a"))
    other = answer(NodeCapture(files={"/name": "other"}), "a")
    trees = [kept.tree(PLAN, NODE, [other], lambda: Tree({})) for _ in range(2)]
    assert trees[0] is not trees[1]


def test_a_reply_that_was_changed_after_it_was_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    shutil.copytree(rack_runs.folder() / "os", tmp_path / "run")
    assert rackcheck("runs", "show", tmp_path / "run").status in {0, 1, 3}
    stored = store.find(str(tmp_path / "run"))
    digest = next(stored.answers()).digest
    file = tmp_path / "run" / "raw" / f"{digest}.json.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()) + b" "))
    for used in ("load", "check"):
        with pytest.raises(UserError, match="does not match the digest"):
            [getattr(each.capture, used)() for each in stored.answers() if each.capture is not None]
    assert "does not match the digest" in rackcheck("runs", "show", tmp_path / "run").err


def test_a_damaged_copy_of_a_run_damages_no_other_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    for name in ("damaged", "whole"):
        shutil.copytree(rack_runs.folder() / "os", tmp_path / name)
    for file in (tmp_path / "damaged" / "raw").iterdir():
        file.write_bytes(b"")
    assert rackcheck("runs", "show", tmp_path / "damaged").status == 2
    assert rackcheck("runs", "show", tmp_path / "whole").status in {0, 1, 3}


def test_a_second_evaluation_gives_the_same_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    words = ("runs", "show", rack_runs.folder() / "first", "--json")
    first, second = rackcheck(*words), rackcheck(*words)
    assert (first.status, first.out, first.err) == (second.status, second.out, second.err)
    assert sys.getsizeof(first.out) > 10_000
