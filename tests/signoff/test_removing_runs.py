"""A run without a complete, unchanged result can be removed from an unsigned acceptance, and every output shows it."""

import getpass
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command import Done, rackcheck
from rack_runs import accepted, copied, folder

from rackcheck.signoff import acceptance

REASON = "killed by a power failure, T-7"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home" / "acceptances"


def run_id(run: Path) -> str:
    return str(json.loads((run / "run.json").read_text())["run"])


def removing(run: str | Path) -> Done:
    return rackcheck("accept", "remove", "pod", run, "--reason", REASON)


def with_removed(tmp_path: Path) -> str:
    """Begin an acceptance from which a run whose folder was deleted is removed; return the run's id."""
    run = copied("first", tmp_path)
    name = run_id(run)
    assert accepted("pod", run, "os").status == 0
    shutil.rmtree(run)
    assert removing(name).status == 0
    return name


def test_a_run_whose_folder_was_deleted_is_named_with_the_command_that_removes_it(tmp_path: Path) -> None:
    run = copied("first", tmp_path)
    name = run_id(run)
    accepted("pod", run, "os")
    shutil.rmtree(run)
    done = rackcheck("accept", "show", "pod")
    assert done.status == 2
    assert f"rackcheck accept remove pod {name} --reason TEXT" in done.err
    done = removing(run)
    assert (done.status, done.out.startswith(f"acceptance pod: run {name} was removed at ")) == (0, True)
    shown = json.loads(rackcheck("accept", "show", "pod", "--json").out)
    assert [member["run"] for member in shown["runs"]] == [run_id(folder() / "os")]
    assert [(gone["run"], gone["found"], gone["reason"]) for gone in shown["removed"]] == [(name, "missing", REASON)]


def test_every_output_shows_the_removal_with_its_author_and_reason(tmp_path: Path) -> None:
    name = with_removed(tmp_path)
    wanted = (f"run {name} was removed at ", f"by {getpass.getuser()} (missing): {REASON}")
    shown = " ".join(rackcheck("accept", "show", "pod").out.split())
    assert all(text in shown for text in wanted)
    assert rackcheck("report", "pod", "--bundle", "-q", "-o", tmp_path / "b").status == 0
    for file in ("report.json", "report.html", "report.md", "acceptance/acceptance.jsonl"):
        text = (tmp_path / "b" / file).read_text()
        assert REASON in text, file
        assert name in text, file
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    assert rackcheck("sign", tmp_path / "b", "--key", tmp_path / "key", "--as-is", "test").status == 0
    checked = rackcheck("verify", tmp_path / "b", "--key", tmp_path / "key.pub")
    assert checked.status == 0, checked.err
    assert all(text in checked.out for text in wanted)
    found = json.loads(rackcheck("verify", tmp_path / "b", "--key", tmp_path / "key.pub", "--json").out)
    assert [gone["run"] for gone in found["removed"]] == [name]


def test_a_redacted_copy_shows_the_removal_without_the_login_and_the_public_copy_without_the_reason(
    tmp_path: Path,
) -> None:
    with_removed(tmp_path)
    for level, shows_reason in (("customer", True), ("public", False)):
        done = rackcheck("report", "pod", "--format", "json", "--level", level, "-o", "-")
        doc = json.loads(done.out)["report"]
        (gone,) = doc["removed"]
        assert (gone["by"], gone["found"]) == ("", "missing")
        assert (REASON in json.dumps(doc, ensure_ascii=False)) is shows_reason
        assert any("was removed at" in note for note in doc["notes"])


def test_a_run_that_was_cut_off_or_damaged_can_be_removed(tmp_path: Path) -> None:
    run = copied("os", tmp_path)
    events = (run / "events.jsonl").read_text().splitlines(keepends=True)
    (run / "events.jsonl").write_text("".join(events[:-1]))
    assert accepted("pod", "first", run).status == 0
    done = removing(run_id(run))
    assert (done.status, "(cut off)" in done.out) == (0, True), done.err
    other = copied("bmc", tmp_path)
    assert rackcheck("accept", "add", "pod", other).status == 0
    next((other / "raw").iterdir()).write_bytes(b"x")
    done = removing(run_id(other))
    assert (done.status, "(changed or damaged since it was added)" in done.out) == (0, True), done.err
    assert [member.run for member in acceptance.find("pod").runs] == [run_id(folder() / "first")]


def test_a_complete_run_and_a_run_of_a_signed_acceptance_stay(tmp_path: Path) -> None:
    run = copied("first", tmp_path)
    name = run_id(run)
    accepted("pod", run)
    done = removing(name)
    assert (done.status, "it is complete and unchanged" in done.err) == (2, True)
    log = acceptance.find("pod").folder
    signed = {"event": "signed", "time": "2026-11-21T00:00:00Z", "manifest": "3" * 64, "party": "customer"}
    acceptance.append(log, {**signed, "name": "Jo"})
    shutil.rmtree(run)
    before = (log / acceptance.LOG).read_bytes()
    done = removing(name)
    assert (done.status, "was signed by customer at 2026-11-21T00:00:00Z" in done.err) == (2, True)
    assert (log / acceptance.LOG).read_bytes() == before


def test_a_run_that_is_no_part_of_it_and_an_empty_reason_are_errors() -> None:
    accepted("pod", "first")
    name = run_id(folder() / "first")
    done = removing(f"{name}x")
    assert (done.status, name in done.err) == (2, True)
    done = rackcheck("accept", "remove", "pod", name, "--reason", " ")
    assert (done.status, "give a reason" in done.err) == (2, True)


def test_the_serial_numbers_of_a_removed_run_bind_no_later_run(tmp_path: Path) -> None:
    run = copied("first", tmp_path)
    accepted("pod", run)
    assert acceptance.find("pod").machines
    name = run_id(run)
    shutil.rmtree(run)
    assert removing(name).status == 0
    found = acceptance.find("pod")
    assert (found.machines, found.runs) == ({}, ())
    shown = rackcheck("accept", "show", "pod")
    assert (shown.status, REASON in shown.out) == (3, True)
    assert rackcheck("accept", "add", "pod", folder() / "first").status == 0
