"""Pacing of an application whose terminal is simulated: it reads what is sent, and answers when the test lets it."""

import asyncio
import io
import os
import subprocess
import sys
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace
from typing import cast

import pytest
from paused_clock import paused_clock
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import CursorPosition
from textual.widgets import Static

from rackcheck_tui.frame_rate import LONGEST, PATIENCE, QUESTION, FrameRate, TerminalWriter
from rackcheck_tui.slow_link import settle_environment


class Live(App[None]):
    """A line that is drawn live and one that a key draws."""

    def __init__(self, hz: float, *, slow: bool = False) -> None:
        super().__init__()
        self.pace = FrameRate(self, hz, slow=slow)
        self.drawn = 0

    def compose(self) -> ComposeResult:
        yield Static("", id="live")
        yield Static("", id="key")

    def draw(self) -> None:
        self.drawn += 1
        self.query_one("#live", Static).update(f"live {self.drawn}" * 40)

    def key_x(self) -> None:
        self.query_one("#key", Static).update("the key was seen")

    def on_cursor_position(self) -> None:
        self.pace.answered()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What goes to the terminal; the library treats it as a real one, so it draws."""
    written: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "is_headless", property(lambda _: False))
    monkeypatch.setattr(HeadlessDriver, "write", lambda _, data: written.append(data))
    return written


async def until(true: Callable[[], bool]) -> None:
    end = monotonic() + 30
    while not true():
        assert monotonic() < end, "the condition never became true"
        await asyncio.sleep(0.005)


def answer(app: App[None]) -> None:
    app.post_message(CursorPosition(0, 0))


def questions(sent: list[str]) -> int:
    return sent.count(QUESTION)


# ---- how often


async def test_what_is_wanted_often_is_drawn_no_oftener_than_the_pace() -> None:
    app = Live(hz=5)
    async with app.run_test():
        began = monotonic()
        while monotonic() < began + 0.7:
            app.pace.want(app.draw)
            await asyncio.sleep(0.005)
        assert 2 <= app.drawn <= 1 + (monotonic() - began) * 5


async def test_what_is_wanted_by_several_is_drawn_in_one_turn_each_once() -> None:
    app, others = Live(hz=5), list[str]()

    def other() -> None:
        others.append("drawn")

    async with app.run_test():
        for _ in range(20):
            app.pace.want(app.draw)
            app.pace.want(other)
        await until(lambda: app.drawn > 0)
        assert (app.drawn, others, app.pace.frames) == (1, ["drawn"], 1)


async def test_nothing_runs_while_nothing_is_wanted() -> None:
    app = Live(hz=100)
    async with app.run_test():
        app.pace.want(app.draw)
        await until(lambda: app.drawn == 1)
        await asyncio.sleep(0.1)
        assert (app.pace.frames, app.pace._timer) == (1, None)


async def test_a_job_with_more_to_draw_goes_on_before_its_next_turn() -> None:
    app, left = Live(hz=0.5), [3]

    def piece() -> bool:
        left[0] -= 1
        return left[0] > 0

    async with app.run_test():
        app.pace.want(piece)
        await until(lambda: left[0] == 0)
        assert app.pace.frames == 3


async def test_drawing_goes_on_after_pauses_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer of Textual never calls its function if this process pauses just when the timer begins to wait."""
    app, left = Live(hz=1000), [20]

    def piece() -> bool:
        left[0] -= 1
        return left[0] > 0

    async with app.run_test():
        paused_clock(monkeypatch, 0.2)
        app.pace.want(piece)
        await until(lambda: left[0] == 0)


# ---- what the terminal has taken


async def test_no_live_frame_is_sent_before_the_terminal_has_answered_to_the_last(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test() as pilot:
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)
        app.pace.want(app.draw)
        await asyncio.sleep(0.3)
        assert app.drawn == 1
        answer(app)
        await until(lambda: app.drawn == 2)
        await until(lambda: questions(sent) == 2)
        await pilot.pause()


async def test_the_terminal_query_is_sent_after_the_frame_it_is_about(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test() as pilot:
        await pilot.pause()
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)
        first = next(number for number, data in enumerate(sent) if "live 1" in data)
        assert first < sent.index(QUESTION), "the library may paint the same line again later"


async def test_a_keys_own_drawing_is_not_held_back_while_a_live_frame_is(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test() as pilot:
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)
        app.pace.want(app.draw)
        await pilot.press("x")
        await until(lambda: any("the key was seen" in data for data in sent))
        assert app.drawn == 1, "the terminal has not answered yet"


async def test_a_terminal_that_never_answers_is_waited_for_once_and_not_queried_again(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test():
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)
        began = monotonic()
        app.pace.want(app.draw)
        await until(lambda: app.drawn == 2)
        assert monotonic() - began > PATIENCE * 0.8
        for number in (3, 4):
            app.pace.want(app.draw)
            await until(lambda number=number: app.drawn == number)  # type: ignore[misc]
        assert monotonic() - began < PATIENCE * 1.95, "it would take twice as long if it was waited for again"
        assert questions(sent) == 1


async def test_a_late_answer_has_the_terminal_queried_again(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test() as pilot:
        app.pace._silent = True
        answer(app)
        await pilot.pause()
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)


async def test_nothing_live_is_sent_while_the_library_still_has_something_to_send(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test():
        writer = WriterThread(io.StringIO())
        writer.write("a frame that is not read")
        cast("SimpleNamespace", app._driver)._writer_thread = writer
        app.pace.want(app.draw)
        await asyncio.sleep(0.3)
        assert app.drawn == 0
        writer._queue.get()
        await until(lambda: app.drawn == 1)


async def test_a_slow_link_gets_fewer_and_smaller_frames_than_it_could_carry(sent: list[str]) -> None:
    app = Live(hz=100, slow=True)
    async with app.run_test():
        assert (app.pace.hz, app.pace.room) == (2.0, 1250)
        app.pace._measure(0.02, 1000)
        app.pace._measure(0.27, 1000)
        assert app.pace.room == 400
        app.pace._measure(0.12, 4000)
        assert app.pace.room == 2000
        app.pace._measure(0.5, 500)
        for _ in range(5):
            app.pace._measure(0.02, 500)
        assert app.pace.room == 1250, "it is used again, within the limit of a slow link"


async def test_a_link_is_not_taken_for_slow_for_being_long(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test():
        for seconds in (0.2, 0.21, 0.22):
            app.pace._measure(seconds, 500)
        assert app.pace.room is None
        app.pace._measure(0.5, 500)
        assert app.pace.room == 400
        for _ in range(10):
            app.pace._measure(0.2, 500)
        assert app.pace.room is None, "it is fast again"


async def test_a_link_is_not_slow_because_the_process_is_busy_or_the_frame_small(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test():
        app.pace._measure(0.01, 500)
        app.pace._measure(0.2, 500, busy=0.18)
        assert app.pace.room is None, "the reply waited for this process"
        app.pace._measure(0.2, 6)
        assert app.pace.room is None, "a cursor's position does not show how many bytes a second the link carries"
        app.pace._measure(0.2, 500)
        assert app.pace.room == 400


async def test_live_content_does_not_stop_however_slow_the_link_is_estimated(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test():
        app.pace._rate = 1.0
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)
        assert app.pace._due - monotonic() <= LONGEST
        answer(app)
        app.pace.want(app.draw)
        await until(lambda: app.drawn == 2)


async def test_the_end_waits_for_an_answer_that_is_under_way_but_not_for_long(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test():
        app.pace.want(app.draw)
        await until(lambda: questions(sent) == 1)
        waiting = asyncio.create_task(app.pace.settle(seconds=5))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        answer(app)
        await asyncio.wait_for(waiting, 1)


# ---- what the library does behind its front


async def test_bytes_are_counted_as_the_terminal_gets_them(sent: list[str]) -> None:
    app = Live(hz=100)
    async with app.run_test() as pilot:
        app.pace.wire.meter()
        app.pace.wire.meter()
        sent.clear()
        app.query_one("#live", Static).update("✘ ✔")
        await pilot.pause()
        await until(lambda: app.pace.wire.sent > 0)
        assert app.pace.wire.sent == len("".join(sent).encode())


def test_the_librarys_queue_is_where_it_is_looked_for() -> None:
    writer = WriterThread(io.StringIO())
    writer.write("waits")
    app = App[None]()
    app._driver = cast("Driver", SimpleNamespace(_writer_thread=writer))
    assert TerminalWriter(app).waiting == 1
    assert "_writer_thread" in LinuxDriver.__init__.__code__.co_names


def test_where_there_is_no_such_queue_nothing_seems_to_wait() -> None:
    app = App[None]()
    assert (TerminalWriter(app).waiting, TerminalWriter(app).answers) == (0, False)
    app._driver = cast("Driver", SimpleNamespace(_writer_thread=SimpleNamespace(_queue=7)))
    assert TerminalWriter(app).waiting == 0


def test_an_answer_is_no_key() -> None:
    tokens = [*XTermParser().feed("\x1b[1;1R"), *XTermParser().feed("\x1b[24;80R")]
    assert [type(token) for token in tokens] == [CursorPosition, CursorPosition]


# ---- the environment of a slow link


def test_a_slow_link_is_settled_before_the_library_is_loaded_and_what_the_reader_set_stays() -> None:
    environment = {"TEXTUAL_FPS": "7"}
    settle_environment("slow", environment)
    assert environment == {
        "TEXTUAL_FPS": "7",
        "TEXTUAL_ANIMATIONS": "none",
        "TEXTUAL_SMOOTH_SCROLL": "0",
        "TEXTUAL_COLOR_SYSTEM": "standard",
    }
    untouched: dict[str, str] = {}
    settle_environment("auto", untouched)
    assert untouched == {}


def test_the_library_takes_what_was_settled_and_settling_does_not_load_it() -> None:
    program = """
import os, sys
from rackcheck_tui.slow_link import settle_environment
settle_environment("slow", os.environ)
assert not any(name.split(".")[0] == "textual" for name in sys.modules)
from textual import constants as c
print(c.MAX_FPS, c.TEXTUAL_ANIMATIONS, c.SMOOTH_SCROLL, c.COLOR_SYSTEM)
"""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TEXTUAL")}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=clean)
    assert result.stdout.split() == ["20", "none", "False", "standard"]
