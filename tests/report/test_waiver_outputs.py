"""Waivers in every output: a waived finding keeps its true verdict beside it, and waivers without effect are named."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pypdfium2
import pytest
from command import Done, rackcheck

from rackcheck.evaluate.waiver import Pin
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.session import subject
from rackcheck.session.run_session import RunSession
from rackcheck.signoff import waivers
from rackcheck.views.signs import Signs
from rackcheck.views.state import Board
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens import groups, waived
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.words import about

UNTIL = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
RULES = """\
rackcheck: 1
profile: small
version: 1
rules:
  os.used: { fact: os.release.id, is: nothing }
  os.lapsed: { fact: os.release.id, is: nothing }
  os.expired: { fact: os.release.id, is: nothing }
  os.unused: { fact: os.release.id, is-not: nothing }
  os.changed: { fact: os.release.id, is: nothing }
"""
WORDS = {
    "os.lapsed": "and was waived as another",
    "os.expired": "its last day was 2020-01-01",
    "os.unused": "the verdict of the rule is pass",
    "os.changed": "the rule was changed since it was waived",
}


@dataclass(frozen=True)
class Made:
    """A run that was judged with five waivers, one of which has an effect."""

    home: Path
    audit: Done


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    home = tmp_path_factory.mktemp("waivers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(home / "state"))
        patch.chdir(home)
        (home / "small.yaml").write_text(RULES)
        assert rackcheck("audit", "localhost", "-p", "./small.yaml", "-q").status == 1
        for rule in ("os.used", "os.lapsed", "os.expired", "os.changed"):
            done = rackcheck(
                "waive", rule, "--nodes", "localhost", "--until", UNTIL, "--by", "Jo", "--ticket", rule.upper(),
                "--reason", "for the test",
            )  # fmt: skip
            assert done.status == 0, done.err
        file = home / "waivers.yaml"
        given = {waiver.rule: waiver for waiver in waivers.load(file).waivers}
        rules = {rule.id: rule for rule in library.load("./small.yaml", registry().catalogue).own}
        unused = replace(given["os.used"], rule="os.unused", digest=rules["os.unused"].digest, ticket="OS.UNUSED")
        changed = [
            given["os.used"],
            replace(given["os.lapsed"], pins=(Pin("os.release.id", "another"),)),
            replace(given["os.expired"], until="2020-01-01"),
            replace(given["os.changed"], digest="0" * 64),
            unused,
        ]
        file.write_text(waivers.added("", changed))
        yield Made(home, rackcheck("audit", "localhost", "-p", "./small.yaml", "-q"))


def report(made: Made, monkeypatch: pytest.MonkeyPatch, form: str, *words: object) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(made.home / "state"))
    target = made.home / f"report.{form}"
    done = rackcheck("report", "last", "--format", form, "-o", target, "-q", *words)
    assert done.status == 0, done.err
    return target


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_the_terminal_names_each_that_hides_nothing_and_why(made: Made) -> None:
    output = " ".join(made.audit.out.split())
    for rule, words in WORDS.items():
        assert f"waiver of {rule} on localhost" in output
        assert words in output
    assert "WAIVED os.used (major, fail without waivers)" in output
    assert made.audit.status == 1


def test_json_has_every_waiver_with_its_state(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(made.home / "state"))
    doc = json.loads(rackcheck("runs", "show", "last", "--json").out)
    states = {w["rule"]: w["state"] for w in doc["waivers"]}
    assert states == {
        "os.used": "used",
        "os.lapsed": "lapsed",
        "os.expired": "expired",
        "os.unused": "unused",
        "os.changed": "lapsed",
    }
    assert doc["counts"]["waived"] == 1
    truths = {v["rule"]: v.get("truth") for v in doc["nodes"]["localhost"]["verdicts"]}
    assert truths["os.used"] == "fail"


@pytest.mark.parametrize("form", ["html", "markdown", "junit", "json", "csv", "pdf"])
def test_every_rendering_names_each_that_hides_nothing_and_why(
    made: Made, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    target = report(made, monkeypatch, form)
    if form == "pdf":
        pages = pypdfium2.PdfDocument(target)
        text = "".join(page.get_textpage().get_text_range() for page in pages)
    elif form == "csv":
        text = "".join(path.read_text() for path in sorted(target.iterdir()))
    else:
        text = target.read_text()
    for rule, words in WORDS.items():
        assert rule in text
        assert squeezed(words) in squeezed(text), (form, words)
    assert "OS.USED" in squeezed(text)
    assert "expired:expired" not in squeezed(text)
    if form in {"html", "pdf"}:
        assert squeezed("1 waiver in force, 4 without effect") in squeezed(text)
    if form == "junit":
        assert "the true verdict is fail; waived until" in text
        assert "fail: waived until" not in text


def test_the_screens_name_each_that_hides_nothing_and_why(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(made.home / "state"))
    desk, signs = RunSession(found=subject.find(store.ids()[-1])), Signs(plain=False)
    board = Board(desk.profile, desk.nodes, desk.racks, desk.waivers)
    for event in desk.events():
        board.take(event)
    output = " ".join(" ".join(str(line) for line in about(board, signs, 200, desk.name)).split())
    for words in WORDS.values():
        assert words in output
    ctx = ViewContext(board, desk, signs)
    details = [" ".join(map(str, entry.details(200))) for entry in groups.shown(ctx, ViewState("groups")).entries.every]
    assert any("os.used  (major, fail without waivers)" in text for text in details)
    listed = {
        entry.rule: " ".join(" ".join(map(str, (entry.line(200), *entry.details(200)))).split())
        for entry in waived.shown(ctx, ViewState("waivers")).entries.every
    }
    assert set(listed) == {"os.used", *WORDS}
    for rule, words in WORDS.items():
        assert words in listed[rule], rule
    assert listed["os.used"].startswith("~ used")
