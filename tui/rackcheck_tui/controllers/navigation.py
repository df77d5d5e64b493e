"""Navigation: the filter of the current view, and the steps back and forward."""

from collections.abc import Collection, Mapping

from rackcheck.filter.unmatched import unmatched
from rackcheck.filter.where import EVERYTHING, WORDS, FilterError, Where, parse
from rackcheck_tui.controllers.background import Background
from rackcheck_tui.controllers.background_reads import Fetching, Overlays
from rackcheck_tui.controllers.commands import VIEWS
from rackcheck_tui.controllers.run_screen import Panes, Readout
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.screens import rack
from rackcheck_tui.screens.context import ViewContext

NAMED = 96
"""Maximum number of nodes for which the racks view shows node names; with more nodes, it shows only symbols."""


def settled(text: str) -> str:
    """Return the part of a filter that can be applied while it is typed.

    A last word that may be the beginning of a filter key is left out.
    """
    before, last = text[: len(text) - len(word := text.rsplit(" ", maxsplit=1)[-1])], word.removeprefix("!")
    return before if last and any(key.startswith(last) for key in WORDS) else text


class Filter:
    """Parses, applies and drops the filter of the current view."""

    def __init__(self, context: ViewContext, trail: Trail, readout: Readout, fetching: Fetching) -> None:
        self._context, self._trail, self._readout, self._fetching = context, trail, readout, fetching

    @property
    def text(self) -> str:
        """Return the filter as it was typed."""
        return self._context.where.text

    def apply(self, where: Where) -> None:
        """Show only the rows that match a filter."""
        self._context.where = where
        self._trail.settle(where=where.text)
        self._readout.refresh()

    def restore(self, text: str) -> None:
        """Set the filter of a view before it is shown."""
        self._context.where = self.parsed(text) or EVERYTHING

    def enter(self, where: Where) -> None:
        """Apply a filter after the user has finished typing it, and read the values that the filter compares.

        If a value of the filter is no node, rack, role or rule of the run, show a message with the nearest one.
        """
        self.apply(where)
        self._fetching.fetch_compared(where)
        if text := next(unmatched(where, self._names()), ""):
            self._readout.message(text)

    def _names(self) -> Mapping[str, Collection[str]]:
        board = self._context.board
        nodes = board.nodes_at.values()
        return {
            "node": (*board.nodes_at, *board.judged), "rule": tuple(rule.id for rule in board.profile.rules),
            "rack": {node.rack for node in nodes}, "role": {node.role for node in nodes},
        }  # fmt: skip

    def preview(self, text: str) -> None:
        """Apply a filter while it is typed, if it is valid so far."""
        try:
            where = parse(settled(text), self._context.desk.kind)
        except FilterError as wrong:
            self._readout.message(f"not a complete filter: {wrong}{self._near(wrong)}")
            return
        self.apply(where)
        self._readout.message("")

    def drop(self) -> bool:
        """Show all rows again; return whether a filter was active."""
        if not self._context.where:
            return False
        self.clear()
        return True

    def clear(self) -> None:
        """Show all rows again."""
        self.apply(EVERYTHING)

    def parsed(self, text: str) -> Where | None:
        """Parse a filter; if it is invalid, show a message and return None."""
        try:
            return parse(text, self._context.desk.kind)
        except FilterError as wrong:
            self._readout.message(f"no filter: {wrong}{self._near(wrong)}")
            return None

    def _near(self, wrong: FilterError) -> str:
        if not wrong.fact:
            return self._context.desk.nearest(wrong.word, wrong.known)
        near = self._context.desk.near(wrong.fact)
        return f"; did you mean {' or '.join(near[:3])}?" if near else ""


class Navigator:
    """Shows a new view, the previous view, or the next view."""

    def __init__(
        self, context: ViewContext, trail: Trail, panes: Panes, readout: Readout, filtering: Filter, fetching: Fetching,
        background: Background, overlays: Overlays,
    ) -> None:  # fmt: skip
        self._context, self._trail, self._panes, self._readout = context, trail, panes, readout
        self._filter, self._fetching = filtering, fetching
        self._background, self._overlays = background, overlays

    def go(self, place: ViewState) -> None:
        """Show another view; a page that is not a view opens over the current view."""
        if place.view not in VIEWS:
            self._overlays.open(place)
            return
        self._remember()
        self._trail.go(place)
        self.arrive()

    def view(self, name: str) -> None:
        """Show a view with the current filter, if the view accepts a filter."""
        self.go(ViewState(name, where=self._filter.text if VIEWS[name].filters else ""))

    def back(self) -> None:
        """Cancel the awaited result; if none is awaited, drop the filter; without a filter, go back."""
        if not self._background.drop() and not self._filter.drop() and self._trail.at:
            self.step(-1)

    def step(self, by: int) -> None:
        """Go back or forward."""
        self._remember()
        if self._trail.step(by):
            self.arrive()

    def _remember(self) -> None:
        row = self._panes.racks.cursor if self._panes.on_racks else self._panes.table.current or ""
        self._trail.settle(where=self._filter.text, row=row)

    def arrive(self) -> None:
        """Show the current view of the view history, with the view's filter and cursor."""
        place, panes = self._trail.here, self._panes
        self._readout.drop_message()
        self._filter.restore(place.where)
        panes.table.display, panes.racks.display = not panes.on_racks, panes.on_racks
        self._fetching.fetch(place)
        if panes.on_racks:
            panes.racks.show(rack.panels(self._context), names=len(self._context.desk.nodes) <= NAMED)
        self._readout.fill(keep=False)
        if place.row and panes.on_racks:
            panes.racks.cursor = place.row
        elif place.row:
            panes.table.go(place.row)
        panes.focus_rows()
