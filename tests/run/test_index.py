"""The index: it agrees with the folders, loses nothing that it acknowledged, and is optional."""

import itertools
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_runs import events, made, stored

from rackcheck.base.user_error import UserError
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.change import STEADY
from rackcheck.model.fact import Class, Plane
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run import store
from rackcheck.run.index import file, pair, queries, rows, schema
from rackcheck.run.index.adding import Adder
from rackcheck.run.index.catching import catch_up, rebuild
from rackcheck.run.index.file import mount_of
from rackcheck.run.index.parts import canonical, difference, packed, patched, unpacked
from rackcheck.run.stored_facts import FactsWriter

FACTS = {
    "node.serial": ("identity", "S1"),
    "firmware.bmc": ("version", "1.0"),
    "sysctl.a": ("config", 1),
    "t": ("measurement", 7.5),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RACKCHECK_INDEX", raising=False)
    return tmp_path / "home"


def caught_up() -> list[tuple[object, ...]]:
    """The content of the index after catching up."""
    with file.opened(file.place()) as db:
        catch_up(db)
        return list(queries.logical(db))


def listed() -> list[dict[str, Any]]:
    done = rackcheck("runs", "list", "--json")
    assert done.status == 0
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def test_what_was_added_comes_back_whole() -> None:
    folder = made("r1", {"n1": FACTS, "n2": {**FACTS, "sysctl.a": ("config", 2)}}, {"n2": "b"})
    truth = pair.snaps(store.find(str(folder)))
    with file.opened(file.place()) as db:
        assert catch_up(db) == ()
        (run,) = queries.runs(db)
        contents = queries.Contents(db)
        for node, state in queries.states(db, run).items():
            assert contents.facts(state) == pair.facts(truth[node])
        day = queries.day(db, run, "b")
        assert day is not None
        assert day.nodes == {"pass": ("n1",), "fail": ("n2",)}


def test_facts_and_verdicts_that_come_apart_are_those_of_one_node() -> None:
    items = events("r", {"n1": FACTS, "n2": FACTS}, {"n2": "b"})
    later = [doc for doc in items if doc["event"] == "judged"]
    first = [doc for doc in items if doc["event"] not in {"judged", "run done"}]
    made("together", {"n1": FACTS, "n2": FACTS}, {"n2": "b"})
    stored("apart", [*first, *later, items[-1]])
    with file.opened(file.place()) as db:
        catch_up(db)
        apart, together = (queries.states(db, run) for run in sorted(queries.runs(db), key=lambda run: run.name))
    assert apart == together
    assert None not in apart["n1"].parts
    read = pair.snaps(store.find("apart"))
    assert {node: (pair.facts(s), pair.statuses(s), s.outcome) for node, s in read.items()} == {
        node: (pair.facts(s), pair.statuses(s), s.outcome) for node, s in pair.snaps(store.find("together")).items()
    }


def fleet(fails: dict[str, str]) -> Path:
    """A run as the program writes it: nodes of two kinds, most of them stored as differences from the first."""
    kind, writer = Kind(Type.INTEGER, ""), FactsWriter()
    docs = events("fleet", {f"n{n}": {} for n in range(8)}, fails)
    for number, doc in enumerate(one for one in docs if one["event"] == "facts"):
        name = "fan/{}.speed" if number % 3 else "psu/{}.speed"
        leaves = {name.format(n): Leaf(number if n == 7 else n, kind, Plane.OS, "/x") for n in range(12)}
        del doc["facts"]
        doc.update(writer.doc(doc["node"], Tree(leaves)))
    folder = stored("fleet", [])
    (folder / "events.jsonl").write_text("".join(json.dumps(doc, separators=(",", ":")) + "\n" for doc in docs))
    return folder


def test_two_nodes_of_a_run_are_read_without_the_others() -> None:
    folder = fleet({"n3": "a", "n6": "b"})
    source = pair.ComparedRun("fleet", (store.find("fleet"),))
    every = pair.merged(source)
    assert pair.names(source) == tuple(every)
    for two in itertools.combinations(every, 2):
        assert pair.merged(source, STEADY, two) == {node: every[node] for node in two}
    lines = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    assert sum('"like":' in line for line in lines) == 6
    others = [line for line in lines if '"n5"' in line and "run started" not in line]
    damaged = "".join(line.replace(":", ";").replace(";", ":", 2) if line in others else line for line in lines)
    (folder / "events.jsonl").write_text(damaged)
    assert pair.merged(source, STEADY, ("n3", "n4")) == {node: every[node] for node in ("n3", "n4")}
    with pytest.raises(UserError, match="line 17 is damaged"):
        pair.merged(source)


def test_neither_time_nor_source_nor_measurement_makes_another_part() -> None:
    made("r1", {"n1": FACTS})
    later = events("r2", {"n1": {**FACTS, "t": ("measurement", 99.0)}})
    for kept in later[2]["facts"].values():
        kept.update(time="2027-01-01T00:00:00Z", source="/elsewhere")
    stored("r2", later)
    caught_up()
    with file.opened(file.place()) as db:
        assert db.execute("SELECT count(*) FROM part").fetchone() == (len(STEADY),)


def test_catching_up_twice_changes_nothing_and_reads_nothing() -> None:
    made("r1", {"n1": FACTS})
    first, read = caught_up(), []
    with file.opened(file.place()) as db:
        catch_up(db, lambda done, of: read.append((done, of)))
        assert list(queries.logical(db)) == first
    assert read == []


def test_a_run_that_changed_is_read_again_and_one_that_is_gone_is_dropped() -> None:
    folder = made("r1", {"n1": FACTS})
    stored("r2", events("r2", {"n1": FACTS}, done=False))
    assert [row["verdict"] for row in listed()] == ["CUT OFF", "PASS"]
    made("r2", {"n1": FACTS}, {"n1": "a"})
    assert [row["verdict"] for row in listed()] == ["FAIL", "PASS"]
    (folder / "events.jsonl").unlink()
    (folder / "run.json").unlink()
    assert [row["run"] for row in listed()] == ["r2"]


def test_a_run_with_a_torn_last_line_is_cut_off_with_what_came_in() -> None:
    folder = made("r1", {"n1": FACTS, "n2": FACTS})
    whole = (folder / "events.jsonl").read_bytes()
    (folder / "events.jsonl").write_bytes(whole[:-300])
    (row,) = listed()
    assert row["verdict"] == "CUT OFF"
    with file.opened(file.place()) as db:
        (run,) = queries.runs(db)
        assert queries.states(db, run)["n1"].outcome == "PASS"
        assert queries.states(db, run)["n2"].outcome == ""


HOSTILE: list[dict[str, Any]] = [
    {"event": "facts", "node": "n1", "facts": {"a": {"value": [1], "plane": "os", "class": "config"}}},
    {"event": "facts", "node": "n1", "facts": {"A b": {"value": 1, "plane": "os", "class": "config"}}},
    {"event": "facts", "node": "n1", "facts": {"a": {"value": float("nan"), "plane": "os", "class": "config"}}},
    {"event": "facts", "node": "n1", "facts": {"a": {"value": float("inf"), "plane": "os", "class": "config"}}},
    {"event": "facts", "node": "n1", "facts": {"a": {"value": 1, "plane": "moon", "class": "config"}}},
    {"event": "facts", "node": "n1", "facts": {"a": {"value": 1, "plane": "os", "class": []}}},
    {"event": "facts", "node": "n1", "facts": {"a": 7}},
    {"event": "facts", "node": "n1", "facts": []},
    {"event": "facts", "node": "stranger", "facts": {}},
    {"event": "answered", "node": "n1", "plane": {}, "time": "t"},
    {"event": "judged", "node": "n1", "outcome": "PASS", "verdicts": [{"rule": ["x"], "status": "fail"}]},
    {"event": "judged", "node": "n1", "outcome": "PASS", "verdicts": [{"rule": "x", "status": "fine"}]},
    {"event": "judged", "node": "n1", "outcome": "PASS", "verdicts": [{"rule": "x\ud800", "status": "pass"}]},
    {"event": "judged", "node": "n1", "outcome": "PASS", "verdicts": [{"rule": "x", "status": "pass"}] * 2},
    {"event": "judged", "node": "n1", "outcome": "GREAT", "verdicts": []},
    {"event": "run done", "time": "t", "outcome": 7},
    {"event": "run started", "run": "r", "time": "t", "version": "", "profile": "", "profile_version": "", "digest": "", "targets": "", "nodes": ["n\x1b"], "planes": []},
]  # fmt: skip


@pytest.mark.parametrize("event", HOSTILE, ids=range(len(HOSTILE)))
def test_a_run_of_an_unknown_format_is_reported_by_its_line_and_the_others_are_listed(
    event: dict[str, Any],
) -> None:
    made("good", {"n1": FACTS})
    items = events("hostile", {"n1": FACTS})
    stored("hostile", [items[0], event, *items[1:]])
    for _ in range(2):  # the second time from the index, without reading the run
        done = rackcheck("runs", "list", "--json")
        assert [row["run"] for row in json.loads(done.out)] == ["good"]
        assert "line 2, an event" in done.err


@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=4),
            lambda c: (
                st.lists(c, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["event", "node", "facts", "judged", "n1", "verdicts", "value"]), c, max_size=4
                )
            ),
            max_leaves=12,
        ),
        max_size=4,
    )
)
@settings(max_examples=60)
def test_nonsense_in_a_run_never_breaks_the_list(nonsense: list[Any]) -> None:
    items = events("r1", {"n1": FACTS})
    stored(
        "r1", [*items[:2], *({"event": "facts", "node": "n1", "facts": one} for one in nonsense), *nonsense, *items[2:]]
    )
    done = rackcheck("runs", "list", "--json")
    assert done.status == 0
    assert len(json.loads(done.out)) + len(done.err.splitlines()) == 1


def test_more_nodes_than_any_run_has_are_refused_before_they_cost_memory() -> None:
    items = events("r1", {"n1": FACTS})
    items[0]["nodes"] = ["n"] * (rows.NODES + 1)
    stored("r1", items)
    assert f"{rows.NODES + 1} nodes" in rackcheck("runs", "list").err


def test_a_damaged_index_is_reported_the_list_is_read_from_the_folders_and_rebuild_repairs_it() -> None:
    for number in range(40):
        made(f"r{number:02}", {"n1": {**FACTS, "x": ("config", "y" * 3000 + str(number))}})
    before, place = caught_up(), file.place()
    whole = bytearray(place.read_bytes())
    draw = random.Random(5)
    for start in (0, 100, 4096):
        whole[start : start + 3000] = draw.randbytes(3000)
        place.write_bytes(whole)
        done = rackcheck("runs", "list", "--json")
        assert len(json.loads(done.out)) == 40
        assert "rackcheck runs rebuild" in done.err
    assert rackcheck("runs", "rebuild").status == 0
    assert caught_up() == before
    assert rackcheck("runs", "list").err == ""


def test_an_index_of_a_newer_rackcheck_is_refused_and_the_list_is_read_from_the_folders() -> None:
    made("r1", {"n1": FACTS})
    caught_up()
    with sqlite3.connect(file.place()) as db:
        db.execute(f"PRAGMA user_version = {len(schema.STEPS) + 1}")
    db.close()
    with pytest.raises(file.Unusable, match="newer rackcheck"), file.opened(file.place()):
        pass
    done = rackcheck("runs", "list", "--json")
    assert [row["run"] for row in json.loads(done.out)] == ["r1"]
    assert "newer rackcheck" in done.err


def test_another_programs_database_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(tmp_path / "theirs.db") as db:
        db.execute("CREATE TABLE mail(x)")
    db.close()
    was = (tmp_path / "theirs.db").read_bytes()
    monkeypatch.setenv("RACKCHECK_INDEX", str(tmp_path / "theirs.db"))
    made("r1", {"n1": FACTS})
    assert "another program's database" in rackcheck("runs", "list").err
    assert (tmp_path / "theirs.db").read_bytes() == was


def test_an_index_of_the_first_step_is_brought_up_with_its_rows() -> None:
    made("r1", {"n1": FACTS}, {"n1": "a"})
    place = file.place()
    db = sqlite3.connect(place, isolation_level=None)
    schema.migrate(db, schema.STEPS[:1])
    db.execute("INSERT INTO node(name) VALUES('n1')")
    db.execute("INSERT INTO run VALUES(1, 'r1', 't', 'p', '', 'all', 1, 'FAIL', 0, 5, 5)")
    db.execute("INSERT INTO snap VALUES(1, 1, 1, NULL, NULL, NULL)")
    db.close()
    with file.opened(place) as db:
        (run,) = queries.runs(db)
        assert (run.name, run.outcome, queries.states(db, run)["n1"].outcome) == ("r1", "FAIL", "FAIL")
        catch_up(db)
        (run,) = queries.runs(db)
        assert run.fails == 1


def test_a_second_writer_waits_for_the_first_and_reports_when_it_gives_up() -> None:
    made("r1", {"n1": FACTS})
    caught_up()
    made("r2", {"n1": FACTS})
    with file.opened(file.place()) as first:
        first.execute("BEGIN IMMEDIATE")
        with (
            pytest.raises(file.Unusable, match="is locked: another rackcheck"),
            file.opened(file.place(), 0.1) as second,
        ):
            catch_up(second)
        with file.opened(file.place(), 0.1) as reader:
            assert [run.name for run in queries.runs(reader)] == ["r1"]
        first.execute("ROLLBACK")
    assert len(caught_up()) == 2


CATCHING = """
import sys
from rackcheck.run.index import catching, file
with file.opened(file.place()) as db:
    catching.catch_up(db)
"""


def test_two_writers_at_once_make_the_index_that_one_makes() -> None:
    for number in range(30):
        made(f"r{number:02}", {f"n{n}": {**FACTS, "node.serial": ("identity", f"S{n}")} for n in range(20)})
    both = [subprocess.Popen([sys.executable, "-c", CATCHING]) for _ in range(2)]
    assert [one.wait(120) for one in both] == [0, 0]
    grown = caught_up()
    rebuild(file.place())
    assert caught_up() == grown
    assert len(grown) == 30 * 20


@pytest.mark.parametrize("where", ["file/index.sqlite", "folder"])
def test_an_index_that_cannot_be_made_leaves_the_list(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("RACKCHECK_INDEX", str(tmp_path / where))
    made("r1", {"n1": FACTS})
    done = rackcheck("runs", "list", "--json")
    assert [row["run"] for row in json.loads(done.out)] == ["r1"]
    assert len(done.err.splitlines()) == 1


def test_a_full_disk_loses_nothing_that_was_acknowledged() -> None:
    made("r0", {"n1": FACTS})
    caught_up()
    for number in range(1, 30):
        noise = random.Random(number).randbytes(3000).hex()
        made(f"r{number:02}", {"n1": {**FACTS, "x": ("config", noise)}})
    room = file.place().stat().st_size + 60_000

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    words = [sys.executable, "-m", "rackcheck", "runs", "list", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=small, check=False)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)) == 30
    assert "or use a path on a local disk" in done.stderr
    assert len(caught_up()) == 30
    with file.opened(file.place()) as db:
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)


def test_a_run_that_is_damaged_at_its_end_leaves_nothing_of_it() -> None:
    made("r1", {"n1": FACTS})
    first = caught_up()
    items = events("r2", {"n1": {**FACTS, "sysctl.a": ("config", 5)}})
    items[-1]["outcome"] = "GREAT"
    with file.opened(file.place()) as db:
        with pytest.raises(UserError, match="is damaged"):
            Adder(db).add("r2", rows.indexed_events(store.find(str(stored("r2", items)))), 1, 1)
        assert list(queries.logical(db)) == first


ADDING = """
import os, sys
from rackcheck.run import store
from rackcheck.run.index import file, rows
from rackcheck.run.index.adding import Adder
with file.opened(file.place()) as db:
    adder = Adder(db)
    for name in store.ids()[int(sys.argv[1]):]:
        folder = store.runs_folder() / name
        stat = (folder / "events.jsonl").stat()
        adder.add(name, rows.indexed_events(store.find(str(folder))), stat.st_size, stat.st_mtime_ns)
        os.write(1, name.encode() + b"\\n")
"""


@pytest.mark.slow
def test_kill_9_loses_no_run_that_was_acknowledged_and_shows_no_half_of_one() -> None:
    nodes = 40
    for number in range(1500):
        serials = {f"n{n}": {**FACTS, "node.serial": ("identity", f"S{n}-{number % 7}")} for n in range(nodes)}
        made(f"r{number:04}", serials)
    draw, acknowledged = random.Random(3), set[str]()
    for _ in range(20):
        child = subprocess.Popen([sys.executable, "-c", ADDING, str(len(acknowledged))], stdout=subprocess.PIPE)
        assert child.stdout is not None
        first = child.stdout.readline()
        time.sleep(draw.random() * 0.3)
        child.send_signal(signal.SIGKILL)
        items = (first + child.communicate()[0]).decode().splitlines(keepends=True)
        acknowledged |= {line.strip() for line in items if line.endswith("\n")}
        with file.opened(file.place()) as db:
            assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
            there = dict(
                db.execute("SELECT run.name, count(*) FROM run JOIN snap ON snap.run = run.id GROUP BY run.id")
            )
            assert set(there.values()) <= {nodes}
            assert acknowledged <= there.keys()
            assert db.execute("SELECT count(*) FROM snap WHERE run NOT IN (SELECT id FROM run)").fetchone() == (0,)
    assert len(acknowledged) > 20
    grown = caught_up()
    rebuild(file.place())
    assert caught_up() == grown
    assert len(grown) == 1500 * nodes


DOCS = st.dictionaries(
    st.text(max_size=3),
    st.fixed_dictionaries(
        {"value": st.booleans() | st.integers(0, 1) | st.sampled_from([0.0, 1.0]) | st.text(max_size=3)}
    ),
    max_size=8,
)


@given(DOCS, DOCS)
def test_a_difference_laid_on_its_base_is_the_part_to_the_byte(docs: Any, base: Any) -> None:
    back = patched(base, unpacked(packed(difference(docs, base))))
    assert canonical(back) == canonical(docs)


@pytest.mark.parametrize("data", [b"", b"nonsense", packed(b"x"), packed(b"[" * 100_000)])
def test_a_damaged_part_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"end|invalid|incomplete|Expecting|recursion"):
        unpacked(data)


def test_a_node_that_differs_by_its_serial_costs_tens_of_bytes() -> None:
    common = {f"sysctl.k{n}": ("config", f"value {n}") for n in range(700)}
    names = {f"nic/eth{n}.vendor": ("identity", "maker") for n in range(100)}
    made("r1", {f"n{n}": {**common, **names, "node.serial": ("identity", f"SN{n:06}")} for n in range(50)})
    caught_up()
    with file.opened(file.place()) as db:
        sizes = [
            n for (n,) in db.execute("SELECT length(data) FROM part WHERE class = 'identity' AND base IS NOT NULL")
        ]
    assert len(sizes) == 49
    assert max(sizes) < 100


MOUNTS = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:44 / /home rw,relatime shared:2 - autofs systemd-1 rw,fd=31,pgrp=1,timeout=0
31 30 0:45 / /home rw,relatime shared:3 master:4 - nfs4 filer.example:/export/home rw,vers=4.2
32 27 254:0 /srv/local /home/user/local rw - ext4 /dev/vda rw
33 27 0:50 / /mnt/a\\040share rw - cifs //filer/a\\040share rw
34 27 0:51 / /lustre rw - lustre 10.0.0.1@o2ib:/scratch rw
35 27 0:52 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/u
36 27 0:53 / /fuse rw - fuse.sshfs me@host:/dir rw
37 27 0:54 /sub /bound rw - nfs filer:/export rw
38 27 0:55 / /homes rw - xfs /dev/sdb rw
39 27 0:56 / /pool rw - zfs tank/data rw
torn line
"""


@pytest.mark.parametrize(
    ("path", "point", "network"),
    [
        ("/var/lib/x", "/", False), ("/home/user/x", "/home", True), ("/home/user/local/x", "/home/user/local", False),
        ("/mnt/a share/x", "/mnt/a share", True), ("/lustre/x", "/lustre", True), ("/merged/x", "/merged", False),
        ("/fuse/x", "/fuse", True), ("/bound/x", "/bound", True), ("/homes/x", "/homes", False), ("/pool/x", "/pool", False),
    ],
)  # fmt: skip
def test_a_path_lies_on_the_last_and_longest_mount_above_it(path: str, point: str, network: bool) -> None:
    mount = mount_of(path, MOUNTS)
    assert mount is not None
    assert (mount.point, mount.network) == (point, network)


def test_a_network_file_system_is_refused_with_its_place_its_type_and_the_way_out() -> None:
    output = file.refused(Path("/lustre/home/index.sqlite"), MOUNTS)
    assert "on /lustre, a network file system (lustre)" in output
    assert "RACKCHECK_INDEX=/local/path" in output
    assert file.refused(Path("/var/lib/index.sqlite"), MOUNTS) == ""


@given(st.text(max_size=200))
def test_no_text_of_mounts_breaks_the_reading(text: str) -> None:
    mount_of("/x", text)


def test_counters_and_measurements_never_enter_the_index() -> None:
    made("r1", {"n1": {**FACTS, "errors": ("counter", 5)}})
    caught_up()
    with file.opened(file.place()) as db:
        contents = queries.Contents(db)
        items = [contents.part(n) for (n,) in db.execute("SELECT id FROM part")]
        kinds = {cls for (cls,) in db.execute("SELECT class FROM part")}
    assert kinds == {cls.value for cls in STEADY}
    assert not {"t", "errors"} & {path for docs in items for path in docs}
    assert Class.COUNTER not in STEADY


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_leaves_the_list(home: Path) -> None:
    made("r1", {"n1": FACTS})
    home.chmod(0o555)
    try:
        assert [row["run"] for row in listed()] == ["r1"]
    finally:
        home.chmod(0o755)


# ---- folders that may not be read ------------------------------------------------------------------------------------


@pytest.fixture
def open_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of runs in a folder that any user may enter, with two runs in the index."""
    place = Path(tempfile.mkdtemp(prefix="rackcheck-test-"))
    place.chmod(0o755)
    monkeypatch.setenv("RACKCHECK_HOME", str(place / "home"))
    made("r1", {"n1": FACTS})
    made("r2", {"n1": FACTS})
    assert [row["run"] for row in listed()] == ["r2", "r1"]
    rackcheck("runs", "show", "last")  # loads its modules, which another user may not be able to read
    yield place / "home"
    shutil.rmtree(place)


@contextmanager
def shut(folder: Path, mode: int = 0) -> Iterator[None]:
    """Remove a folder's permissions, and root's right to bypass them."""
    before, root = folder.stat().st_mode & 0o777, os.geteuid() == 0
    folder.chmod(mode)
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(before)


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["show", "last"], ["show", "r1"]])
@pytest.mark.parametrize(("name", "mode"), [("runs", 0), ("runs", 0o111), (".", 0), (".", 0o444)])
def test_an_unreadable_folder_is_named_and_never_reported_as_empty(
    open_home: Path, words: list[str], name: str, mode: int
) -> None:
    with shut(open_home / name, mode):
        done = rackcheck("runs", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err == f"rackcheck: cannot read {open_home / name}: Permission denied\n"


def test_an_unreadable_run_is_reported_and_stays_in_the_index(open_home: Path) -> None:
    with file.opened(file.place()) as db:
        before = list(queries.logical(db))
    with shut(open_home / "runs" / "r2"):
        done, show = rackcheck("runs", "list", "--json"), rackcheck("runs", "show", "r2")
    denied = f"cannot read {open_home}/runs/r2: Permission denied"
    assert denied in done.err
    assert "r1" in [row["run"] for row in json.loads(done.out)]
    assert (show.status, show.err) == (2, f"rackcheck: {denied}\n")
    with file.opened(file.place()) as db:
        catch_up(db)
        assert list(queries.logical(db)) == before


def test_who_may_not_read_the_runs_takes_none_of_them_out_of_the_index(open_home: Path) -> None:
    with file.opened(file.place()) as db:
        before = list(queries.logical(db))
        with shut(open_home / "runs"), pytest.raises(UserError, match=r"cannot read .*/runs: Permission denied"):
            catch_up(db)
        assert list(queries.logical(db)) == before
