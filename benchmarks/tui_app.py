"""The application of benchmarks/tui.py: our widgets, minimal ones, and the library's own, with the same changes.

    python benchmarks/tui_app.py ours|canvas|racks|static|grid|table|stock-table|bare [--link slow]

Key x moves the cursor, where there is one, and counts in the last line; o shows the rows of a table, f the matches.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from rackcheck_tui.slow_link import settle_environment

WAYS = ("ours", "canvas", "racks", "static", "grid", "table", "stock-table", "bare")
parser = argparse.ArgumentParser()
parser.add_argument("way", choices=WAYS)
parser.add_argument("--link", choices=("auto", "slow"), default="auto")
parser.add_argument("--nodes", type=int, default=1024)
parser.add_argument("--rows", type=int, default=100_000)
parser.add_argument("--share", type=float, default=0.05)
parser.add_argument("--hz", type=float, default=4.0)
chosen = parser.parse_args()
settle_environment(chosen.link, os.environ)

from rich.segment import Segment  # noqa: E402
from rich.style import Style  # noqa: E402
from rich.text import Text  # noqa: E402
from textual.app import App, ComposeResult  # noqa: E402
from textual.containers import Grid  # noqa: E402
from textual.geometry import Region  # noqa: E402
from textual.strip import Strip  # noqa: E402
from textual.widget import Widget  # noqa: E402
from textual.widgets import DataTable, Static  # noqa: E402

if TYPE_CHECKING:  # a bare application must not load what it does not need
    from rackcheck.views.terminal import Line

STATES = (("✔", "green"), ("!", "yellow"), ("✘", "bold red"), ("~", "cyan"), ("?", "bold magenta"), ("·", "dim"))
RACK, SIDE = 64, 8
"""Nodes of a rack, and how many of them are side by side."""

HEAD = "rackcheck tui benchmark"


def echo(count: int) -> str:
    """Return the last line after this many keys: every cell differs from the previous one, so that all are sent."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[count % 26] * 8


class Canvas(Widget):
    """The smallest widget that draws cells: one widget, changed cells only, equal neighbours as one piece."""

    DEFAULT_CSS = "Canvas { height: auto; width: auto; }"

    def __init__(self, count: int, side: int) -> None:
        super().__init__()
        self.side, self.states = side, [0] * count
        self.styles.width, self.styles.height = side * 2, count // side

    def render_line(self, y: int) -> Strip:
        """Write a line."""
        row = [STATES[state] for state in self.states[y * self.side : (y + 1) * self.side]]
        return Strip([Segment(f"{sign} ", Style.parse(style)) for sign, style in row]).simplify()

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Change cells."""
        for place, state in changes:
            self.states[place] = state
        self.refresh(*(Region(place % self.side * 2, place // self.side, 2, 1) for place, _ in changes))


class Bench(App[None]):
    """A head, the measured widgets, and the line where keys are counted."""

    CSS = """
    #head, #keys { height: 1; } #body { height: 1fr; }
    #racks { grid-size: 9; grid-columns: 16; grid-rows: 8; grid-gutter: 1 5; height: 1fr; }
    #cells { grid-size: 64; grid-columns: 2; grid-rows: 1; height: 1fr; } #cells Static { width: 2; height: 1; }
    """
    BINDINGS = [("x", "count", ""), ("o", "open", ""), ("f", "filter", "")]  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.counted = 0
        self.random = Random(2)  # noqa: S311

    def compose(self) -> ComposeResult:
        """Lay it out."""
        yield Static(HEAD, id="head")
        yield from self.body()
        yield Static("", id="keys")

    def body(self) -> Iterator[Widget]:
        """Yield the measured widgets."""
        yield Static("", id="body")

    def on_mount(self) -> None:
        """Start changing cells where there are any."""
        if chosen.way in {"ours", "canvas", "racks", "static", "grid"} and chosen.hz:
            self.set_interval(1 / chosen.hz, self.feed)

    def feed(self) -> None:
        """Change some cells."""
        count = int(chosen.nodes * chosen.share)
        places = self.random.sample(range(chosen.nodes), count)
        self.put([(place, self.random.randrange(len(STATES))) for place in places])

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Show changed cells."""

    def action_count(self) -> None:
        """Show in the last line how many keys there were."""
        self.counted += 1
        self.query_one("#keys", Static).update(echo(self.counted), layout=False)


class OneCanvas(Bench):
    """All nodes in one canvas."""

    def body(self) -> Iterator[Widget]:
        """The canvas."""
        yield Canvas(chosen.nodes, 64)
        yield Static("", id="body")

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Show changed cells."""
        self.query_one(Canvas).put(changes)


class Canvases(Bench):
    """One canvas for each rack."""

    def body(self) -> Iterator[Widget]:
        """The canvases."""
        yield Grid(*(Canvas(RACK, SIDE) for _ in range(chosen.nodes // RACK)), id="racks")

    def on_mount(self) -> None:
        """Cache the widgets."""
        self.canvases = list(self.query(Canvas))
        super().on_mount()

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Show changed cells."""
        by: dict[int, list[tuple[int, int]]] = {}
        for place, state in changes:
            by.setdefault(place // RACK, []).append((place % RACK, state))
        for number, some in by.items():
            self.canvases[number].put(some)


class Statics(Bench):
    """One library widget for each node."""

    def body(self) -> Iterator[Widget]:
        """The widgets."""
        yield Grid(*(Static("✔ ") for _ in range(chosen.nodes)), id="cells")

    def on_mount(self) -> None:
        """Cache the widgets."""
        self.cells = list(self.query_one("#cells").query(Static))
        super().on_mount()

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Show changed cells."""
        with self.batch_update():
            for place, state in changes:
                sign, style = STATES[state]
                self.cells[place].update(Text(f"{sign} ", style), layout=False)


class StockGrid(Bench):
    """The library's table as a grid."""

    def body(self) -> Iterator[Widget]:
        """The table."""
        yield DataTable(show_header=False, cell_padding=0, id="body")

    def on_mount(self) -> None:
        """Fill it."""
        table = self.query_one(DataTable)
        self.columns = table.add_columns(*("  " for _ in range(64)))
        self.lines = table.add_rows([["✔ "] * 64 for _ in range(chosen.nodes // 64)])
        super().on_mount()

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Show changed cells."""
        table = self.query_one(DataTable)
        for place, state in changes:
            sign, style = STATES[state]
            table.update_cell(self.lines[place // 64], self.columns[place % 64], Text(f"{sign} ", style))


class Spared(Bench):
    """Sends only what changes."""

    def __init__(self) -> None:
        from rackcheck_tui.diff_writer import Sparing  # noqa: PLC0415

        super().__init__()
        self.sparing = Sparing(self)

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, self.sparing.difference(renderable))


class Ours(Spared):
    """Our racks, paced, with a cursor that the key moves, too."""

    def body(self) -> Iterator[Widget]:
        """The racks."""
        from rackcheck.views.modes import Cell  # noqa: PLC0415
        from rackcheck.views.signs import Signs  # noqa: PLC0415
        from rackcheck_tui.frame_rate import FrameRate  # noqa: PLC0415
        from rackcheck_tui.widgets.rackview import Racks  # noqa: PLC0415

        self.pace = FrameRate(self, slow=chosen.link == "slow")
        self.racks = Racks(Signs(plain=False), id="body")
        self.states = [Cell(sign, style) for sign, style in STATES]
        yield self.racks

    def on_mount(self) -> None:
        """Show the racks."""
        from rackcheck_tui.widgets.panels import Plain as Panel  # noqa: PLC0415

        self.names = [f"n{place:05d}" for place in range(chosen.nodes)]
        panels = []
        for number in range(chosen.nodes // RACK):
            nodes = self.names[number * RACK : (number + 1) * RACK]
            rows = tuple(tuple(nodes[first : first + SIDE]) for first in range(0, RACK, SIDE))
            panels.append(Panel(f"r{number:02}", rows, tuple(f"U{unit}" for unit in range(8, 0, -1))))
        self.racks.show(panels)
        self.racks.put(dict.fromkeys(self.names, self.states[0]))
        self.racks.focus()
        super().on_mount()

    def put(self, changes: Sequence[tuple[int, int]]) -> None:
        """Queue changed cells."""
        self.racks.put_later({self.names[place]: self.states[state] for place, state in changes})
        self.pace.want(self.flush)

    def flush(self) -> bool:
        """Show as many cells as the link takes."""
        return self.racks.flush(self.pace.room)

    def on_cursor_position(self) -> None:
        """Pass on the terminal's reply."""
        self.pace.answered()

    def action_count(self) -> None:
        """Move and count."""
        self.racks.action_go(1 if self.counted % 16 < 8 else -1, 0)
        super().action_count()


Row = tuple[str, str, str, str]


def rows() -> list[Row]:
    """Verdicts of a fleet as in memory: a hundred thousand rows over a few texts."""
    random = Random(1)  # noqa: S311
    nodes = [f"r{number // 18:03}-n{number % 18:02}" for number in range(chosen.rows // 100)]
    rules = [f"plane{number % 7}.thing{number}.setting" for number in range(300)]
    values = [f"got {number}, want {number + 1}" for number in range(50)]
    states = ["pass", "fail", "warn", "unknown"]
    return [
        (nodes[number // 100], random.choice(rules), random.choice(states), random.choice(values))
        for number in range(chosen.rows)
    ]


def holding(every: Sequence[Row], word: str) -> list[Row]:
    """Return the rows with a word in them."""
    return [row for row in every if any(word in text for text in row)]


class OurTable(Spared):
    """Our table."""

    def body(self) -> Iterator[Widget]:
        """The table."""
        from rackcheck.views.signs import Signs  # noqa: PLC0415
        from rackcheck_tui.widgets.table import TableWidget  # noqa: PLC0415

        self.rows = rows()
        self.table = TableWidget(Signs(plain=False), id="body")
        yield self.table

    def action_open(self) -> None:
        """Show all rows."""
        self.fill(self.rows, "o")

    def action_filter(self) -> None:
        """Show the rows that contain a word."""
        self.fill(holding(self.rows, "thing77."), "f")

    def fill(self, some: Sequence[Row], key: str) -> None:
        """Show rows."""
        self.table.show(Verdicts(some))
        self.table.focus()
        self.query_one("#keys", Static).update(key * 8, layout=False)

    def action_count(self) -> None:
        """Move and count."""
        self.table.action_page(1)
        super().action_count()


class Verdicts:
    """Rows as our table takes them."""

    def __init__(self, some: Sequence[Row]) -> None:
        self.rows = some

    def __len__(self) -> int:
        return len(self.rows)

    def name(self, row: int) -> str:
        """Return the name of a row."""
        node, rule, *_ = self.rows[row]
        return f"{node} {rule}"

    def nodes(self, row: int) -> tuple[str, ...]:
        """Return the node of a row."""
        return (self.rows[row][0],)

    def head(self, width: int) -> "Line":
        """Return the column headings."""
        return self._line(("node", "rule", "verdict", "why"), width)

    def line(self, row: int, width: int) -> "Line":
        """Write a row."""
        return self._line(self.rows[row], width)

    def details(self, row: int, width: int) -> Sequence["Line"]:
        """Return all details of a row."""
        return [self.line(row, width)]

    def _line(self, texts: Row, width: int) -> "Line":
        from rackcheck.views.signs import Signs  # noqa: PLC0415
        from rackcheck.views.terminal import Line  # noqa: PLC0415

        fit = Signs(plain=False).fit
        node, rule, state, why = texts
        return Line((
            (fit(node, 14), "bold"), (fit(rule, 30), ""), (fit(state, 9), "red"), (fit(why, max(width - 53, 0)), ""),
        ))  # fmt: skip


class StockTable(Bench):
    """The library's table."""

    def body(self) -> Iterator[Widget]:
        """The table."""
        self.rows = rows()
        self.table: DataTable[str] = DataTable(cursor_type="row", id="body")
        yield self.table

    def on_mount(self) -> None:
        """Add its columns."""
        self.table.add_columns("node", "rule", "verdict", "why")

    def action_open(self) -> None:
        """Show all rows."""
        self.fill(self.rows, "o")

    def action_filter(self) -> None:
        """Show the rows that contain a word."""
        self.fill(holding(self.rows, "thing77."), "f")

    def fill(self, some: Sequence[Row], key: str) -> None:
        """Show rows."""
        self.table.clear()
        self.table.add_rows(some)
        self.table.focus()
        self.query_one("#keys", Static).update(key * 8, layout=False)

    def action_count(self) -> None:
        """Move and count."""
        self.table.action_page_down()
        super().action_count()


APPS: dict[str, type[Bench]] = {
    "ours": Ours, "canvas": OneCanvas, "racks": Canvases, "static": Statics, "grid": StockGrid,
    "table": OurTable, "stock-table": StockTable, "bare": Bench,
}  # fmt: skip

if __name__ == "__main__":
    APPS[chosen.way]().run()
