"""The selection: the row under the cursor, the marked rows, and their nodes and rules."""

from collections.abc import Mapping, Sequence

from rackcheck_tui.controllers.run_screen import Panes, Readout
from rackcheck_tui.controllers.view_history import Trail
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntry


class SelectedRows:
    """The rows, nodes and rules on which an action works."""

    def __init__(self, context: ViewContext, trail: Trail, panes: Panes, readout: Readout) -> None:
        self._context, self._trail, self._panes, self._readout = context, trail, panes, readout

    @property
    def entry(self) -> ListEntry | None:
        """Return the row under the cursor, as an entry."""
        return self._readout.entry

    @property
    def rule(self) -> str:
        """Return the rule of the row under the cursor; empty if the row has none."""
        return self.entry.rule if self.entry is not None and not self._panes.on_racks else ""

    @property
    def under(self) -> tuple[str, ...]:
        """Return the nodes of the row under the cursor, regardless of marks."""
        if self._panes.on_racks:
            return (self._panes.racks.cursor,) if self._panes.racks.cursor else ()
        if self.entry is not None and self.entry.nodes:
            return self.entry.nodes
        return self._place_nodes()

    @property
    def marked(self) -> int:
        """Return how many rows, or nodes of the racks, are marked."""
        return self._panes.marked

    def targets(self) -> tuple[str, ...]:
        """Return the nodes to act on: the nodes of the marked rows, else of the row under the cursor."""
        if self._panes.on_racks:
            return self._panes.racks.acted_on()
        return self._panes.table.acted_on() or self._place_nodes()

    def findings(self) -> Mapping[str, Sequence[str]]:
        """Return the findings to act on, as nodes by rule, from the marked rows, else from the row under the cursor.

        The rule is empty if a row is about a node and not about one particular rule.
        """
        if self._panes.on_racks:
            return {"": self._panes.racks.acted_on()}
        table, found = self._panes.table, dict[str, dict[str, None]]()
        rows = table.marked_rows() or ((table.cursor,) if table.count else ())
        for entry in (self._readout.shown.entries.every[row] for row in rows):
            if entry.nodes:
                found.setdefault(entry.rule, {}).update(dict.fromkeys(entry.nodes))
        return {rule: tuple(nodes) for rule, nodes in found.items()}

    def rows(self) -> Sequence[int]:
        """Return the numbers of the marked rows, else of all rows."""
        return self._panes.table.marked_rows() or range(len(self._readout.shown.entries))

    def _place_nodes(self) -> tuple[str, ...]:
        return tuple(name for name in self._trail.here.about[:1] if name in self._context.desk.nodes)
