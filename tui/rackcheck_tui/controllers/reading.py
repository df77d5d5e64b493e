"""Reads the run for the screens: takes events as they arrive and updates the rows; a failure becomes a message."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from textual.app import App

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.run.event import Burning, Event, RunDone
from rackcheck.views.burning import Burns
from rackcheck.views.open_run import EventSource, RunInfo
from rackcheck.views.state import Board
from rackcheck_tui.controllers.background_reads import Fetching
from rackcheck_tui.controllers.event_feed import Feed
from rackcheck_tui.controllers.run_screen import Readout
from rackcheck_tui.controllers.view_history import Trail
from rackcheck_tui.frame_rate import FrameRate, once
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.words import turned

DRAIN = 0.02
"""Maximum time, in seconds, spent on one batch of events, so that keys respond quickly."""

TURN = 0.05
"""Seconds between two checks for new events of the reading."""

GAP = 0.005
"""Seconds between two batches of events, if more events are queued: keys and updates of the screen are handled then."""

REST = 4
"""Pause between updates during a reading, as a multiple of the CPU time of the last update."""

LONGEST_REST = 2.0
"""Maximum pause in seconds: however long one update takes, the rows do not look as if the reading had stopped."""

GOODBYE = 8.0
"""Time, in seconds, that a reading has to end after the user quits, so that BMC sessions can be closed."""


class ReadingDesk(RunInfo, EventSource, Protocol):
    """The part of the session that a reading needs: the run's metadata and its events."""


def board_of(run: RunInfo) -> Board:
    """Return the state of a run before its first event."""
    return Board(run.profile, run.nodes, run.racks, run.waivers)


class ReaderTask:
    """Reads the run, and reads it again on request; `seen` is the version of the run's state that the rows show."""

    def __init__(
        self, app: App[Any], context: ViewContext, trail: Trail, feed: Feed, pace: FrameRate, readout: Readout,
        fetching: Fetching, desk: ReadingDesk,
    ) -> None:  # fmt: skip
        self._app, self._context, self._trail, self._feed = app, context, trail, feed
        self._pace, self._readout, self._fetching, self._desk = pace, readout, fetching, desk
        self.seen = -1
        self._rest = 0.0
        self._next: Board | None = None
        self._burns: Burns | None = None
        self._collecting = self._later = False
        self._troubled = 0

    @property
    def running(self) -> bool:
        """Return whether more events may arrive."""
        return self._feed.running

    @property
    def collecting(self) -> bool:
        """Return whether data is being collected from nodes, so that quitting now would lose replies."""
        return self.running and not self._desk.replays

    @property
    def under_load(self) -> int:
        """Return the number of nodes under load."""
        burns = self._context.burns
        return len(burns.benches) if burns.running else 0

    def start(self) -> None:
        """Start reading the run, and poll its events from now on."""
        self._feed.start(self._desk.events)
        once(self._app, TURN, self._turns)

    def read_again(self, events: Callable[[], Iterator[Event]], words: str) -> None:
        """Collect from some nodes again and read the events; show a message until the nodes have answered."""
        self._feed.start(events)
        self._collecting = True
        self._readout.message(words)

    def reload(self) -> None:
        """Read the run from its beginning; the current rows stay until the new reading is complete.

        A collection in progress is not interrupted: the run is read from its beginning after the collection.
        """
        if self.running and not (self._desk.replays or self._next is not None):
            self._later = True
            return
        self._later, self._readout.failure, self._next, self._burns = False, "", board_of(self._desk), Burns()
        self._feed.start(self._desk.events)

    def stop(self) -> None:
        """Stop collecting; answers received so far are kept."""
        self._desk.stop()

    def end(self) -> None:
        """Stop when the screens are closed, and wait until all BMC sessions are closed."""
        if self.running:
            self._desk.stop()
            if not self._desk.replays:
                self._feed.join(GOODBYE)

    def _turns(self) -> None:
        """Do one turn, and plan the next one: soon, if events are left."""
        self._turn()
        once(self._app, GAP if self._feed.waiting else TURN, self._turns)

    def _turn(self) -> None:
        """Take queued events, and update the rows."""
        if not self._app.screen_stack:  # the application is ending
            return
        board = self._next or self._context.board
        self._take(board)
        board.beside = self._desk.notes
        if len(self._desk.troubles) > self._troubled:
            self._troubled = len(self._desk.troubles)
            self._readout.message(self._desk.troubles[-1])
        if board is self._next and not self.running:
            self._turn_over(board)
        if self._feed.failed is not None:
            self._fail(board, self._feed.failed)
        if self._collecting and not self.running:
            self._collecting = False
            self._fetching.fetch_again()
            self._readout.message(turned(board))
        if self._later and not self.running:
            self.reload()
        ticking = board.running and self._trail.here.view in {"live", "load"}
        if (ticking or board.version != self.seen) and not self._readout.paused:
            self._pace.want(self._follow)

    def _take(self, board: Board) -> None:
        burns = self._context.burns if self._next is None or self._burns is None else self._burns
        for event, at in self._feed.take(DRAIN):
            burns.take(event)
            if not isinstance(event, Burning):  # no verdict depends on it, and many arrive each second
                board.take(event, at)

    def _fail(self, board: Board, failure: Exception) -> None:
        """Show why the reading failed; a run that has not ended gets the outcome INCOMPLETE."""
        self._feed.failed = None
        self._readout.failure = str(failure) if isinstance(failure, UserError) else f"rackcheck failed: {failure!r}"
        if board.done is None:
            board.take(RunDone("", Outcome.INCOMPLETE, interrupted=True))
        self._collecting = False
        self._readout.paused = False  # no later state follows
        self._readout.refresh()

    def _turn_over(self, board: Board) -> None:
        """Replace the current run by the run that was read again, if it was read completely."""
        self._next, self.seen = None, -1
        if board.done is not None:
            self._context.board, self._context.burns = board, self._burns or Burns()
            self._fetching.fetch_again()

    def _follow(self) -> None:
        """Show the current state of the run, or wait if the last update took long."""
        if self._readout.paused or (time.monotonic() < self._rest and self.running):
            return
        self.seen = self._context.board.version
        began = time.thread_time()
        self._readout.refresh()
        self._rest = time.monotonic() + min((time.thread_time() - began) * REST, LONGEST_REST)
