"""Racks side by side; a change redraws only a few cells, and one cursor moves over all nodes."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Resize
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive

from rackcheck.views.modes import Cell
from rackcheck.views.signs import Signs
from rackcheck_tui.widgets.onerack import UNSEEN, RackView, spans
from rackcheck_tui.widgets.panels import GAP, Density, FrontPanel, PanelGrid, plane

_SPAN = 24
"""Estimated number of bytes that a redrawn region needs in addition to its cells, for its position and styles."""


class Racks(Container, can_focus=True):
    """Racks side by side, with one cursor over all their nodes."""

    DEFAULT_CSS = f"""
    Racks {{ layout: grid; grid-gutter: {GAP - 1} {GAP}; grid-rows: auto; overflow-y: auto; overflow-x: hidden;
             scrollbar-size-vertical: 1; }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "go(-1, 0)", "to the left", show=False),
        Binding("right,l", "go(1, 0)", "to the right", show=False),
        Binding("down,j", "go(0, 1)", "down", show=False),
        Binding("up,k", "go(0, -1)", "up", show=False),
        Binding("home,g", "end(0)", "to the first node", show=False),
        Binding("end,G", "end(-1)", "to the last node", show=False),
        Binding("space", "mark", "mark", show=False, tooltip="mark or unmark the node"),
        Binding("asterisk", "mark_all", "mark all", key_display="*", show=False, tooltip="mark every node, or none"),
        Binding("enter", "open", "node", tooltip="open the node"),
    ]

    cursor: reactive[str] = reactive("", repaint=False)

    class AboutNode(Message):
        """Base class of the Textual messages that the rack view sends about the node under the cursor."""

        def __init__(self, racks: "Racks", node: str) -> None:
            super().__init__()
            self.racks, self.node = racks, node

        @property
        def control(self) -> "Racks":
            """The racks that sent the message; Textual compares them with the selectors of message handlers."""
            return self.racks

    class Moved(AboutNode):
        """The cursor moved to another node."""

    class Opened(AboutNode):
        """The node under the cursor was opened."""

    class Marked(AboutNode):
        """The marked nodes have changed."""

    def __init__(self, signs: Signs, *, id: str | None = None) -> None:  # noqa: A002  Textual's parameter name
        super().__init__(id=id)
        self.signs = signs
        self.marks: set[str] = set()
        self.views: list[RackView] = []
        self._panels: tuple[FrontPanel, ...] = ()
        self._density = Density()
        self._plane = PanelGrid((), 1)
        self._cells: dict[str, Cell] = {}
        self._pending: dict[int, dict[str, Cell]] = {}
        self._stale: set[int] = set()

    # ---- what it shows

    def show(self, panels: Sequence[FrontPanel], *, names: bool = False, word: int = 0) -> None:
        """Show these racks, with a symbol for each node.

        If `names` is true, each node's symbol is followed by the node's name and by a description of the symbol in
        `word` cells. The cells, marks and cursor of nodes that still exist are kept.
        """
        longest = max((len(node) for panel in panels for row in panel.rows for node in row), default=0)
        self._panels, self._density = tuple(panels), Density(longest, word) if names else Density()
        self._lay_out()
        there = self._plane.places
        self._pending.clear()
        self._stale.clear()
        self._cells = {node: cell for node, cell in self._cells.items() if node in there}
        self.marks = {node for node in self.marks if node in there}
        self.views = [RackView(draft, self.signs, self._cells, self.marks) for draft in self._plane.drafts]
        self.remove_children()
        self.mount_all(self.views)
        at = self.cursor if self.cursor in there else next(iter(there), "")
        self.set_reactive(Racks.cursor, at)
        self._point(at)
        self.post_message(self.Moved(self, at))

    def put(self, cells: Mapping[str, Cell]) -> None:
        """Change the cells of nodes now; nodes that are not in these racks are ignored."""
        self.put_later(cells)
        self.flush()

    def put_later(self, cells: Mapping[str, Cell]) -> None:
        """Queue the cells of nodes; `flush` shows them."""
        places = self._plane.places
        for node, cell in cells.items():
            if (place := places.get(node)) is not None:
                self._pending.setdefault(place.panel, {})[node] = cell

    def flush(self, room: int | None = None) -> bool:
        """Show queued cells, within about `room` bytes; return whether any cells are still queued.

        The queued cells of the rack with the cursor are shown first, then those of the rack that has waited longest.
        """
        here = self._plane.places.get(self.cursor)
        order = sorted(self._pending, key=lambda number: here is None or number != here.panel)
        for number in order:
            waiting, view = self._pending[number], self.views[number]
            seen, dirty = self._in_sight(number), list[Region]()
            while waiting and (room is None or room > 0 or not seen):
                node, cell = waiting.popitem()
                if self._cells.get(node) == cell:
                    continue
                self._cells[node] = cell
                dirty.append(view.region_of(self._plane.places[node]))
                if room is not None and seen:
                    room -= dirty[-1].right + _SPAN
            if not waiting:
                del self._pending[number]
            self._draw(number, dirty)
        return bool(self._pending)

    def put_title(self, rack: str, title: Cell) -> None:
        """Write a symbol and a word beside the name of a rack."""
        for number, view in enumerate(self.views):
            if view.draft.panel.name == rack and view.title != title:
                view.title = title
                self._draw(number, [Region(0, 0, view.draft.width, 1)])

    def cell(self, node: str) -> Cell:
        """Return the cell that a node shows now or after the next `flush`."""
        place = self._plane.places.get(node)
        waiting = self._pending.get(place.panel, {}) if place is not None else {}
        return waiting.get(node, self._cells.get(node, UNSEEN))

    def acted_on(self) -> tuple[str, ...]:
        """Return the marked nodes, rack by rack; if none is marked, the node under the cursor."""
        return tuple(node for node in self._plane.places if node in self.marks) or (
            (self.cursor,) if self.cursor else ()
        )

    # ---- how it is drawn

    def _lay_out(self) -> None:
        self._plane = plane(self._panels, self._density, max(self.scrollable_content_region.width, 1))
        self.styles.grid_size_columns = self._plane.columns
        self.styles.grid_columns = str(self._plane.pitch - GAP)

    def _in_sight(self, number: int) -> bool:
        top, height = self._plane.tops[number], self._plane.drafts[number].height
        return top < self.scroll_offset.y + self.size.height and top + height > self.scroll_offset.y

    def _draw(self, number: int, dirty: Sequence[Region]) -> None:
        """Redraw some cells of a rack; a rack out of sight is only redrawn when it becomes visible, to save time."""
        if not dirty:
            return
        if not self._in_sight(number):
            self._stale.add(number)
        elif len(dirty) * 3 > sum(map(len, self._panels[number].rows)) > 3:
            self.views[number].refresh()
        else:
            self.views[number].refresh(*spans(dirty))

    def _point(self, node: str) -> None:
        """Move the cursor's symbol to a node, and scroll to the node."""
        place = self._plane.places.get(node)
        for number, view in enumerate(self.views):
            before, view.cursor = view.cursor, node if place is not None and place.panel == number else ""
            if before != view.cursor:
                self._draw_nodes([name for name in (before, view.cursor) if name])
        if place is not None and self.is_attached:
            above = 1 if place.row == 0 else 0
            self.scroll_to_region(
                Region(place.x, place.y - above, self._density.width, 1 + above),
                animate=False,
                force=True,
                x_axis=False,
            )

    def _draw_nodes(self, nodes: Sequence[str]) -> None:
        for node in nodes:
            place = self._plane.places[node]
            self._draw(place.panel, [self.views[place.panel].region_of(place)])

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Redraw racks that changed while they were out of sight and are now visible."""
        super().watch_scroll_y(old_value, new_value)
        for number in [number for number in self._stale if self._in_sight(number)]:
            self._stale.discard(number)
            self.views[number].refresh()

    # ---- what moves it

    def watch_cursor(self, _: str, after: str) -> None:
        """Show the position of the cursor."""
        self._point(after)
        self.post_message(self.Moved(self, after))

    def on_resize(self, _: Resize) -> None:
        """Place as many racks side by side as fit now."""
        self._lay_out()
        self._point(self.cursor)

    def on_rack_view_clicked(self, message: RackView.Clicked) -> None:
        """Move to the node that was clicked, or open it."""
        message.stop()
        self.cursor = message.node
        if message.opens:
            self.action_open()

    def action_go(self, across: int, down: int) -> None:
        """Move the cursor to the next node in a direction."""
        if self.cursor:
            self.cursor = self._plane.beside(self.cursor, across, down)

    def action_end(self, which: int) -> None:
        """Move the cursor to the first or the last node."""
        if self._plane.places:
            self.cursor = list(self._plane.places)[which]

    def action_open(self) -> None:
        """Post a request to open the node."""
        if self.cursor:
            self.post_message(self.Opened(self, self.cursor))

    def action_mark(self) -> None:
        """Mark the node, or remove its mark."""
        if self.cursor:
            self.marks ^= {self.cursor}
            self._draw_nodes([self.cursor])
            self.post_message(self.Marked(self, self.cursor))

    def action_mark_all(self) -> None:
        """Mark every node; if all nodes are marked, remove all marks."""
        every = set(self._plane.places)
        self.marks ^= every if self.marks >= every else every - self.marks
        self._draw_nodes(list(every))
        self.post_message(self.Marked(self, self.cursor))
