"""An acceptance's log is untrusted input: it is read completely or gives one error; recorded statements stay valid."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command import Done, rackcheck
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rack_runs import accepted, copied, edited, folder

from rackcheck.base.user_error import UserError
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance

HEAD: dict[str, Any] = {
    "time": "2026-11-21T00:00:00Z", "by": "jo", "version": "1",
    "profile": {"name": "p", "version": "1", "digest": "0" * 64, "set": {"driver": "1"}},
    "inventory": {"origin": "x", "digest": "0" * 64},
    "planes": ["bmc", "os"],
    "nodes": [{"name": "n1", "role": "compute", "host": "", "bmc": "", "rack": "", "u": 0, "height": 1, "slot": ""}],
}  # fmt: skip
ADDED = {
    "event": "run added",
    "time": "t",
    "by": "jo",
    "folder": "/x",
    "digest": "1" * 64,
    "kind": "audit",
    "note": "é",
}
WAIVED = {"event": "waivers", "time": "t", "by": "jo", "files": {"w.yaml": "2" * 64}}
SIGNED = {"event": "signed", "time": "t", "manifest": "3" * 64, "party": "customer", "name": "Jo"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home" / "acceptances"


def begun(name: str = "pod") -> Acceptance:
    return acceptance.create(name, HEAD, {"p.yaml": "x"})


def grown() -> Acceptance:
    """An acceptance whose log has every kind of event."""
    found = begun()
    acceptance.append(found.folder, {**ADDED, "run": "r1"})
    acceptance.append(found.folder, WAIVED)
    acceptance.append(
        found.folder, {"event": "bundle", "time": "t", "level": "full", "folder": "/b", "digest": "4" * 64}
    )
    acceptance.append(found.folder, SIGNED)
    acceptance.append(found.folder, {**ADDED, "run": "r2"})
    return acceptance.read(found.folder)


def mistaken(done: Done, output: str = "") -> None:
    """One line of error, and no traceback."""
    assert done.status == 2, done.err
    assert "Traceback" not in done.err
    assert output in done.err


# ---- content of the log ----------------------------------------------------------------------------------------------


def test_the_state_is_read_from_the_log() -> None:
    found = begun()
    assert (found.state, found.runs, found.profile.read_text()) == ("draft", (), "x")
    acceptance.append(found.folder, {**ADDED, "run": "r1"})
    acceptance.append(found.folder, SIGNED)
    assert acceptance.find("pod").state == "signed"
    acceptance.append(found.folder, WAIVED)
    assert acceptance.find("pod").state == "draft"
    acceptance.append(found.folder, SIGNED)
    acceptance.append(found.folder, {"event": "superseded", "time": "t", "by": "pod2"})
    assert (acceptance.find("pod").state, acceptance.find("pod").superseded) == ("superseded", "pod2")


def test_what_was_added_is_what_is_read() -> None:
    found = grown()
    assert [(m.run, m.digest, m.kind, m.note) for m in found.runs] == [
        ("r1", "1" * 64, "audit", "é"), ("r2", "1" * 64, "audit", "é"),
    ]  # fmt: skip
    assert found.waivers == {"w.yaml": "2" * 64}
    assert (found.bundles, found.earlier) == ({}, {"full": "/b"})  # a run came after it


@pytest.mark.parametrize("name", ["../x", "", ".", "..", "a/b", "-a", ".new-1", "a" * 82, "last", "a\nb", "é", "a\0"])
def test_a_name_leads_nowhere_else(name: str) -> None:
    with pytest.raises(UserError, match=r"not a valid name|too long"):
        acceptance.create(name, HEAD, {})
    assert not acceptance.is_one(name)
    with pytest.raises(UserError, match="no acceptance"):
        acceptance.find(name)


def test_a_name_is_used_only_once() -> None:
    begun()
    with pytest.raises(UserError, match="already exists"):
        begun()
    assert acceptance.names() == ["pod"]


def test_a_copy_under_another_name_is_not_another_acceptance(home: Path) -> None:
    begun()
    (home / "pod").rename(home / "pod2")
    with pytest.raises(UserError, match="the log of another acceptance: pod"):
        acceptance.find("pod2")


# ---- a log that was damaged ------------------------------------------------------------------------------------------


def test_a_torn_last_line_was_never_acknowledged_wherever_it_was_torn() -> None:
    found = grown()
    log = found.folder / acceptance.LOG
    whole = log.read_bytes()
    *_, last = whole.splitlines(keepends=True)
    log.write_bytes(whole[: -len(last)])
    before = acceptance.read(found.folder)
    for cut in range(1, len(last)):
        log.write_bytes(whole[:-cut])
        assert acceptance.read(found.folder) == before, cut
        acceptance.append(found.folder, json.loads(last))
        assert log.read_bytes() == whole, cut


def test_every_log_that_was_cut_anywhere_is_the_lines_before_or_one_error() -> None:
    found = grown()
    log = found.folder / acceptance.LOG
    whole = log.read_bytes()
    first = whole.index(b"\n")
    for cut in range(len(whole)):
        log.write_bytes(whole[:cut])
        if cut <= first:
            with pytest.raises(UserError, match="contains no complete event"):
                acceptance.read(found.folder)
        else:
            assert len(acceptance.read(found.folder).runs) == whole[:cut].count(b'"r1"}\n') + whole[:cut].count(
                b'"r2"}\n'
            )


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_byte_is_one_error_or_a_log_that_can_be_used(home: Path, data: st.DataObject) -> None:
    found = acceptance.read(home / "pod") if (home / "pod").is_dir() else grown()
    log = found.folder / acceptance.LOG
    whole = log.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :]
    try:
        log.write_bytes(flipped)
        used(acceptance.read(found.folder))
    except UserError as error:
        assert str(error)
    finally:
        log.write_bytes(whole)


def used(found: Acceptance) -> None:
    """Use all content of a log in the ways that commands do."""
    assert found.state in {"draft", "signed", "superseded"}
    assert found.profile.parent == found.folder / "profile"
    assert all(isinstance(node["name"], str) for node in found.nodes)
    assert all(isinstance(value, str) for value in found.head["profile"]["set"].values())
    assert all(
        (found.folder / "waivers" / d[:16] / n).parent.parent.name == "waivers" for n, d in found.waivers.items()
    )
    assert all(isinstance(text, str) for sign in found.signed for text in sign.values())
    str(found.head["inventory"]["digest"] + found.head["profile"]["digest"] + found.head["time"])


SHAPES = st.sampled_from([None, True, 0, "", "../x", "0" * 64, [], {}, ["x"], {"name": 1}, {"x": None}])


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 5), st.data())
def test_any_shape_in_any_place_is_one_error_or_a_log_that_can_be_used(
    home: Path, line: int, data: st.DataObject
) -> None:
    found = acceptance.read(home / "pod") if (home / "pod").is_dir() else grown()
    log = found.folder / acceptance.LOG
    whole = log.read_text()
    docs = [json.loads(text) for text in whole.splitlines()]
    at: Any = docs[line]
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if isinstance(at[key], (dict, list)) and at[key] and data.draw(st.booleans()):
            at = at[key]
            continue
        if isinstance(at, dict) and data.draw(st.booleans()):
            del at[key]
        else:
            at[key] = data.draw(SHAPES)
        break
    try:
        log.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
        used(acceptance.read(found.folder))
    except UserError as error:
        assert str(error)
    finally:
        log.write_text(whole)


@pytest.mark.parametrize(
    "line", ["[]", "1", "null", '"x"', "{}", "", "[" * 100_000, '{"event": "nonsense"}', '{"event": []}']
)
def test_a_line_that_is_no_event_is_one_error_with_its_number(line: str) -> None:
    found = grown()
    log = found.folder / acceptance.LOG
    log.write_text(log.read_text() + line + "\n")
    with pytest.raises(UserError, match="line 7 is damaged"):
        acceptance.read(found.folder)
    mistaken(rackcheck("accept", "show", "pod"), "line 7 is damaged")
    mistaken(rackcheck("report", "pod"), "line 7 is damaged")
    listed = rackcheck("accept", "show")
    assert (listed.status, listed.out) == (0, "")
    assert "line 7 is damaged" in listed.err


# ---- several at once, and those that are killed ----------------------------------------------------------------------

WRITE = """
import sys
from pathlib import Path
from rackcheck.signoff import acceptance
for n in range(int(sys.argv[3])):
    acceptance.append(Path(sys.argv[1]), {"event": "run added", "time": "t", "folder": "/x" * 3000, "digest": "1" * 64,
        "kind": "audit", "run": f"{sys.argv[2]}-{n}"})
    print(n, flush=True)
"""


def writer(found: Acceptance, name: str, count: int) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", WRITE, str(found.folder), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_several_writers_lose_no_line() -> None:
    found = begun()
    writers = [writer(found, name, 25) for name in "abcd"]
    assert [one.communicate() and one.returncode for one in writers] == [0] * 4
    assert sorted(m.run for m in acceptance.read(found.folder).runs) == sorted(
        f"{a}-{n}" for a in "abcd" for n in range(25)
    )


def test_a_writer_killed_while_writing_leaves_every_acknowledged_line() -> None:
    found = begun()
    for name in "abc":
        with writer(found, name, 100_000) as one:
            assert one.stdout is not None
            rows = [one.stdout.readline() for _ in range(5)]
            os.kill(one.pid, signal.SIGKILL)
            rows += one.stdout.readlines()
        names = {m.run for m in acceptance.read(found.folder).runs}
        assert {f"{name}-{line.strip()}" for line in rows if line.endswith("\n")} <= names
    acceptance.append(found.folder, {**ADDED, "run": "after"})
    assert acceptance.read(found.folder).runs[-1].run == "after"


def test_who_is_killed_while_beginning_has_not_taken_the_name(home: Path) -> None:
    (home / ".new-0123").mkdir(parents=True)
    (home / ".new-0123" / acceptance.LOG).write_text('{"event": "op')
    assert begun().name == "pod"
    assert acceptance.names() == ["pod"]


def test_one_run_that_two_commands_add_at_once_counts_once() -> None:
    found = begun()
    acceptance.append(found.folder, {**ADDED, "run": "r1", "kind": "audit"})
    acceptance.append(found.folder, {**ADDED, "run": "r1", "kind": "rework"})
    assert [(m.run, m.kind) for m in acceptance.read(found.folder).runs] == [("r1", "audit")]


# ---- what it is judged by, and its runs ------------------------------------------------------------------------------


def test_runs_of_a_rack_are_one_acceptance(home: Path) -> None:
    done = accepted("pod", "first", "os")
    assert (done.status, done.out) == (0, "acceptance pod (draft): 2 runs, first FAIL, now FAIL\n")
    mistaken(rackcheck("accept", "add", "pod", folder() / "os"), "is part of acceptance pod already")
    shown = json.loads(rackcheck("accept", "show", "pod", "--json").out)
    assert [run["kind"] for run in shown["runs"]] == ["audit", "re-audit"]
    assert shown["outcome"] == "FAIL"


def test_a_node_that_no_run_has_read_leaves_it_incomplete() -> None:
    assert accepted("pod", "one").status == 0
    done = rackcheck("accept", "show", "pod", "--json")
    shown = json.loads(done.out)
    assert (done.status, shown["outcome"]) == (1, "FAIL")  # n1 fails
    assert any("not read by any run: 2 nodes, n[2-3]" in note for note in shown["notes"])


SOON = (datetime.now(UTC) + timedelta(days=9)).date().isoformat()
WAIVE = ("--nodes", "n1", "--until", SOON, "--by", "Jo", "--ticket", "T", "--reason", "r")

Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda run: (run / "events.jsonl").write_text("{}\n"), "was changed since it was added"),
        (lambda run: edited(run, operator="another"), "was changed since it was added"),
        (lambda run: (run / "run.json").unlink(), "of the acceptance is missing"),
        (lambda run: next((run / "raw").iterdir()).write_bytes(b"x"), "cannot read the raw answer"),
    ],
    ids=["events", "head", "gone", "raw"],
)
def test_a_run_that_was_changed_after_it_was_added_is_not_judged(tmp_path: Path, change: Change, text: str) -> None:
    run = copied("first", tmp_path)
    assert accepted("pod", run).status == 0
    change(run)
    for words in (("accept", "show", "pod"), ("report", "pod"), ("waive", "nic.rate", "--from", "pod", *WAIVE)):
        mistaken(rackcheck(*words), text)


def test_an_edited_profile_or_file_of_waivers_is_not_used(home: Path, tmp_path: Path) -> None:
    accepted("pod", "first")
    profile = home / "pod" / "profile" / "h100-dgx.yaml"
    text = profile.read_text()
    profile.write_text(text.replace("severity: major", "severity: minor", 1))
    mistaken(rackcheck("report", "pod"), "profile was changed")
    profile.unlink()
    mistaken(rackcheck("report", "pod"), "no profile file")
    profile.write_text(text)
    (tmp_path / "w.yaml").write_text("rackcheck: 1\nwaivers: []\n")
    assert rackcheck("accept", "add", "pod", "--waivers", "w.yaml").status == 0
    (kept,) = (home / "pod" / "waivers").glob("*/w.yaml")
    kept.write_text("rackcheck: 1\nwaivers:\n")
    mistaken(rackcheck("report", "pod"))
    kept.write_text("# ours\nrackcheck: 1\nwaivers: []\n")
    mistaken(rackcheck("report", "pod"), "waivers were changed")


def damaged(run: Path) -> None:
    """A run with an intact head and a damaged answer."""
    next((run / "raw").iterdir()).write_bytes(b"x")


HEADS: dict[str, Change] = {
    "another id": lambda run: edited(run, run="../../x"),
    "another time": lambda run: edited(run, time="yesterday"),
    "a node twice": lambda run: edited(run, nodes=_nodes(run) * 2),
    "a node less": lambda run: edited(run, nodes=_nodes(run)[:1]),
    "no node": lambda run: edited(run, nodes=[]),
    "nodes that are none": lambda run: edited(run, nodes=[1]),
    "a stranger": lambda run: edited(run, nodes=[*_nodes(run), {**_nodes(run)[0], "name": "n9"}]),
    "another role": lambda run: edited(run, nodes=[node | {"role": "dpu"} for node in _nodes(run)]),
    "no planes": lambda run: edited(run, planes="os"),
    "a broken answer": damaged,
    "no event": lambda run: (run / "events.jsonl").write_text(""),
}


def _nodes(run: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((run / "run.json").read_text())["nodes"]
    return found


@pytest.mark.parametrize("change", HEADS)
def test_a_run_that_cannot_be_judged_is_not_added(tmp_path: Path, change: str) -> None:
    run = copied("os", tmp_path)
    HEADS[change](run)
    assert accepted("pod", "first").status == 0
    mistaken(rackcheck("accept", "add", "pod", run))
    assert [m.folder for m in acceptance.find("pod").runs] == [str(folder() / "first")]
    assert rackcheck("accept", "show", "pod").status == 1


@pytest.mark.parametrize("change", [change for change in HEADS if change != "another role"])
def test_a_run_that_cannot_be_judged_has_no_document(tmp_path: Path, change: str) -> None:
    run = copied("os", tmp_path)
    HEADS[change](run)
    mistaken(rackcheck("report", run, "--format", "markdown"))
    mistaken(rackcheck("report", run, "--bundle", "-o", tmp_path / "b"))
    assert not (tmp_path / "b").exists()


def test_a_foreign_id_or_time_names_no_file(tmp_path: Path) -> None:
    run = copied("os", tmp_path)
    events = (run / "events.jsonl").read_text()
    began = json.loads(events.splitlines()[0])
    for words in ({"run": "../../x"}, {"run": "/x"}, {"time": "yesterday"}, {"time": "99999-01-01"}):
        edited(run, **{"run": began["run"], "time": began["time"], **words})
        (run / "events.jsonl").write_text(json.dumps(began | words) + events[events.index("\n") :])
        mistaken(rackcheck("report", run, "--bundle", "-o", tmp_path / "b"), "is not a")


def test_a_link_in_a_run_brings_no_file_of_ours_into_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine")
    for name in ("raw/x", "profile/x.yaml"):
        run = copied("os", tmp_path / name.replace("/", "-"))
        (run / name).symlink_to(tmp_path / "secret")
        mistaken(rackcheck("report", run, "--bundle", "-o", tmp_path / "b", "-q"), "is a symbolic link")
        assert not (tmp_path / "b").exists()


def test_a_superseded_acceptance_takes_nothing_any_more() -> None:
    accepted("pod", "first")
    words = ("-p", "h100-dgx", "-i", folder() / "pod.yaml", "--supersedes", "pod")
    assert rackcheck("accept", "new", "pod2", *words).status == 0
    mistaken(rackcheck("accept", "add", "pod", folder() / "os"), "superseded by pod2")
    assert json.loads(rackcheck("report", "pod", "--format", "json").out)["report"]["subject"]["state"] == "superseded"


def test_every_document_has_the_fix_with_the_names_that_a_finding_determines() -> None:
    accepted("pod", "first")
    wanted = "mlxlink -d mlx5_4 -m"
    for form in ("html", "json", "junit", "csv"):
        done = rackcheck("report", "pod", "--format", form, "-q", "-o", f"pod-{form}")
        assert done.status == 0, done.err
        place = Path(f"pod-{form}")
        text = (place / "findings.csv" if place.is_dir() else place).read_text()
        assert wanted in text, form
    found = json.loads(Path("pod-json").read_text())["report"]["findings"]
    fixes = [each["fix"] for each in found if each["nodes"] == ["n1"] and each["fix"]]
    assert fixes
    assert not any(word in fix for fix in fixes for word in ("NODE", "DEVICE", "RUN"))
