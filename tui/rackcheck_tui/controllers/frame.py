"""What the parts of the application share: the run on the desk, the place that is shown, work in the background."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.app import App
from textual.screen import Screen

from rackcheck.base.mistake import Mistake
from rackcheck.filter.where import Where
from rackcheck.views.desk import Desk, Said
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.feed import Feed
from rackcheck_tui.controllers.trail import Place, Trail
from rackcheck_tui.pace import Pace
from rackcheck_tui.screens.context import Context
from rackcheck_tui.screens.reader import Reader
from rackcheck_tui.sparing import Sparing
from rackcheck_tui.widgets.entries import Entry, Shown
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import Table
from rackcheck_tui.widgets.themes import Colours


class Frame(App[None]):
    """The application as its parts know each other."""

    desk: Desk
    signs: Signs
    context: Context
    trail: Trail
    feed: Feed
    shown: Shown
    colours: Colours
    pace: Pace
    sparing: Sparing
    paused: bool = False
    trouble: Exception | None = None
    _working: object | None = None

    @property
    def ready(self) -> bool:
        """Whether the run lies on the desk."""
        return hasattr(self, "context")

    @property
    def base(self) -> Screen[Any]:
        """The screen under all that opens over it."""
        return self.screen_stack[0]

    @property
    def table(self) -> Table:
        """The rows of the view that is shown."""
        return self.base.query_one("#rows", Table)

    @property
    def racks(self) -> Racks:
        """The racks, where those are shown."""
        return self.base.query_one(Racks)

    @property
    def on_racks(self) -> bool:
        """Whether racks are shown, and no rows."""
        return self.trail.here.view == "rack"

    @property
    def entry(self) -> Entry | None:
        """The row under the cursor, as an entry."""
        every, table = self.shown.entries.every, self.table
        return every[table.cursor] if table.cursor < len(every) and table.listing is self.shown.entries else None

    def targets(self) -> tuple[str, ...]:
        """The nodes that are acted on: the marked rows', else those of the row under the cursor."""
        if self.on_racks:
            return self.racks.acted_on()
        here = tuple(name for name in self.trail.here.about[:1] if name in self.desk.nodes)
        return self.table.acted_on() or here

    @property
    def under(self) -> tuple[str, ...]:
        """The nodes of the row under the cursor, whatever is marked."""
        if self.on_racks:
            return (self.racks.cursor,) if self.racks.cursor else ()
        if self.entry is not None and self.entry.nodes:
            return self.entry.nodes
        return tuple(name for name in self.trail.here.about[:1] if name in self.desk.nodes)

    def findings(self) -> Mapping[str, Sequence[str]]:
        """What is acted on, nodes by rule: of the marked rows, else of the row under the cursor.

        The rule is empty where a row is about a node and no single rule.
        """
        if self.on_racks:
            return {"": self.racks.acted_on()}
        table, found = self.table, dict[str, dict[str, None]]()
        rows = table.marked_rows() or ((table.cursor,) if table.count else ())
        for entry in (self.shown.entries.every[row] for row in rows):
            if entry.nodes:
                found.setdefault(entry.rule, {}).update(dict.fromkeys(entry.nodes))
        return {rule: tuple(nodes) for rule, nodes in found.items()}

    @property
    def rule(self) -> str:
        """The rule that is acted on: the row's."""
        return self.entry.rule if self.entry is not None and not self.on_racks else ""

    # ---- what the other parts do

    def go(self, place: Place) -> None:
        """Show another place."""
        raise NotImplementedError

    def open_over(self, place: Place) -> None:
        """Open what is no view of its own."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read the run from its beginning."""
        raise NotImplementedError

    def refresh_rows(self) -> None:
        """Make the rows anew, and stay where the reader is."""
        raise NotImplementedError

    def refilter(self, where: Where) -> None:
        """Show only what this filter means."""
        raise NotImplementedError

    def write(self) -> None:
        """Write what stands around the rows."""
        raise NotImplementedError

    def tell(self, text: str) -> None:
        """Say one thing over the rows, until the reader goes elsewhere."""
        raise NotImplementedError

    def asking(self, text: str) -> None:
        """Say that nodes are asked, until they have answered."""
        raise NotImplementedError

    # ---- in the background

    def behind(
        self, work: Callable[[], object], then: Callable[[Any], None], words: str, *, opens: bool = True
    ) -> None:
        """Do what takes a while in a thread, and say what it is; a mistake is told where it was asked for.

        What `opens` something over the place that it was asked in does so nowhere else, and not after an escape.
        """
        asked = self.trail.here
        self._working = token = object()
        self.tell(f"{words} ...")

        def run() -> None:
            try:
                found = work()
            except Mistake as mistake:
                self.call_from_thread(arrived, self.tell, str(mistake))
                return
            except Exception as error:  # noqa: BLE001  the edge of the thread: a fault of ours costs what was asked for
                self.call_from_thread(arrived, self.tell, f"rackcheck failed: {type(error).__name__}: {error}")
                return
            self.call_from_thread(arrived, then, found)

        def arrived(then: Callable[[Any], None], found: object) -> None:
            here = (self.trail.here.view, self.trail.here.about) == (asked.view, asked.about)
            wanted = self._working is token
            if wanted:
                self.drop_work()
            if not opens or (wanted and here):
                then(found)

        self.run_worker(run, thread=True, group="behind")

    def drop_work(self) -> bool:
        """Want no more of what is done in the background; whether anything was."""
        was, self._working = self._working is not None, None
        if was:
            self.tell("")
        return was

    def command(self, words: Sequence[str], title: str) -> None:
        """Call one of rackcheck's commands, and show what it says."""

        def said(answer: Said) -> None:
            text = answer.text.rstrip() or f"done (exit {answer.status})"
            self.read(title, text)

        width = max(self.size.width - 2, 40)
        self.behind(lambda: self.desk.say(words, width), said, title)

    def read(self, title: str, text: str) -> None:
        """Show a text over the whole screen."""
        lines = [Line(((self.signs.piece(row), ""),)) for row in text.rstrip().split("\n")]
        self.push_screen(
            Reader(title, lambda width: [row for line in lines for row in within(line, width, 4)], self.signs)
        )
