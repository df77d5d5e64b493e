"""Facts kept on disk are those that the replies give: whatever happens to the files, no fact is another one."""

import gzip
import json
import math
import os
import re
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
from mockup_server import WatchedRack as Rack

from rackcheck.base import program
from rackcheck.base.sealed_file import SEAL, seal
from rackcheck.base.user_error import UserError
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Facts, Plane, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.run import kept_facts, store
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.run.kept_facts import KeptFacts
from rackcheck.run.kept_form import difference, form, restored
from rackcheck.run.kept_replies import kept_replies
from rackcheck.session.stored import stored_job
from rackcheck.sim import scenario

Replies = dict[str, list[Answered]]


@pytest.fixture(scope="module")
def run() -> tuple[Job, Replies]:
    """The job of a stored run of three nodes, and the replies of each node."""
    stored = store.find(str(rack_runs.folder() / "first"))
    came: Replies = {}
    for answer in stored.answers():
        came.setdefault(answer.node, []).append(answer)
    return stored_job(stored), came


def forget_trees() -> None:
    """Parse the replies again, as a new process would."""
    for reply in kept_replies._replies.values():
        reply.trees.clear()


def trees(run: tuple[Job, Replies], kept: KeptFacts | None) -> dict[str, Tree]:
    """The facts of all nodes, as a new process would read them."""
    job, came = run
    forget_trees()
    return {node.name: tree_of(replace(job, kept=kept), node, came[node.name]) for node in job.nodes}


def parsed(run: tuple[Job, Replies], kept: KeptFacts) -> list[str]:
    """The nodes whose facts are not in the files, so that their replies would be parsed."""
    job, came = run
    missing: list[str] = []

    def read(name: str) -> Tree:
        missing.append(name)
        return Tree({}, failed=("this test",))

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


def test_a_changed_reply_is_found_although_its_file_was_unchanged_when_it_was_last_used(tmp_path: Path) -> None:
    folder = shutil.copytree(rack_runs.folder() / "first", tmp_path / "run")
    kept = KeptFacts(tmp_path / "facts")

    def read() -> dict[str, Tree]:
        stored, found = store.find(str(folder)), {}
        job = stored_job(stored)
        came: Replies = {}
        for answer in stored.answers():
            came.setdefault(answer.node, []).append(answer)
        for node in job.nodes:
            found[node.name] = kept.tree(job.plan, node, came[node.name], partial(tree_of, job, node, came[node.name]))
        return found

    expected = read()
    written = {path: path.read_bytes() for path in files(tmp_path / "facts")}
    assert read() == expected
    sealed = {path: path.read_bytes() for path in files(tmp_path / "facts")}
    assert sealed.keys() == written.keys()
    assert all(sealed[path] != written[path] for path in written), "no seals were added to the facts"
    assert read() == expected
    assert {path: path.read_bytes() for path in files(tmp_path / "facts")} == sealed
    for raw in files(folder / "raw"):
        whole = raw.read_bytes()
        raw.write_bytes(gzip.compress(gzip.decompress(whole), 9))
        assert read() == expected, "another compression of the same reply"
        for at in (0, 12, len(whole) // 2, len(whole) - 1):
            raw.write_bytes(damaged(whole, at))
            with pytest.raises(UserError, match=r"raw answer|digest"):
                read()
        raw.unlink()
        with pytest.raises(UserError, match="raw answer"):
            read()
        raw.write_bytes(whole)


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
    return Tree({"a.b": Leaf(reading, Kind(Type.TEXT, "help"), Plane.OS, "file")})  # type: ignore[arg-type]


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


def test_the_files_that_were_not_used_for_longest_give_way(
    run: tuple[Job, Replies], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees(run, KeptFacts(tmp_path))
    sizes = {path: path.stat().st_size for path in files(tmp_path)}
    for age, path in enumerate(sizes):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    newest = next(iter(sizes))
    job, came = run
    node = job.nodes[0]
    monkeypatch.setattr(kept_facts, "PRUNE_EACH", 1)
    held = KeptFacts(tmp_path, budget=sum(sizes.values()) // 2)
    answers = [replace(answer, digest=64 * "1") for answer in came[node.name]]
    held.tree(job.plan, node, answers, lambda: one("new"))
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
    keys = keys_of(run, kept)
    for packed in (zlib.compress(content), content):
        for path in files(tmp_path):
            path.write_bytes(kept_facts.FORMAT + seal(keys[path], packed) + packed)
        assert trees(run, kept) == expected


def keys_of(run: tuple[Job, Replies], kept: KeptFacts) -> dict[Path, str]:
    """The keys of the files that have the facts of a run, by file."""
    job, came = run
    answers = {node: sorted(came[node.name], key=lambda answer: answer.plane) for node in job.nodes}
    keys = [kept_facts._key(job.plan, node, held) for node, held in answers.items()]
    return {kept.files.path(key): key for key in keys if key is not None}


def content_of(path: Path) -> dict[str, object]:
    found = json.loads(zlib.decompress(path.read_bytes()[len(kept_facts.FORMAT) + SEAL :]))
    assert isinstance(found, dict)
    return found


def base_of(path: Path) -> str:
    return str(content_of(path)["base"])


def test_the_facts_of_similar_nodes_are_stored_as_differences_from_one_of_them(
    run: tuple[Job, Replies], tmp_path: Path
) -> None:
    expected = trees(run, KeptFacts(tmp_path))
    keys = keys_of(run, KeptFacts(tmp_path))
    bases = {keys[path]: base_of(path) for path in files(tmp_path)}
    assert 0 < sum(map(bool, bases.values())) < len(bases)
    assert {base for base in bases.values() if base} <= {name for name, base in bases.items() if not base}
    for kept in (KeptFacts(tmp_path), KeptFacts(tmp_path)):
        assert parsed(run, kept) == []
        assert trees(run, kept) == expected


@pytest.mark.parametrize("harm", ["missing", "cut", "another", "itself a difference"])
def test_a_difference_from_a_base_that_is_missing_or_another_is_not_used(
    harm: str, run: tuple[Job, Replies], tmp_path: Path
) -> None:
    expected = trees(run, KeptFacts(tmp_path))
    near = next(path for path in files(tmp_path) if base_of(path))
    base = KeptFacts(tmp_path).files.path(base_of(near))
    match harm:
        case "missing":
            base.unlink()
        case "cut":
            base.write_bytes(base.read_bytes()[:-1])
        case "another":
            base.write_bytes(near.read_bytes())
        case _:
            packed = zlib.compress(json.dumps({**content_of(base), "base": 48 * "a"}).encode())
            base.write_bytes(kept_facts.FORMAT + seal(base_of(near), packed) + packed)
    kept = KeptFacts(tmp_path)
    assert len(parsed(run, kept)) >= 2, "the node and its base"
    assert trees(run, kept) == expected
    assert trees(run, KeptFacts(tmp_path)) == expected
    assert parsed(run, KeptFacts(tmp_path)) == []


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
            assert kept.tree(job.plan, node, other, lambda: expected[node.name]) == expected[node.name]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert all(re.fullmatch(r"[0-9a-f]{40}", path.name) for path in files(tmp_path)), "no unfinished file is left"


@pytest.mark.parametrize("more", [(), ("--again", "1")])
def test_the_first_command_after_an_audit_finds_its_facts_and_prints_what_it_would_without_them(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    (tmp_path / "rack.yaml").write_text(
        "rackcheck: 1\nscenario: three\nnodes: { 'n[1-3]': { machine: dgx-h100 } }\nfaults:\n"
        "  - { nodes: n1, fault: gpu-missing, gpu: 3 }\n  - { nodes: n2, fault: closed-bmc }\n"
    )
    with Rack(scenario.load(tmp_path / "rack.yaml"), tmp_path) as rack:
        done = rackcheck("audit", "-i", rack.inventory, "-p", "h100-dgx", "-q", "-o", tmp_path / "run", *more)
        assert done.status in {1, 3}, done.err
    run = store.find(str(tmp_path / "run"))
    came: Replies = {}
    for answer in run.answers():
        came.setdefault(answer.node, []).append(answer)
    job = replace(stored_job(run), again=None)
    kept = kept_facts.kept_facts()
    assert kept is not None
    assert len(files(kept.folder)) == 3
    first = {name: [answer for answer in held if answer.reading == 1] for name, held in came.items()}
    assert parsed((job, first), kept) == []
    assert trees((job, first), kept) == trees((job, first), None)
    with_facts = rackcheck("runs", "show", tmp_path / "run", "--json").out
    monkeypatch.setenv(kept_facts.OFF, "0")
    assert rackcheck("runs", "show", tmp_path / "run", "--json").out == with_facts


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


LEAVES = st.builds(
    Leaf,
    READINGS,
    st.sampled_from([Kind(Type.TEXT, "help"), Kind(Type.COLLECTION, "items")]),
    st.sampled_from([Plane.OS, Plane.BMC]),
    st.sampled_from(["one", "other"]),
)
PATHS = st.sampled_from([*(f"a.b{n}" for n in range(6)), "c", "c/1.d", "c/2.d", 'c/2.e/"x.y".d'])
TREES = st.builds(
    lambda leaves, silent, times: Tree(leaves, silent, times=times),
    st.dictionaries(PATHS, LEAVES, max_size=9),
    st.dictionaries(st.sampled_from(list(Plane)), st.builds(Unknown, st.sampled_from(list(Reason)), TEXTS), max_size=2),
    st.dictionaries(st.sampled_from(list(Plane)), TEXTS, max_size=3),
)


@given(TREES)
def test_any_tree_is_kept_as_it_is(tree: Tree) -> None:
    alike(round_trip(tree), tree)


@given(TREES, TREES, st.integers(0, 9))
def test_any_tree_is_kept_as_a_difference_from_any_other(base: Tree, other: Tree, own: int) -> None:
    """`own` leaves are those of another node, the others those of the base."""
    leaves = {**base.leaves, **dict(list(other.leaves.items())[:own])}
    tree = Tree(leaves, other.silent, times=other.times)
    back = round_trip(tree, base)
    alike(back, tree)
    alike(round_trip(base), base)


@given(TREES, TREES)
def test_a_difference_is_used_only_if_it_is_less_than_half_and_in_the_same_order(base: Tree, tree: Tree) -> None:
    change = difference(base, tree)
    shared = [path for path, leaf in tree.leaves.items() if repr(base.leaves.get(path)) == repr(leaf)]
    lost = [path for path in base.leaves if path not in tree.leaves]
    changed = len(tree.leaves) - len(shared)
    both = [path for path in base.leaves if path in tree.leaves]
    ordered = both == [path for path in tree.leaves if path in base.leaves]
    assert (change is not None) is (2 * (changed + len(lost)) <= len(tree.leaves) and ordered)
    if change is not None:
        assert sorted(change.changed) == sorted(path for path in tree.leaves if path not in shared)


def alike(one: Tree, other: Tree) -> None:
    """Compare also what `==` does not: types of numbers, and the sign of a zero."""
    assert one == other
    assert (one.times, one.items, list(one.leaves)) == (other.times, other.items, list(other.leaves))
    assert {path: repr(leaf) for path, leaf in one.leaves.items()} == {
        path: repr(leaf) for path, leaf in other.leaves.items()
    }


def round_trip(tree: Tree, base: Tree | None = None) -> Tree:
    change = None if base is None else difference(base, tree)
    near = None if change is None else base
    return restored(json.loads(json.dumps(form(tree, near, change))), near)


def test_every_kind_of_fact_is_kept_as_it_is() -> None:
    found = registry()
    kinds: Iterable[Kind] = [entry.kind for entry in found.catalogue.entries.values()]
    tree = Tree({f"a.b{n}": Leaf("", kind, Plane.OS, "") for n, kind in enumerate(kinds)})
    assert round_trip(tree) == tree


def test_a_command_prints_the_same_bytes_from_kept_facts_and_none_are_kept_if_the_user_turns_this_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = rack_runs.folder() / "first"  # before the folder is set: the runs may be made now, and their facts kept
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    monkeypatch.setenv(kept_facts.OFF, "0")
    without = rackcheck("runs", "show", run, "--json").out
    assert not (tmp_path / "cache" / "facts").exists()
    monkeypatch.delenv(kept_facts.OFF)
    assert rackcheck("runs", "show", run, "--json").out == without
    assert rackcheck("runs", "show", run, "--json").out == without


def test_what_the_facts_of_all_nodes_depend_on_is_computed_once(run: tuple[Job, Replies]) -> None:
    """It is known by the identity of the plan, which a job must therefore not make for each node."""
    job = run[0]
    assert job.asked is job.asked
    assert kept_facts._plan_parts.of(job.asked, "code") is kept_facts._plan_parts.of(job.asked, "code")
