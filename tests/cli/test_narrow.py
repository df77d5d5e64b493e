"""Eighty columns are enough: no help, list or result of a command is wider than the terminal it is written to."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command import rackcheck
from rack_runs import accepted, folder
from stored_runs import made

from rackcheck.cli import COMMANDS, cli
from rackcheck.cli.tables import table
from rackcheck.views.terminal import Line, within

WIDTH = 80

LISTS = (
    ("runs", "list"), ("accept", "show"), ("accept", "show", "pod"), ("accept", "show", "pod", "--all"), ("sim", "list"),
    ("sim", "show", "sim:hall"), ("profile", "list"), ("probe", "list"), ("inventory", "show", "-i", "pod.yaml"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def eighty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    monkeypatch.chdir(folder())


def wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > WIDTH]


def every(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and every group, by the words that call it."""
    yield words
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from every(inner, (*words, name))


def test_every_command_prints_its_help() -> None:
    asked = set(every(cli))
    assert {(name,) for name in COMMANDS} <= asked
    assert ("inventory", "import") in asked


@pytest.mark.parametrize("words", list(every(cli)), ids=" ".join)
def test_no_line_of_a_help_is_wider_than_the_terminal(words: tuple[str, ...]) -> None:
    done = rackcheck(*words, "--help")
    assert done.status == 0
    assert done.out
    assert not wide(done.out)


@pytest.mark.parametrize("terminal", ["xterm-256color", "dumb"])
@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_no_line_of_a_list_is_wider_than_the_terminal(
    words: tuple[str, ...], terminal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", terminal)
    assert accepted("pod", "first").status == 0
    done = rackcheck(*words)
    assert done.status in {0, 1, 3}, done.err
    assert not wide(done.out)


def test_runs_stand_in_one_line_each_and_no_name_is_cut() -> None:
    names = ["20260101T000000Z-1a2b3", "20260101T000000Z-0a2b3"]
    for name in names:
        made(name, {f"n{i}": {} for i in range(120)}, {"n1": "a"})
    head, *rows = rackcheck("runs", "list").out.splitlines()
    assert head.split() == ["run", "profile", "nodes", "verdict", "fail", "unknown", "targets"]
    assert [row.split()[0] for row in rows] == names
    assert not wide("\n".join(rows))


def test_the_times_of_runs_are_shown_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    made("20260101T000000Z-1a2b3", {"n1": {}})
    assert rackcheck("runs", "list").out.split()[:3] == ["run", "time", "profile"]


def test_a_run_whose_name_has_no_time_keeps_its_time() -> None:
    made("20260202T000000Z-1a2b3", {"n1": {}})
    assert "2026-01-01T00:00:00Z" in rackcheck("runs", "list").out


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_a_table_cuts_words_and_never_a_name_and_fits(width: int) -> None:
    name = "20261121T114913Z-05b07"
    rows = [(name, "some words of any length " * 3, "FAIL", "dgx[01-08]", "a note " * 20)]
    found = [str(line) for line in table(("run", "words", "verdict", "nodes", "note"), rows, width=width)]
    assert max(map(len, found)) <= width
    for word in (name, "FAIL", "dgx[01-08]"):
        assert any(word in line for line in found), (word, found)


@pytest.mark.parametrize("width", [12, 40, 79])
def test_a_line_that_is_too_wide_goes_on_below_and_loses_no_word(width: int) -> None:
    line = Line((("FAIL ", "red"), ("a title of words,of sets,and " * 4, ""), ("x" * 200, ""), (" dgx[1,3,5]", "")))
    found = [str(part) for part in within(line, width, 4)]
    assert max(map(len, found)) <= width
    assert "".join("".join(found).split()) == "".join(str(line).split())
    assert [str(part) for part in within(line, 1000, 4)] == [str(line)]
