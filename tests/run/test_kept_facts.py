"""Facts kept on disk are those that the replies give: whatever happens to the files, no fact is another one."""

import json
import math
import os
import shutil
import stat
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import rack_runs
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.base import program
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Facts, Plane, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.run import kept_facts, store
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.run.kept_facts import KeptFacts
from rackcheck.run.kept_replies import kept_replies
from rackcheck.session.stored import stored_job

Replies = dict[str, list[Answered]]


@pytest.fixture(scope="module")
def run() -> tuple[Job, Replies]:
    """The job of a stored run of three nodes, and the replies of each node."""
    stored = store.find(str(rack_runs.folder() / "first"))
    came: Replies = {}
    for answer in stored.answers():
        came.setdefault(answer.node, []).append(answer)
    return stored_job(stored), came


def trees(run: tuple[Job, Replies], kept: KeptFacts | None) -> dict[str, Tree]:
    """The facts of all nodes, as a new process would read them."""
    job, came = run
    for reply in kept_replies._replies.values():
        reply.trees.clear()
    return {node.name: tree_of(replace(job, kept=kept), node, came[node.name]) for node in job.nodes}


def parsed(run: tuple[Job, Replies], kept: KeptFacts) -> list[str]:
    """The nodes whose facts are not in the files, so that their replies would be parsed."""
    job, came = run
    missing: list[str] = []

    def read(name: str) -> tuple[Tree, bool]:
        missing.append(name)
        return Tree({}), False

    for node in job.nodes:
        answers = sorted(came[node.name], key=lambda answer: answer.plane)
        kept.tree(job.plan, node, answers, partial(read, node.name))
    return missing


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_kept_facts_are_those_of_the_replies_with_their_order_and_items(
    run: tuple[Job, Replies], tmp_path: Path
) -> None:
    expected = trees(run, None)
    kept = KeptFacts(tmp_path / "facts")
    assert trees(run, kept) == expected
    assert parsed(run, kept) == []
    again = trees(run, kept)
    assert again == expected
    for name, tree in expected.items():
        assert list(again[name].leaves) == list(tree.leaves)
        assert {path: type(leaf.reading) for path, leaf in again[name].leaves.items()} == {
            path: type(leaf.reading) for path, leaf in tree.leaves.items()
        }


def damaged(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"\0",
    "another first byte": lambda data: damaged(data, 0),
    "another digest": lambda data: damaged(data, len(kept_facts.FORMAT) + 3),
    "another byte in the middle": lambda data: damaged(data, len(data) // 2),
    "another last byte": lambda data: damaged(data, len(data) - 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_not_used_and_is_written_anew(damage: str, run: tuple[Job, Replies], tmp_path: Path) -> None:
    kept = KeptFacts(tmp_path)
    expected = trees(run, kept)
    whole = {path: path.read_bytes() for path in files(tmp_path)}
    for path, data in whole.items():
        path.write_bytes(DAMAGES[damage](data))
    assert trees(run, kept) == expected
    assert {path: path.read_bytes() for path in files(tmp_path)} == whole


def test_the_file_of_another_node_in_a_files_place_is_not_used(run: tuple[Job, Replies], tmp_path: Path) -> None:
    kept = KeptFacts(tmp_path)
    expected = trees(run, kept)
    first, *others = files(tmp_path)
    for other in others:
        shutil.copyfile(first, other)
    assert trees(run, kept) == expected


def test_facts_are_kept_for_the_same_replies_plan_and_program_alone(
    run: tuple[Job, Replies], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, came = run
    kept = KeptFacts(tmp_path)
    trees(run, kept)
    assert parsed(run, kept) == []
    later = {name: [replace(answer, time="2030-01-01T00:00:00Z") for answer in held] for name, held in came.items()}
    other = {
        name: [replace(answer, digest=answer.digest and name + answer.digest) for answer in held]
        for name, held in came.items()
    }
    cut = {
        name: [replace(answer, trouble=Unknown(Reason.TIMEOUT, "cut")) for answer in held]
        for name, held in came.items()
    }
    fewer = replace(job, plan=replace(job.plan, probes=job.plan.probes[1:]))
    nameless = replace(job, nodes=tuple(replace(node, host="") for node in job.nodes))
    for changed in ((job, later), (job, other), (job, cut), (fewer, came), (nameless, came)):
        assert parsed(changed, KeptFacts(tmp_path)) == [node.name for node in job.nodes]
    trees(run, kept)
    monkeypatch.setattr(kept_facts, "_code", lambda: "another version of the program")
    assert parsed(run, KeptFacts(tmp_path)) == [node.name for node in job.nodes]


def test_a_changed_file_of_the_program_changes_the_digest_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "package"
    (place / "deep").mkdir(parents=True)
    own = place / "deep" / "parser.py"
    own.write_text("one")
    monkeypatch.setattr("rackcheck.__path__", [str(place)])
    assert program.digest.__wrapped__() == "", "a file that is newer than this process"
    monkeypatch.setattr(program, "STARTED", math.inf)
    code = program.digest.__wrapped__
    before = code()
    (place / "__pycache__").mkdir()
    (place / "__pycache__" / "parser.pyc").write_text("compiled")
    assert code() == before
    own.write_text("two")
    assert code() != before
    shutil.rmtree(place)
    assert code() == "", "a program that cannot be read keeps nothing"


def test_facts_of_a_probe_of_others_are_not_kept(run: tuple[Job, Replies], tmp_path: Path) -> None:
    job, came = run
    theirs = replace(job.plan.probes[0])
    kept = KeptFacts(tmp_path)
    changed = replace(job, plan=replace(job.plan, probes=(theirs, *job.plan.probes[1:]))), came
    names = [node.name for node in job.nodes]
    assert parsed(changed, kept) == parsed(changed, kept) == names
    assert files(tmp_path) == []


def test_replies_that_are_not_stored_are_not_kept(run: tuple[Job, Replies], tmp_path: Path) -> None:
    job, came = run
    live = {name: [replace(answer, digest="") for answer in held] for name, held in came.items()}
    assert parsed((job, live), KeptFacts(tmp_path)) == [node.name for node in job.nodes]
    assert files(tmp_path) == []


def one(reading: object) -> Tree:
    return Tree({"a.b": Leaf(reading, Kind(Type.TEXT, "help"), Plane.OS, "file", "time")})  # type: ignore[arg-type]


def fails(*_: object) -> Facts:
    raise MemoryError


@pytest.mark.parametrize("what", ["os", "bmc", "pcie_unlike"])
def test_facts_of_a_node_on_which_a_probe_or_a_join_failed_are_not_kept(
    what: str, run: tuple[Job, Replies], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lack of memory passes; the facts that are unknown or missing because of it would stay."""
    job, came = run
    first = next((probe for probe in job.plan.probes if probe.plane == what), None)
    probes = tuple(replace(probe, parse=fails) if probe is first else probe for probe in job.plan.probes)
    joins = tuple(replace(join, function=fails) if join.name == what else join for join in job.plan.joins)  # type: ignore[arg-type]
    own = frozenset(id(kept_facts._reader(each)) for each in (*probes, *joins))
    monkeypatch.setattr(kept_facts, "_own_givers", lambda: own)
    broken = replace(job, nodes=job.nodes[:1], plan=replace(job.plan, probes=probes, joins=joins))
    trees((broken, came), KeptFacts(tmp_path))
    assert files(tmp_path) == []


def test_the_files_that_were_not_used_for_longest_give_way(run: tuple[Job, Replies], tmp_path: Path) -> None:
    trees(run, KeptFacts(tmp_path))
    sizes = {path: path.stat().st_size for path in files(tmp_path)}
    for age, path in enumerate(sizes):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    newest = next(iter(sizes))
    job, came = run
    node = job.nodes[0]
    held = KeptFacts(tmp_path, budget=sum(sizes.values()) // 2)
    answers = [replace(answer, digest=64 * "1") for answer in came[node.name]]
    held.tree(job.plan, node, answers, lambda: (one("new"), True))
    left = files(tmp_path)
    assert sum(path.stat().st_size for path in left) <= held.budget
    assert newest in left or sizes[newest] > held.budget
    assert any(path not in sizes for path in left), "the new file stays"


def test_a_folder_that_cannot_be_written_costs_time_alone(run: tuple[Job, Replies], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = KeptFacts(tmp_path / "file" / "facts")
    assert trees(run, kept) == trees(run, None)


def test_a_folder_that_others_can_write_is_not_used(run: tuple[Job, Replies], tmp_path: Path) -> None:
    kept = KeptFacts(tmp_path / "facts")
    trees(run, kept)
    kept.folder.chmod(0o770)
    assert parsed(run, kept) == [node.name for node in run[0].nodes]
    before = {path: path.stat().st_mtime_ns for path in files(kept.folder)}
    trees((run[0], {name: [replace(a, time="later") for a in held] for name, held in run[1].items()}), kept)
    assert {path: path.stat().st_mtime_ns for path in files(kept.folder)} == before
    kept.folder.chmod(0o700)
    assert parsed(run, kept) == []
    (tmp_path / "link").symlink_to(kept.folder)
    assert parsed(run, KeptFacts(tmp_path / "link")) != [], "a link may lead into the folder of somebody else"


@pytest.mark.parametrize(
    "content", [b"not JSON", b"{}", b"[]", b'{"kinds": [], "forms": [], "sources": [], "rows": [1]}']
)
def test_a_file_with_a_valid_digest_and_another_content_is_not_used(
    content: bytes, run: tuple[Job, Replies], tmp_path: Path
) -> None:
    kept = KeptFacts(tmp_path)
    expected = trees(run, kept)
    for packed in (zlib.compress(content), content):
        for path in files(tmp_path):
            path.write_bytes(kept_facts.FORMAT + kept_facts._seal(path.name, packed) + packed)
        assert trees(run, kept) == expected


def test_a_changed_copy_of_a_reply_has_not_the_facts_of_the_reply_and_leaves_none(
    run: tuple[Job, Replies], tmp_path: Path
) -> None:
    """The copy has the digest of the reply from which it was made."""
    job, came = run
    changed = {
        name: [replace(a, capture=None if a.capture is None else replace(a.capture)) for a in held]
        for name, held in came.items()
    }
    kept = KeptFacts(tmp_path)
    trees((job, changed), kept)
    assert files(tmp_path) == []


def test_a_bare_answer_has_not_the_facts_of_its_reply(run: tuple[Job, Replies], tmp_path: Path) -> None:
    job, came = run
    bare = {name: [replace(answer, capture=None) for answer in held] for name, held in came.items()}
    kept = KeptFacts(tmp_path)
    assert parsed((job, bare), kept) == [node.name for node in job.nodes if any(a.digest for a in came[node.name])]
    trees((job, bare), kept)
    assert files(tmp_path) == []


def test_two_processes_that_write_and_prune_at_once_leave_whole_files(run: tuple[Job, Replies], tmp_path: Path) -> None:
    expected = trees(run, KeptFacts(tmp_path))
    job, came = run
    node = job.nodes[0]
    answers = sorted(came[node.name], key=lambda answer: answer.plane)

    def work(number: int) -> None:
        kept = KeptFacts(tmp_path, budget=1 << 18)
        for turn in range(5):
            other = [replace(a, digest=a.digest and f"{number % 2}{turn}{a.digest}") for a in answers]
            assert kept.tree(job.plan, node, other, lambda: (expected[node.name], True)) == expected[node.name]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert all(len(path.name) == 48 for path in files(tmp_path)), "no unfinished file is left"


def test_the_files_are_the_users_alone(run: tuple[Job, Replies], tmp_path: Path) -> None:
    trees(run, KeptFacts(tmp_path / "facts"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path.is_dir()} == {0o700}


TEXTS = st.text(st.characters(), max_size=8)
READINGS = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
    TEXTS.map(Absent),
    st.builds(Unknown, st.sampled_from(list(Reason)), TEXTS),
)


@given(st.lists(READINGS, max_size=6))
def test_any_reading_is_kept_as_it_is(readings: list[object]) -> None:
    kind = Kind(Type.TEXT, "help")
    leaves = {f"a.b{n}": Leaf(each, kind, Plane.BMC, "source", "time") for n, each in enumerate(readings)}  # type: ignore[arg-type]
    tree = Tree(leaves, {Plane.OS: Unknown(Reason.DENIED, "no")})
    back = round_trip(tree)
    assert back == tree
    assert [repr(leaf.reading) for leaf in back.leaves.values()] == [repr(each) for each in readings]


def round_trip(tree: Tree) -> Tree:
    return kept_facts._tree(json.loads(json.dumps(kept_facts._form(tree))))


def test_every_kind_of_fact_is_kept_as_it_is() -> None:
    found = registry()
    kinds: Iterable[Kind] = [entry.kind for entry in found.catalogue.entries.values()]
    tree = Tree({f"a.b{n}": Leaf("", kind, Plane.OS, "", "") for n, kind in enumerate(kinds)})
    assert round_trip(tree) == tree


def test_a_command_prints_the_same_bytes_from_kept_facts_and_none_are_kept_if_the_user_turns_this_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    run = rack_runs.folder() / "first"
    monkeypatch.setenv(kept_facts.OFF, "0")
    without = rackcheck("runs", "show", run, "--json").out
    assert not (tmp_path / "cache" / "facts").exists()
    monkeypatch.delenv(kept_facts.OFF)
    assert rackcheck("runs", "show", run, "--json").out == without
    assert rackcheck("runs", "show", run, "--json").out == without
