"""Waivers inside a profile: used and reported like those of a file, stored with the run, and reported when changed."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from rack_runs import DECLINED, SITE, folder

from rackcheck.signoff import waivers

RULE = "nic.rate"
UNTIL = str(datetime.now(UTC).date() + timedelta(days=9))
"""A waiver is dated today: only `waive` has a clock."""

PROFILE = "rackcheck: 1\nprofile: ours\nversion: 1\nextends: h100-dgx@2026.11\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def entry() -> str:
    """A waiver of what the rack's first node shows, as `rackcheck waive` writes it."""
    given = ("--nodes", "n1", "--until", UNTIL, "--by", "Jo Doe", "--ticket", "OPS-1", "--reason", "ordered")
    done = rackcheck("waive", RULE, "--from", folder() / "first", *given)
    assert done.status == 0, done.err
    text = Path("waivers.yaml").read_text().removeprefix("rackcheck: 1\n")
    Path("waivers.yaml").unlink()
    return text


def profile(text: str, name: str = "ours.yaml") -> Path:
    file = Path(name).resolve()
    file.write_text(PROFILE + text)
    return file


def judged(*words: object) -> dict[str, Any]:
    done = rackcheck("audit", "--from", folder() / "first", "--json", *SITE, *words)
    assert done.status in {0, 1, 3}, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def statuses(found: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(n, v["rule"]): v["status"] for n, node in found["nodes"].items() for v in node["verdicts"]}


def test_a_waiver_in_a_profile_waives_just_what_the_same_waiver_in_a_file_does(entry: str) -> None:
    bare, own = profile("", "bare.yaml"), profile(entry)
    bare.write_text(bare.read_text().replace("ours", "bare"))
    Path("waivers.yaml").write_text(f"rackcheck: 1\n{entry}")
    by_file, by_profile = judged("-p", bare, "--waivers", "waivers.yaml"), judged("-p", own)
    assert statuses(by_file)[("n1", RULE)] == "waived"
    assert statuses(by_profile) == statuses(by_file)
    assert statuses(by_profile) != statuses(judged("-p", bare))
    (value,), (same,) = by_profile["waivers"], by_file["waivers"]
    assert value == {**same, "place": "ours.yaml:6"}


def test_both_kinds_of_waivers_hold_side_by_side(entry: str) -> None:
    Path("more.yaml").write_text(f"rackcheck: 1\n{entry}".replace(RULE, "no.such.rule"))
    found = judged("-p", profile(entry), "--waivers", "more.yaml")
    assert [(w["place"], w["state"]) for w in found["waivers"]] == [("ours.yaml:6", "used"), ("more.yaml:3", "unused")]


def test_the_waivers_of_parents_and_fragments_count(entry: str) -> None:
    parent, child = profile(entry), Path("child.yaml")
    child.write_text("rackcheck: 1\nprofile: child\nversion: 1\nextends: ours@1\n")
    Path("part.yaml").write_text(
        f"rackcheck: 1\nprofile: part\nversion: 1\nrules:\n  mine: {{ fact: cpu.smt, present: true }}\n{entry}"
    )
    own = Path("own.yaml")
    own.write_text(parent.read_text().replace(entry, "include: [part]\n").replace("ours", "own"))
    for file, place in ((child.resolve(), "ours.yaml:6"), (own.resolve(), "part.yaml:7")):
        found = judged("-p", file)
        assert (statuses(found)[("n1", RULE)], found["waivers"][0]["place"]) == ("waived", place)


def test_a_rule_changed_by_a_child_makes_the_waiver_lapse(entry: str) -> None:
    profile(entry)
    child = Path("child.yaml").resolve()
    child.write_text(
        "rackcheck: 1\nprofile: child\nversion: 1\nextends: ours@1\nrules:\n  nic.rate: { severity: blocker }\n"
    )
    found = judged("-p", child)
    assert (statuses(found)[("n1", RULE)], found["waivers"][0]["state"]) == ("fail", "lapsed")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (("rule: nic", "rul: nic"), "no such key: `rul`; did you mean `rule`?"),
        (("nodes: n1", "nodes: 'n[1'"), "ours.yaml:8:12: "),
        (("by: Jo Doe", "by: ''"), "`by` is empty: a waiver needs one"),
        (("reason: ordered", "reason: ordered\n    more: x"), "no such key: `more`"),
    ],
)
def test_an_error_in_a_waiver_is_reported_with_its_place_before_any_node_is_read(
    entry: str, wrong: tuple[str, str], text: str
) -> None:
    file = profile(entry.replace(*wrong))
    assert file.read_text() != PROFILE + entry
    for words in (
        ("profile", "check", file),
        ("audit", "-p", file),
        ("audit", "--from", folder() / "first", "-p", file),
    ):
        done = rackcheck(*words)
        assert (done.status, text in done.err, "ours.yaml:" in done.err) == (2, True, True), done.err


TINY = "rackcheck: 1\nprofile: tiny\nversion: 1\nrules:\n  os.nine: { fact: os.release.id, is: plan9 }\n"


@pytest.fixture
def run() -> Path:
    """A run of this machine by a profile that waives its own failing rule, in `run`; the profile is gone."""
    file = Path("site/tiny.yaml").resolve()
    file.parent.mkdir()
    file.write_text(TINY)
    assert rackcheck("audit", "-p", file, "-o", "bare", "-q").status == 1
    given = ("--until", UNTIL, "--by", "Jo Doe", "--ticket", "OPS-1", "--reason", "a joke")
    done = rackcheck("waive", "os.nine", "--from", "bare", "--nodes", "localhost", "--file", "w.yaml", *given)
    assert done.status == 0, done.err
    file.write_text(TINY + Path("w.yaml").read_text().removeprefix("rackcheck: 1\n"))
    done = rackcheck("audit", "-p", file, "-o", "run", "--json")
    assert (done.status, "waivers: 1 entry of tiny.yaml" in done.err) == (0, True), done.err
    Path("live.json").write_text(done.out)
    shutil.rmtree(file.parent)
    return Path("run")


def test_a_stored_run_keeps_what_its_profile_waives(run: Path) -> None:
    again = rackcheck("audit", "--from", run, "--json")
    assert (again.status, again.out) == (0, Path("live.json").read_text())
    assert json.loads(again.out)["waivers"][0]["state"] == "used"
    shown = rackcheck("audit", "--from", run)
    assert "a joke" in shown.out
    report = rackcheck("report", run, "--format", "markdown", "-o", "-")
    assert (report.status, "a joke" in report.out) == (0, True), report.err


def test_other_waivers_take_the_place_of_files_and_not_of_the_profile_s(run: Path) -> None:
    Path("none.yaml").write_text("rackcheck: 1\nwaivers: []\n")
    assert rackcheck("audit", "--from", run, "--waivers", "none.yaml").status == 0


@pytest.mark.parametrize("change", [("a joke", "no joke"), ("nodes: localhost", "nodes: n1"), ("all", "")])
def test_waivers_changed_in_a_stored_profile_are_reported(run: Path, change: tuple[str, str]) -> None:
    file = run / "profile/tiny.yaml"
    text = file.read_text()
    file.write_text(TINY if change == ("all", "") else text.replace(*change))
    assert file.read_text() != text
    done = rackcheck("audit", "--from", run)
    assert (done.status, "the waivers in the run's profile were changed" in done.err) == (2, True), done.err


def test_waivers_put_into_the_profile_of_a_stored_run_are_reported(run: Path) -> None:
    granted = (run / "profile/tiny.yaml").read_text().removeprefix(TINY)
    assert rackcheck("audit", "--from", "bare").status == 1
    with Path("bare/profile/tiny.yaml").open("a") as file:
        file.write(granted)
    done = rackcheck("audit", "--from", "bare")
    assert (done.status, "the waivers in the run's profile were changed" in done.err) == (2, True), done.err


def test_words_about_a_rule_may_change_and_the_waivers_stand(run: Path) -> None:
    file = run / "profile/tiny.yaml"
    file.write_text(f"# a remark\n{file.read_text()}")
    assert rackcheck("audit", "--from", run).status == 0


def test_an_acceptance_has_the_waivers_of_its_profile(entry: str) -> None:
    file = profile(entry)
    done = rackcheck("accept", "new", "pod", "-p", file, "-i", folder() / "pod.yaml", *SITE, *DECLINED)
    assert done.status == 0, done.err
    assert (Path("home/acceptances/pod/profile/ours.yaml")).read_text() == file.read_text()


def test_an_escaped_key_grants_what_a_plain_one_does(entry: str) -> None:
    plain, spelt = profile(entry), PROFILE + entry.replace("waivers:", '"w\\x61ivers":')
    found = waivers.within({"ours.yaml": plain.read_text()})
    assert [file.waivers for file in waivers.within({"ours.yaml": spelt})] == [file.waivers for file in found]
    assert len(found) == 1


def test_profile_files_without_waivers_grant_nothing_and_leave_no_mark() -> None:
    assert waivers.within({"a.yaml": "rules:\n  x: { why: 'waivers: none' }\n", "b.yaml": "x: 1\nwaivers: []\n"}) == ()
    assert waivers.fingerprint(()) == ""
