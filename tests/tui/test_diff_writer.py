"""What is sent to the terminal, read by a terminal of the test: all that is visible, and little more than changed."""

import re
import time
from random import Random
from typing import Any

import pytest
from rich.cells import get_character_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input, Static

from rackcheck_tui.diff_writer import Sparing, TerminalState

WIDTH, HEIGHT = 30, 6


class Glass:
    """A minimal terminal for the screens: cells with their styles, from what is sent to it."""

    def __init__(self) -> None:
        self.cells = [[(" ", "")] * WIDTH for _ in range(HEIGHT)]

    def take(self, sent: str) -> None:
        x = y = 0
        style = ""
        for code, end, sign in re.findall(r"\x1b\[([?\d;]*)([A-Za-z])|(.)", sent):
            if sign:
                width = get_character_cell_size(sign)
                self.cells[y][x : x + width] = [(sign, style), ("", style)][:width]
                x += width
            elif end == "H":
                y, x = (int(part) - 1 for part in (code or "1;1").split(";"))
            elif end == "K":
                assert style == "", "what erases may paint in the style that is on"
                self.cells[y][x:] = [(" ", "")] * (WIDTH - x)
            elif end == "m":
                style = "" if code in {"", "0"} else style + code + ";"
            else:
                assert end in "hlun", f"a sequence that the screens do not need: {code}{end}"

    @property
    def lines(self) -> list[str]:
        return ["".join(sign for sign, _ in line) for line in self.cells]


def strip(*pieces: tuple[str, str]) -> Strip:
    return Strip([Segment(text, Style.parse(style)) for text, style in pieces])


def drawn(shown: TerminalState, *pieces: tuple[int, int, Strip]) -> str:
    console = Console(force_terminal=True, color_system="standard", width=WIDTH)
    return shown.changes(iter(pieces), (WIDTH, HEIGHT), console)


def whole(text: str, style: str = "") -> Strip:
    return strip((text.ljust(WIDTH), style))


def test_the_same_again_sends_nothing() -> None:
    shown = TerminalState()
    assert drawn(shown, (0, 0, whole("hall", "red"))) != ""
    assert drawn(shown, (0, 0, whole("hall", "red"))) == ""


def test_one_cell_that_changes_is_one_cell_that_is_sent() -> None:
    shown = TerminalState()
    drawn(shown, (0, 2, whole("U5 ✔ ✔ ✔ ✔", "green")))
    sent = drawn(shown, (0, 2, strip(("U5 ✔ ✔ ", "green"), ("✘", "red"), (" ✔".ljust(WIDTH - 8), "green"))))
    assert sent == "\x1b[3;8H\x1b[31m✘\x1b[0m"


def test_another_style_is_a_change_too() -> None:
    shown = TerminalState()
    drawn(shown, (0, 0, whole("a b c")))
    assert drawn(shown, (2, 0, strip(("b", "bold")))) == "\x1b[1;3H\x1b[1mb\x1b[0m"


def test_a_line_that_ends_in_blanks_is_erased_and_not_written_out() -> None:
    shown, glass = TerminalState(), Glass()
    first = drawn(shown, (0, 0, whole("short")))
    glass.take(first)
    assert len(first) < 25
    glass.take(drawn(shown, (0, 0, whole("a line that goes to the edge.."))))
    glass.take(drawn(shown, (0, 0, whole("again"))))
    assert glass.lines[0] == "again".ljust(WIDTH)


def test_blanks_with_a_ground_of_their_own_are_written() -> None:
    glass = Glass()
    glass.take(drawn(TerminalState(), (0, 0, whole("x", "on blue"))))
    assert {style for _, style in glass.cells[0]} == {"44;"}


def test_the_terminals_own_colours_are_no_style() -> None:
    assert drawn(TerminalState(), (0, 0, whole("x", "default on default"))) == drawn(
        TerminalState(), (0, 0, whole("x"))
    )
    assert "\x1b[31m" in drawn(TerminalState(), (0, 0, whole("x", "red on default")))


def test_another_size_or_a_lost_screen_is_sent_as_a_whole() -> None:
    shown = TerminalState()
    first = drawn(shown, (0, 0, whole("head")))
    console = Console(force_terminal=True, width=WIDTH)
    assert shown.changes(iter([(0, 0, whole("head"))]), (WIDTH, HEIGHT + 1), console) == first
    shown.forget()
    assert drawn(shown, (0, 0, whole("head"))) == first


def test_what_would_stand_beside_the_screen_is_left_out() -> None:
    shown, glass = TerminalState(), Glass()
    glass.take(drawn(shown, (WIDTH - 2, 0, strip(("abcd", ""))), (0, HEIGHT, whole("below"))))
    assert glass.lines[0].endswith("ab")


@pytest.mark.parametrize("seed", range(40))
def test_after_any_changes_the_terminal_shows_what_was_drawn(seed: int) -> None:
    """Including wide characters that are cut off, half overwritten, and written beside each other."""
    random, shown, glass = Random(seed), TerminalState(), Glass()
    wanted = [[(" ", "")] * WIDTH for _ in range(HEIGHT)]
    for y in range(HEIGHT):
        glass.take(drawn(shown, (0, y, whole(""))))
    for _ in range(60):
        y, x = random.randrange(HEIGHT), random.randrange(WIDTH)
        cells, pieces = list[tuple[str, str]](), list[tuple[str, str]]()
        while len(cells) < WIDTH - x and random.random() < 0.9:
            sign, (style, code) = random.choice("ab   ✘漢"), random.choice([("", ""), ("red", "31;"), ("bold", "1;")])
            width = get_character_cell_size(sign)
            if len(cells) + width > WIDTH - x:
                break
            cells += [(sign, code), ("", code)][:width]
            pieces.append((sign, style))
        if not cells or wanted[y][x][0] == "" or (x + len(cells) < WIDTH and wanted[y][x + len(cells)][0] == ""):
            continue  # the library never draws half of a wide sign
        wanted[y][x : x + len(cells)] = cells
        glass.take(drawn(shown, (x, y, strip(*pieces))))
        assert glass.cells == wanted


class Page(App[None]):
    """Lines of the library's own kinds, sent by their differences."""

    CSS = "Static { height: 1; } Input { border: none; height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.sparing = Sparing(self)

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, self.sparing.difference(renderable))

    def compose(self) -> ComposeResult:
        for number in range(4):
            yield Static(f"line {number}", id=f"s{number}")
        yield Input("words", compact=True)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    written: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "is_headless", property(lambda _: False))
    monkeypatch.setattr(HeadlessDriver, "write", lambda _, data: written.append(data))
    return written


def shows(pilot: Pilot[None]) -> list[str]:
    return ["".join(segment.text for segment in line) for line in pilot.app.screen._compositor.render_strips()]


async def _sent(pilot: Pilot[None], sent: list[str], text: str) -> None:
    """Wait until a text was sent to the terminal."""
    end = time.monotonic() + 20
    while text not in "".join(sent):
        assert time.monotonic() < end, f"{text!r} was not sent: {sent}"
        await pilot.pause()


async def test_an_application_shows_what_it_would_and_sends_a_tenth(sent: list[str]) -> None:
    app = Page()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        glass = Glass()
        glass.take("".join(sent))
        assert glass.lines == shows(pilot)
        sent.clear()
        app.query_one("#s2", Static).update("line 7")
        app.screen.refresh(layout=True)
        await _sent(pilot, sent, "7")
        glass.take("".join(sent))
        assert glass.lines == shows(pilot)
        assert glass.lines[2].startswith("line 7")
        assert len("".join(sent)) < 60
        sent.clear()
        app.sparing.forget()
        await _sent(pilot, sent, "line 0")  # a terminal that has lost something is sent everything


async def test_what_is_overridden_is_still_the_librarys() -> None:
    assert callable(App._display)
    assert set(ChopsUpdate([], [], []).__dict__) == {"chops", "spans", "chop_ends"}
    assert {"strips", "region"} <= set(LayoutUpdate.__init__.__code__.co_varnames)
