"""A run on disk: everything written is there, damage is reported, and a replay equals the run."""

import gzip
import hashlib
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import rack_runs
from command import rackcheck

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.run import store
from rackcheck.run.event import RunDone, to_json
from rackcheck.run.run_writer import RunWriter
from rackcheck.session import last_run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    done = rackcheck("audit", "localhost", "-p", "linux-server", "-q", "-o", tmp_path / "run")
    assert done.status in {0, 1, 3}
    return tmp_path / "run"


def events(run: Path) -> list[str]:
    return (run / "events.jsonl").read_text().splitlines(keepends=True)


def test_a_run_holds_its_head_its_events_its_answers_and_its_profile(run: Path) -> None:
    assert sorted(p.name for p in run.iterdir()) == ["events.jsonl", "profile", "raw", "run.json"]
    assert [json.loads(line)["event"] for line in events(run)] == [
        "run started",
        "answered",
        "facts",
        "judged",
        "run done",
    ]
    included = {"burn-in.yaml", "burn-tools.yaml", "hardware-health.yaml", "links-clean.yaml"}
    assert {p.name for p in (run / "profile").iterdir()} == {"linux-server.yaml", "sources.yaml", *included}


def test_the_verdicts_that_nodes_share_are_stored_with_each_of_them() -> None:
    stored = store.find(str(rack_runs.folder() / "first"))
    lines = [line for line in events(stored.folder) if line.startswith('{"event":"judged"')]
    judged = list(stored.judged())
    assert lines == [json.dumps(to_json(each), separators=(",", ":")) + "\n" for each in judged]
    assert len(judged) > 1


def test_a_torn_last_line_costs_that_event_only(run: Path) -> None:
    lines = events(run)
    (run / "events.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20])
    stored = store.find(str(run))
    assert stored.done() is None
    assert [judged.node for judged in stored.judged()] == ["localhost"]
    replayed = rackcheck("audit", "--from", run, "--json")
    assert replayed.status == 130
    assert json.loads(replayed.out)["outcome"] == "INCOMPLETE"


def test_a_damaged_line_in_the_middle_is_reported_by_its_number(run: Path) -> None:
    lines = events(run)
    (run / "events.jsonl").write_text(lines[0] + lines[1][:40] + "\n" + "".join(lines[2:]))
    done = rackcheck("runs", "show", run)
    assert (done.status, done.out) == (2, "")
    assert "line 2 is damaged" in done.err


def test_an_answer_changed_after_the_run_is_refused(run: Path) -> None:
    (raw,) = (run / "raw").iterdir()
    doctored = gzip.decompress(raw.read_bytes()).replace(b"debian", b"ubuntu")
    raw.write_bytes(gzip.compress(doctored))
    done = rackcheck("audit", "--from", run)
    assert (done.status, done.out) == (2, "")
    assert "changed or damaged after the run" in done.err


def test_a_damaged_head_is_one_clear_line(run: Path) -> None:
    for text in ("", "[]", '{"rackcheck": 1}', '{"rackcheck": 9}'):
        (run / "run.json").write_text(text)
        done = rackcheck("audit", "--from", run)
        assert (done.status, done.out) == (2, ""), text
        assert len(done.err.strip().splitlines()) == 1


def test_the_library_may_change_and_the_run_is_judged_as_it_was(run: Path, tmp_path: Path) -> None:
    before = rackcheck("audit", "--from", run, "--json").out
    (tmp_path / "home" / "profiles").mkdir(parents=True)
    (tmp_path / "home" / "profiles" / "linux-server.yaml").write_text(
        "rackcheck: 1\nprofile: linux-server\nversion: 9\nrules:\n  r: { fact: memory.thp.mode, is: none }\n"
    )
    assert rackcheck("profile", "check", "linux-server").out.startswith("linux-server: 1 rule")
    assert rackcheck("audit", "--from", run, "--json").out == before
    assert rackcheck("audit", "--from", run, "-p", "linux-server", "--json").status == 1


def test_runs_are_found_by_id_by_last_and_by_folder(run: Path) -> None:
    first = rackcheck("audit", "-p", "linux-server", "--json", "-q")
    own = json.loads(first.out)["run"]
    assert store.ids() == [own]
    assert last_run.named("last") == own
    assert store.find(str(run)).folder == run
    with pytest.raises(UserError, match=f"did you mean {own}"):
        store.find(own[:-1] + "x")


def test_equal_answers_are_equal_bytes(run: Path, tmp_path: Path) -> None:
    stored = store.find(str(run))
    (answer,) = stored.answers()
    assert answer.capture is not None
    writer = RunWriter(tmp_path / "again", stored.head, {})
    with writer:
        kept = [writer.write(answer), writer.write(answer)]
    assert [getattr(event, "digest", "") for event in kept] == [answer.digest] * 2
    (copy,) = (tmp_path / "again" / "raw").iterdir()
    assert copy.read_bytes() == (run / "raw" / copy.name).read_bytes()


def test_a_raw_answer_that_was_damaged_on_disk_is_one_clear_line(run: Path) -> None:
    (raw,) = (run / "raw").iterdir()
    whole = raw.read_bytes()
    for damaged in (whole[:-20], whole[: len(whole) // 2], whole[:40] + b"\xff" * 40 + whole[80:], b"", b"no gzip"):
        raw.write_bytes(damaged)
        done = rackcheck("audit", "--from", run)
        assert (done.status, done.out) == (2, "")
        assert len(done.err.strip().splitlines()) == 1
    raw.unlink()
    assert "cannot read" in rackcheck("audit", "--from", run).err


def test_a_run_without_its_events_or_with_broken_bytes_in_them_is_reported(run: Path) -> None:
    whole = (run / "events.jsonl").read_bytes()
    (run / "events.jsonl").write_bytes(whole.replace(b'"answered"', b'"answ\xff\xfered', 1))
    assert "line 2 is damaged" in rackcheck("audit", "--from", run).err
    (run / "events.jsonl").unlink()
    done = rackcheck("audit", "--from", run)
    assert (done.status, done.out) == (2, "")
    assert "cannot read" in done.err


def test_a_run_that_is_killed_keeps_every_event_it_had_written(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from rackcheck.run.run_writer import RunWriter\n"
        "from rackcheck.run.event import Answered; from rackcheck.model.fact import Plane\n"
        "from rackcheck.model.capture import NodeCapture\n"
        "writer = RunWriter(Path(sys.argv[1]), {}, {})\n"
        "for n in range(10**9):\n"
        "    writer.write(Answered(f'n{n}', Plane.OS, 't', None, NodeCapture(files={'/f': str(n)})))\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    value = [int(process.stdout.readline()) for _ in range(50)][-1]
    process.kill()
    value = max(
        value, *(int(row) for row in process.communicate()[0].splitlines(keepends=True) if row.endswith("\n")), 0
    )
    stored = store.Stored(tmp_path / "run", {})
    kept = [answer.node for answer in stored.answers()]
    assert kept[: value + 1] == [f"n{n}" for n in range(value + 1)]
    assert len(kept) <= value + 2


@pytest.mark.parametrize(
    "text",
    ["[1]\n{}\n", "{}\n", "", '{"event": "run started"}\n', '{"event": "answered", "node": "x", "plane": "zz"}\n'],
)
def test_a_doctored_run_is_one_clear_line_and_hides_no_other_run(run: Path, text: str) -> None:
    rackcheck("audit", "-p", "linux-server", "-q")
    (good,) = store.ids()
    bad = store.runs_folder() / "bad"
    shutil.copytree(store.runs_folder() / good, bad)
    (bad / "events.jsonl").write_text(text)
    for words in (["audit", "--from", "bad"], ["runs", "show", "bad"], ["tui", "bad"]):
        done = rackcheck(*words)
        assert (done.status, done.out) == (2, ""), words
        assert len(done.err.strip().splitlines()) == 1
    listed = rackcheck("runs", "list")
    assert good in listed.out
    assert "bad" in listed.err


def test_an_answer_of_a_node_that_the_run_does_not_know_is_refused(run: Path) -> None:
    lines = events(run)
    (run / "events.jsonl").write_text("".join([lines[0], lines[1].replace("localhost", "other"), *lines[2:]]))
    done = rackcheck("audit", "--from", run)
    assert (done.status, done.out) == (2, "")
    assert "other, which is not one of its nodes" in done.err


def test_a_damaged_raw_answer_is_reported(run: Path) -> None:
    (raw,) = (run / "raw").iterdir()
    raw.write_bytes(raw.read_bytes()[:60] + b"xxxxxxxx" + raw.read_bytes()[68:])
    done = rackcheck("audit", "--from", run)
    assert (done.status, done.out) == (2, "")


def rewritten(run: Path, event: str, **changes: object) -> None:
    """Change the first event of a kind."""
    docs = [json.loads(line) for line in events(run)]
    next(doc for doc in docs if doc["event"] == event).update(changes)
    (run / "events.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))


def swapped(run: Path, data: bytes) -> None:
    """Replace a raw answer with another one, under the digest of the new one."""
    digest = hashlib.sha256(data).hexdigest()
    (run / "raw" / f"{digest}.json.gz").write_bytes(gzip.compress(data))
    rewritten(run, "answered", raw=digest)


def headed(folder: Path, changes: Mapping[str, object]) -> None:
    """Change the head."""
    place = folder / "run.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **changes}))


def refused(run: Path, named: str, *, facts: bool = True) -> None:
    """Every command that reads a stored run ends in one line that names the file."""
    commands = [["audit", "--from", run], ["runs", "show", run], ["tui", run]]
    for words in [*commands, *([["facts", "localhost", "--from", run]] if facts else [])]:
        done = rackcheck(*words)
        assert (done.status, done.out) == (2, ""), (words, done)
        assert len(done.err.splitlines()) == 1
        assert named in done.err


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "raw",
    [
        b'{"commands":' + DEEP.encode() + b"}",
        b"[]",
        b"no JSON",
        b'{"commands": {}, "globs": {}, "files": {"/proc/modules": 5}, "refused": {}}',
        b'{"commands": {}, "globs": {}, "files": ["/proc/modules"], "refused": {}}',
        b'{"commands": {"id": {"status": "x", "out": 5, "err": null}}, "globs": {}, "files": {}, "refused": {}}',
        b'{"commands": {}, "globs": [], "files": {}, "refused": {}}',
        b'{"commands": {}, "globs": {}, "files": {}, "refused": {"/x": {"unknown": "denied", "detail": 7}}}',
        b'{"commands": {}, "globs": {}, "files": {}, "refused": {"/x": {"unknown": "no reason", "detail": ""}}}',
    ],
    ids=range(9),
)
def test_a_raw_answer_of_another_shape_is_refused_by_every_command(run: Path, raw: bytes) -> None:
    swapped(run, raw)
    refused(run, f"{hashlib.sha256(raw).hexdigest()}.json.gz is damaged")


def test_a_raw_answer_that_unpacks_without_end_is_refused_before_memory_is(run: Path) -> None:
    (raw,) = (run / "raw").iterdir()
    raw.write_bytes(gzip.compress(bytes(1 << 24)) * 192)  # 3 GiB
    code = "import sys; from rackcheck.cli import main; main()"
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 1500000; exec "$@"', "sh", sys.executable, "-c", code, "audit", "--from", str(run)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{raw} unpacks to more than 256 MiB" in done.stderr


@pytest.mark.parametrize(
    "changes",
    [{"node": ["n1"]}, {"node": None}, {"time": 7}, {"raw": 5}, {"raw": "../../etc/passwd"}, {"raw": "a\0b"},
     {"plane": ["os"]}, {"unknown": "denied", "detail": ["x"]}, {"note": {}}],
    ids=str,
)  # fmt: skip
def test_an_event_of_another_shape_is_refused_with_its_line(run: Path, changes: dict[str, object]) -> None:
    rewritten(run, "answered", **changes)
    refused(run, "events.jsonl: line 2, an event `answered`, is damaged")


@pytest.mark.parametrize("where", [1, -1], ids=["in the middle", "at the end"])
def test_an_event_nested_without_end_is_refused_with_its_line(run: Path, where: int) -> None:
    lines = events(run)
    lines.insert(where if where > 0 else len(lines), f'{{"event": "answered", "x": {DEEP}}}\n')
    (run / "events.jsonl").write_text("".join(lines))
    refused(run, f"events.jsonl: line {2 if where > 0 else len(lines)} is damaged")


@pytest.mark.parametrize("text", [DEEP, '{"rackcheck": 1, "x": ' + "9" * 5000 + "}"], ids=["deep", "long"])
def test_a_head_nested_without_end_is_refused_by_name(run: Path, text: str) -> None:
    (run / "run.json").write_text(text)
    refused(run, "run.json")


@pytest.mark.parametrize(
    "changes",
    [{"run": ["x"]}, {"time": None}, {"targets": {}}, {"planes": "os"}, {"planes": ["x"]}, {"profile": None},
     {"profile": {"name": "../../../etc/passwd", "set": {}, "digest": ""}},
     {"profile": {"name": "linux-server", "set": {"a": []}, "digest": ""}}],
    ids=str,
)  # fmt: skip
def test_a_head_of_another_shape_is_refused_by_name(run: Path, changes: dict[str, object]) -> None:
    headed(run, changes)
    refused(run, "run.json is damaged", facts=False)


@pytest.mark.parametrize("node", [["n1"], {"name": ["n1"]}, {"name": "n1", "u": "x"}], ids=str)
def test_a_node_of_another_shape_is_refused_by_name(run: Path, node: object) -> None:
    kept = json.loads((run / "run.json").read_text())["nodes"][0]
    headed(run, {"nodes": [{**kept, **node} if isinstance(node, dict) else node]})
    refused(run, "run.json is damaged")


@pytest.mark.parametrize("name", ["run.json", "events.jsonl"])
def test_a_stored_file_that_is_a_pipe_is_refused_without_waiting(run: Path, name: str) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    done = subprocess.run(
        [sys.executable, "-m", "rackcheck", "runs", "show", str(run)], capture_output=True, text=True, check=False,
        timeout=30,
    )  # fmt: skip
    assert done.returncode == 2
    assert str(run) in done.stderr


def test_a_damaged_run_is_one_line_of_the_list_and_of_the_simulator(run: Path) -> None:
    rackcheck("audit", "-p", "linux-server", "-q")
    (good,) = store.ids()
    rewritten(store.runs_folder() / good, "judged", verdicts=[{"rule": ["x"], "status": "fail"}])
    listed = rackcheck("runs", "list")
    assert (listed.status, listed.out) == (0, "")
    assert "events.jsonl: line 4, an event `judged`, is damaged" in listed.err
    swapped(run, b"[]")
    done = rackcheck("audit", "--rack", f"sim:{run}", "-p", "linux-server")
    assert (done.status, done.out) == (2, "")
    assert "is damaged" in done.err


def test_an_edited_profile_is_reported_and_used_only_on_request(run: Path) -> None:
    kept = run / "profile" / "linux-server.yaml"
    kept.write_text(kept.read_text().replace("severity: major", "severity: minor"))
    refused(run, f"the run's profile was changed: {kept}; judge with -p {kept}", facts=False)
    assert rackcheck("audit", "--from", run, "-p", kept, "--json").status in {0, 1, 3}


def test_a_head_that_names_another_profile_than_the_first_event_is_refused(run: Path) -> None:
    value = json.loads((run / "run.json").read_text())["profile"]
    headed(run, {"profile": {**value, "digest": "0" * 64}})
    refused(run, "the run's profile was changed", facts=False)


def test_a_value_set_later_is_no_change_of_the_runs_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    chosen = tmp_path / "p.yaml"
    chosen.write_text(
        "rackcheck: 1\nprofile: p\nversion: 1\nparams: { name: { type: text, default: x, about: a name } }\n"
        "rules:\n  r: { fact: kernel.arch, is: $name }\n"
    )
    arch = platform.machine()
    assert rackcheck("audit", "-p", chosen, "--set", "name=y", "-q", "-o", tmp_path / "run").status == 1
    assert rackcheck("audit", "--from", tmp_path / "run").status == 1
    assert rackcheck("audit", "--from", tmp_path / "run", "--set", f"name={arch}").status == 0


def test_a_run_is_the_users_alone_and_one_that_cannot_be_created_leaves_nothing(tmp_path: Path) -> None:
    made = RunWriter(tmp_path / "runs" / "one", {}, {"p.yaml": "profile: p\n"})
    made.close()
    assert stat.S_IMODE(made.folder.stat().st_mode) == 0o700
    with pytest.raises(UserError, match="File name too long"):
        RunWriter(tmp_path / "runs" / "two", {}, {300 * "p": ""})
    with pytest.raises(UnicodeEncodeError):
        RunWriter(tmp_path / "runs" / "three", {"targets": "\udcff"}, {"p.yaml": "profile: p\n"})
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["one"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("kept")
    with pytest.raises(UserError, match="already exists"):
        RunWriter(tmp_path / "mine", {}, {})
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]


@pytest.mark.parametrize("lost", ["raw", "profile", "events.jsonl", "run.json"])
def test_a_run_of_which_a_part_is_lost_is_neither_overwritten_nor_removed(lost: str, tmp_path: Path) -> None:
    RunWriter(tmp_path / "run", {}, {"p.yaml": "profile: p\n"}).close()
    part = tmp_path / "run" / lost
    shutil.rmtree(part) if part.is_dir() else part.unlink()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="already exists"):
        RunWriter(tmp_path / "run", {}, {"p.yaml": "profile: p\n"})
    assert sorted(tmp_path.rglob("*")) == before


def test_events_that_cannot_be_synced_are_an_error_at_the_end_and_one_that_was_raised_before_is_not_raised_again(
    tmp_path: Path,
) -> None:
    lost = RunWriter(tmp_path / "lost", {}, {})
    os.close(lost._events.fileno())
    with pytest.raises(OSError, match="Bad file descriptor"):
        lost.close()
    told = RunWriter(tmp_path / "told", {}, {})
    os.close(told._events.fileno())
    with pytest.raises(OSError, match="Bad file descriptor"):
        told.write(RunDone("2026-01-01T00:00:00Z", Outcome.PASS))
    told.close()
