"""`last` is the newest run of the kind that a command needs, and the command prints which run that is."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command import Done, rackcheck

from rackcheck.base.user_error import UserError
from rackcheck.run import store
from rackcheck.session import last_run

AUDIT, BURN_IN, OTHER = "20200101T000000Z-aaaaa", "20200102T000000Z-bbbbb", "20200103T000000Z-ccccc"

PUBLIC = "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
"""A public key of the bytes 0 to 31, which signed nothing."""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "run"
    done = rackcheck("audit", "localhost", "-p", "linux-server", "-q", "-o", folder)
    assert done.status in {0, 1, 3}, done.err
    return folder


Place = Callable[..., Path]


@pytest.fixture
def place(audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a function that stores a copy of an audit under another id, as an audit or as a burn-in."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def placed(run: str, *, burn_in: bool = False, again_of: str = "", ended: bool = True) -> Path:
        folder = store.runs_folder() / run
        shutil.copytree(audited, folder)
        time = f"{run[:4]}-{run[4:6]}-{run[6:8]}T00:00:00Z"
        head = json.loads((folder / "run.json").read_text()) | {"run": run, "time": time}
        lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        lines[0] |= {"run": run, "time": time}
        if burn_in:
            head |= {"planes": ["burnin"], "phases": ["burn-in"]}
            lines[0]["planes"] = ["burnin"]
            lines = [line for line in lines if line["event"] in {"run started", "run done"}]
        if again_of:
            head[store.AGAIN_OF] = again_of
        if not ended:
            lines = lines[:2]
        (folder / "run.json").write_text(json.dumps(head))
        (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder

    return placed


def taken(done: Done) -> str:
    """The id of the run that a command took, by its note."""
    found = [line for line in done.err.splitlines() if line.startswith("last: ")]
    assert len(set(found)) == 1, done.err
    return found[0].split()[1]


ANY = [
    ("runs", "show", "last"),
    ("groups",),
    ("rack",),
    ("report", "last", "--format", "json"),
    ("profile", "diff", "last", "linux-server"),
]
AUDITS = [
    ("audit", "--from", "last"),
    ("odd",),
    ("rack", "--mode", "power"),
    ("remedy", "last"),
    ("facts", "localhost", "--from", "last", "--json"),
    ("facts", "localhost", "os", "--from", "last", "--json"),
    ("profile", "learn", "--from", "last"),
    ("profile", "explain", "--from", "last", "memory.swappiness"),
    ("diff", "localhost", "peers"),
    ("drift", "--against", OTHER),
]
BURN_INS = [
    ("facts", "localhost", "burnin", "--from", "last", "--json"),
    ("profile", "explain", "--from", "last", "burnin.whole"),
]


@pytest.mark.parametrize("words", AUDITS, ids=" ".join)
def test_a_command_that_needs_an_audit_takes_no_newer_burn_in(place: Place, words: tuple[str, ...]) -> None:
    place(AUDIT)
    place(OTHER.replace("2020", "2019"))
    place(BURN_IN, burn_in=True)
    done = rackcheck(*(word.replace("2020", "2019") for word in words))
    assert taken(done) == AUDIT, done.err
    assert f"; newer: burn-in {BURN_IN})" in done.err
    assert "linux-server" in done.err
    shutil.rmtree(store.runs_folder() / AUDIT)
    shutil.rmtree(store.runs_folder() / OTHER.replace("2020", "2019"))
    done = rackcheck(*words)
    if "drift" not in words and "explain" not in words:
        assert done.status == 2
        assert (
            f"no audit yet; the newest run is the burn-in {BURN_IN}: rackcheck audit -p PROFILE makes one" in done.err
        )


@pytest.mark.parametrize("words", BURN_INS, ids=" ".join)
def test_a_command_about_a_burn_in_takes_no_newer_audit(place: Place, words: tuple[str, ...]) -> None:
    place(BURN_IN, burn_in=True)
    place(OTHER)
    assert taken(rackcheck(*words)) == BURN_IN


@pytest.mark.parametrize("words", ANY, ids=" ".join)
def test_a_command_that_shows_verdicts_takes_the_newest_run_of_any_kind(place: Place, words: tuple[str, ...]) -> None:
    place(AUDIT)
    place(BURN_IN, burn_in=True)
    done = rackcheck(*words)
    assert taken(done) == BURN_IN
    assert f"last: {BURN_IN} (burn-in, linux-server, 1 node, " in done.err
    place(OTHER)
    assert taken(rackcheck(*words)) == OTHER


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", [*ANY, *AUDITS[:-1], *BURN_INS], ids=" ".join)
def test_without_a_run_the_command_that_makes_one_is_named(words: tuple[str, ...]) -> None:
    done = rackcheck(*words)
    assert (done.status, done.out) == (2, "")
    assert " yet: rackcheck " in done.err
    assert " makes one" in done.err


def test_the_note_is_never_part_of_a_document(place: Place) -> None:
    place(AUDIT)
    done = rackcheck("groups", "--json")
    assert json.loads(done.out)["run"] == AUDIT
    assert "last: " not in done.out
    assert taken(done) == AUDIT


def test_a_run_that_reads_nodes_again_is_last_only_if_it_is_alone(place: Place) -> None:
    place(AUDIT)
    place(OTHER, again_of=AUDIT)
    done = rackcheck("groups")
    assert taken(done) == AUDIT
    assert f"newer: audit {OTHER}, which reads nodes of {AUDIT} again" in done.err
    shutil.rmtree(store.runs_folder() / AUDIT)
    assert taken(rackcheck("groups")) == OTHER


def test_a_run_that_has_not_ended_is_taken_and_its_state_is_printed(place: Place) -> None:
    place(AUDIT)
    folder = place(OTHER, ended=False)
    done = rackcheck("groups")
    assert (taken(done), done.status) == (OTHER, 130)
    assert ", not finished)" in done.err
    ended = json.dumps({"event": "run done", "time": "2020-01-03T00:00:01Z", "outcome": "INCOMPLETE"})
    with (folder / "events.jsonl").open("a") as file:
        file.write(ended[:-1])
    assert store.find(str(folder)).last_done() is None, "a line that is not complete"
    with (folder / "events.jsonl").open("a") as file:
        file.write(', "interrupted": true}\n')
    assert ", interrupted)" in rackcheck("groups").err


def test_the_end_of_a_run_is_found_without_reading_the_run(place: Place) -> None:
    folder = place(AUDIT)
    stored = store.find(str(folder))
    assert stored.last_done() == stored.done() is not None
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "judged", "pad": "x" * 9999}) + "\n")
    assert stored.last_done() is None


def test_a_damaged_newest_run_is_an_error_and_no_older_run_is_taken(place: Place) -> None:
    place(AUDIT)
    (place(OTHER) / "run.json").write_text("{")
    done = rackcheck("groups")
    assert (done.status, done.out) == (2, "")
    assert OTHER in done.err
    shutil.rmtree(store.runs_folder() / OTHER)
    (place("20190101T000000Z-ddddd") / "run.json").write_text("{")
    assert taken(rackcheck("groups")) == AUDIT, "an older run that is damaged changes nothing"


def test_two_last_runs_are_not_compared(place: Place) -> None:
    place(AUDIT)
    for words in (("drift", "--against", "last"), ("diff", "last", "last")):
        done = rackcheck(*words)
        assert (done.status, "both runs are `last`" in done.err) == (2, True), done.err
    done = rackcheck("diff", "localhost", "last")
    assert (done.status, "would be compared with itself" in done.err) == (2, True), done.err


def test_a_run_is_compared_with_the_last_run_of_its_kind(place: Place) -> None:
    place(AUDIT)
    place(BURN_IN, burn_in=True)
    place(OTHER)
    earlier = "20190101T000000Z-ddddd"
    place(earlier, burn_in=True)
    assert taken(rackcheck("drift", "--against", earlier)) == BURN_IN
    assert taken(rackcheck("diff", AUDIT, "last")) == OTHER
    done = rackcheck("diff", "localhost", "before")
    assert f"itself in {AUDIT}" in done.err, "the audit before, and not the burn-in"


def test_a_folder_with_this_name_is_the_run_and_is_named(place: Place, tmp_path: Path) -> None:
    place(OTHER)
    place(AUDIT).rename(tmp_path / "last")
    done = rackcheck("runs", "show", "last", "--json")
    assert json.loads(done.out)["run"] == AUDIT
    assert f"last: the folder {tmp_path / 'last'}" in done.err


def test_a_run_is_added_to_an_acceptance_only_with_its_profile(place: Place) -> None:
    assert rackcheck("accept", "new", "pod7", "-p", "linux-server").status == 0
    done = rackcheck("accept", "add", "pod7", "last")
    assert done.status == 2
    assert "no run with the profile linux-server yet: rackcheck audit --accept pod7 makes one" in done.err
    folder = place(OTHER)
    head = json.loads((folder / "run.json").read_text())
    head["profile"]["lineage"] = ["another@1"]
    (folder / "run.json").write_text(json.dumps(head))
    place(AUDIT)
    done = rackcheck("accept", "add", "pod7", "last")
    assert taken(done) == AUDIT
    assert done.status == 0, done.err


def test_the_newest_run_is_signed_and_no_older_bundle(place: Place, tmp_path: Path) -> None:
    place(AUDIT)
    assert rackcheck("report", "last", "--bundle", "-q").status == 0
    place(OTHER)
    done = rackcheck("sign", "last", "--key", tmp_path / "key")
    assert done.status == 2
    assert f"the newest run {OTHER} has no bundle: rackcheck report {OTHER} --bundle makes one" in done.err
    (tmp_path / "key").write_text(f"ssh-ed25519 {PUBLIC} jo\n")
    assert taken(rackcheck("verify", "last", "--key", tmp_path / "key")) == AUDIT


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (0, "0 seconds ago"), (59, "59 seconds ago"), (60, "1 minute ago"), (3599, "59 minutes ago"),
        (7200, "2 hours ago"), (86400, "1 day ago"), (-90, "at 2026-11-28T12:00:00Z"),
    ],
)  # fmt: skip
def test_an_age_is_printed_in_its_largest_unit(before: int, words: str) -> None:
    time = datetime(2026, 11, 28, 12, tzinfo=UTC)
    assert last_run.age("2026-11-28T12:00:00Z", time + timedelta(seconds=before)) == words


def test_a_time_that_is_none_is_printed_as_it_is() -> None:
    assert last_run.age("yester\nday", datetime.now(UTC)) == "at yester\\nday"


def test_a_run_id_is_returned_unchanged_and_without_a_note(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place(AUDIT)
    assert last_run.named(AUDIT, last_run.BURN_IN) == AUDIT
    assert capsys.readouterr().err == ""
    with pytest.raises(UserError, match="no burn-in yet"):
        last_run.named("last", last_run.BURN_IN)


def test_a_name_that_is_no_run_is_an_error_with_the_nearest_name(place: Place) -> None:
    done = rackcheck("report", "pod7")
    assert (done.status, "no run or acceptance pod7; there is no run yet" in done.err) == (2, True)
    place(AUDIT)
    done = rackcheck("report", "pod7")
    assert (done.status, "no run or acceptance pod7; `rackcheck runs list` shows the runs" in done.err) == (2, True)
    done = rackcheck("groups", "lst")
    assert (done.status, "no run or acceptance lst; did you mean last?" in done.err) == (2, True)
    assert "no run lst; did you mean last?" in rackcheck("runs", "show", "lst").err
