"""The tutorial of `docs/guide/profiles.md`, typed line by line in an empty folder: the output is the one it shows."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from command import Done, rackcheck
from places import ROOT

PAGE = ROOT / "docs" / "guide" / "profiles.md"
TUTORIAL = PAGE.read_text(encoding="utf-8").partition("## Tutorial\n")[2].partition("\n## ")[0]
PIECE = re.compile(
    r"^```yaml\n(?P<file>rackcheck: 1\n.*?)^```$"
    r"|^```text\n(?P<output>.*?)^```$"
    r"|^ {4}(?P<line>rackcheck .*?)(?: {2,}exit (?P<status>\d+))?$",
    re.MULTILINE | re.DOTALL,
)
GAP = "…"
"""A line of the page for lines that it leaves out."""


@dataclass(frozen=True)
class Step:
    """One command line of the page, the status that it ends with, and what the page shows of its output."""

    line: str
    status: int
    output: str


@dataclass(frozen=True)
class Saved:
    """A file that the reader is to save under its profile's name."""

    name: str
    text: str


def pieces() -> Iterator[Step | Saved]:
    found = list(PIECE.finditer(TUTORIAL))
    for at, piece in enumerate(found):
        if piece["file"]:
            name = re.search(r"^profile: (\S+)$", piece["file"], re.MULTILINE)
            assert name is not None
            yield Saved(f"{name[1]}.yaml", piece["file"])
        elif piece["line"]:
            after = found[at + 1]["output"] if at + 1 < len(found) else None
            yield Step(piece["line"], int(piece["status"] or 0), after or "")


STEPS = [piece for piece in pieces() if isinstance(piece, Step)]


def timely(line: str) -> str:
    """Fix the date so that a waiver's last day is within a year."""
    soon = (datetime.now(UTC).date() + timedelta(days=60)).isoformat()
    return re.sub(r"\d{4}-\d\d-\d\d", lambda day: soon if date.fromisoformat(day[0]) else day[0], line)


def held(step: Step, done: Done) -> None:
    """Compare the result of a line with what the page shows for it."""
    assert done.status == step.status, f"{step.line}\n{done.out}\n{done.err}"
    rows = [line.rstrip() for line in (done.out + done.err).splitlines()]
    at = 0
    for part in re.split(rf"^{GAP}\n", step.output, flags=re.MULTILINE):
        shown = part.splitlines()
        found = [n for n in range(at, len(rows) - len(shown) + 1) if rows[n : n + len(shown)] == shown]
        assert found, f"{step.line}\nmissing at this place: {part}\n{done.out}"
        at = found[0] + len(shown)


def test_the_tutorial_run_in_an_empty_folder_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("RACKCHECK_HOME", str(tmp_path / "home")), ("COLUMNS", "120"), ("LC_ALL", "C.UTF-8")):
        monkeypatch.setenv(name, value)
    for piece in pieces():
        if isinstance(piece, Saved):
            Path(piece.name).write_text(piece.text, encoding="utf-8")
        else:
            held(piece, rackcheck(*shlex.split(timely(piece.line))[1:]))


def test_the_tutorial_shows_every_command_that_a_profile_is_written_with() -> None:
    wanted = {
        "facts", "probe show", "audit", "profile check", "profile explain", "profile diff", "profile learn",
        "profile schema", "diff", "waive", "remedy", "capture",
    }  # fmt: skip
    lines = " ".join(step.line for step in STEPS)
    assert {words for words in wanted if f"rackcheck {words} " not in lines} == set()


def test_every_output_that_the_tutorial_shows_is_compared() -> None:
    compared = [step for step in STEPS if step.output]
    assert len(compared) == TUTORIAL.count("```text\n") > 8


def test_the_schema_of_the_tutorial_is_the_one_its_modeline_names() -> None:
    (step,) = (step for step in STEPS if "profile schema" in step.line)
    assert f"\n# yaml-language-server: $schema={shlex.split(step.line)[-1]}\n" in TUTORIAL
