"""The reading behind the screens: laid on the desk in a thread, taken event by event, told of when it goes wrong."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable

from rackcheck.base.mistake import Mistake
from rackcheck.evaluate.verdict import Outcome
from rackcheck.run.event import Burning, RunDone
from rackcheck.views.burning import Burns
from rackcheck.views.desk import Desk
from rackcheck.views.state import Board
from rackcheck_tui.controllers.looking import Looking
from rackcheck_tui.screens.context import Context
from rackcheck_tui.widgets.words import turned

DRAIN = 0.02
"""Seconds that events are taken at a time, so that a key never waits for long."""

TURN = 0.05
"""Seconds between two looks at what came."""

REST = 4
"""How many times as long as showing took the screen rests, while a reading goes on."""

GOODBYE = 8.0
"""Seconds that a reading has to end when its reader goes: BMCs get their sessions back meanwhile."""


class Reading(Looking):
    """Reads a run, and again; what is shown follows."""

    against: str = "peers"
    _open: Callable[[], Desk]
    _seen, _rest = -1, 0.0
    _next: Board | None = None
    _burns: Burns | None = None
    _asking = _later = False
    _troubled, _broken = 0, ""

    def arrive(self) -> None:
        """Show the place that the reader is at."""
        raise NotImplementedError

    def on_load(self) -> None:
        """Go in order when somebody ends us, or closes the terminal: nodes may be under question."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(number, self.exit)

    def end(self) -> None:
        """When the screens are gone: stop what is being asked, and wait until sessions were given back."""
        if self.ready and self.feed.running:
            self.desk.stop()
            if not self.desk.replays:
                self.feed.join(GOODBYE)

    def lay(self) -> None:
        """Lay the run on the desk, in a thread."""
        try:
            desk = self._open()
        except Exception as error:  # noqa: BLE001  the edge of the thread: it is raised again when the screen is gone
            self.call_from_thread(self._could_not, error)
            return
        self.call_from_thread(self._opened, desk)

    def _could_not(self, error: Exception) -> None:
        self.trouble = error
        self.exit()

    def _opened(self, desk: Desk) -> None:
        """Begin to read what lies on the desk now."""
        self.desk = desk
        self.context = Context(self._board(), desk, self.signs, against=self.against)
        self.feed.start(desk.events)
        self.set_interval(TURN, self._turn)
        self.arrive()

    def _board(self) -> Board:
        return Board(self.desk.profile, self.desk.nodes, self.desk.racks, self.desk.waivers)

    def reload(self) -> None:
        """Read the run from its beginning; what is shown stays until all of it is there.

        A reading that is being made comes first: nodes were asked for it.
        """
        if self.feed.running and not (self.desk.replays or self._next is not None):
            self._later = True
            return
        self._later, self._broken, self._next, self._burns = False, "", self._board(), Burns()
        self.feed.start(self.desk.events)

    def _turn(self) -> None:
        """Take what came, and let the screen follow."""
        if not self.screen_stack:  # it is going
            return
        board = self._next or self.context.board
        burns = self.context.burns if self._next is None or self._burns is None else self._burns
        for event, at in self.feed.take(DRAIN):
            burns.take(event)
            if not isinstance(event, Burning):  # it says nothing of verdicts, and comes many times a second
                board.take(event, at)
        board.beside = self.desk.notes
        if len(self.desk.troubles) > self._troubled:
            self._troubled = len(self.desk.troubles)
            self.tell(self.desk.troubles[-1])
        if board is self._next and not self.feed.running:
            self._turn_over(board)
        if self.feed.failed is not None:
            failed, self.feed.failed = self.feed.failed, None
            self._broken = str(failed) if isinstance(failed, Mistake) else f"rackcheck failed: {failed!r}"
            if board.done is None:  # nobody may take what came so far for the whole
                board.take(RunDone("", Outcome.INCOMPLETE, interrupted=True))
            self._asking = False
            self.write()
        if self._asking and not self.feed.running:
            self._asking = False
            self._forget_fetched()
            self.tell(turned(board))
        if self._later and not self.feed.running:
            self.reload()
        ticking = board.running and self.trail.here.view in {"live", "load"}
        if (ticking or board.version != self._seen) and not self.paused:
            self.pace.want(self._follow)

    def asking(self, text: str) -> None:
        """Say that nodes are asked, until they have answered."""
        self._asking = True
        self.tell(text)

    def _turn_over(self, board: Board) -> None:
        """Show the run that was read again in the place of the one before."""
        self._next, self._seen = None, -1
        if board.done is not None:
            self.context.board, self.context.burns = board, self._burns or Burns()
            self._forget_fetched()

    def _forget_fetched(self) -> None:
        """Read anew what was read in the background: nodes have answered again, or are judged otherwise."""
        self.context.fetched.clear()
        self.context.volatile.clear()
        self.fetch(self.trail.here)

    def _follow(self) -> None:
        """Show the run as it stands now, unless showing it took so long that there is no time for it yet."""
        began = time.monotonic()
        if began < self._rest and self.feed.running:
            return
        self._seen = self.context.board.version
        self.refresh_rows()
        ended = time.monotonic()
        self._rest = ended + (ended - began) * REST
