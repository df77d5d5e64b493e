"""Actions on the row under the cursor or on the marked rows: compare, explain, fix, collect again."""

from collections.abc import Sequence

from rackcheck.evaluate.verdict import Status
from rackcheck.model.fold import fold
from rackcheck.views.open_run import Baselines, Collector, OfferedRemedies
from rackcheck.views.state import QUIET
from rackcheck.views.summary import ORDER, several
from rackcheck_tui.controllers.background import Background, Dialogs
from rackcheck_tui.controllers.background_reads import Overlays
from rackcheck_tui.controllers.navigation import Navigator
from rackcheck_tui.controllers.reading import ReaderTask
from rackcheck_tui.controllers.run_screen import Readout
from rackcheck_tui.controllers.selection import SelectedRows
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.dialogs import Option

MENDED = frozenset({Status.FAIL, Status.WARN})
"""Verdicts for which there may be a fix."""


class RowViews:
    """Opens views about the row under the cursor: the row's own view, and facts, history or comparison of its node."""

    def __init__(
        self, context: ViewContext, trail: Trail, selection: SelectedRows, navigator: Navigator, readout: Readout,
        dialogs: Dialogs, desk: Baselines,
    ) -> None:  # fmt: skip
        self._context, self._trail, self._selection, self._navigator = context, trail, selection, navigator
        self._readout, self._dialogs, self._desk = readout, dialogs, desk

    def enter(self) -> None:
        """Open the view that the row leads to; if there is none, show the row's details in full."""
        entry = self._selection.entry
        if entry is None:
            return
        if entry.into is not None:
            self._navigator.go(entry.into)
        else:
            self._dialogs.show_lines("details", entry.details)

    def view(self, name: str) -> None:
        """Show a view; the history view shows the history of the row's rule or node."""
        if name == "history":
            self.history()
        else:
            self._navigator.view(name)

    def facts(self) -> None:
        """Show every fact of the node."""
        nodes = self._selection.under
        if nodes:
            self._navigator.go(ViewState("facts", nodes[:1]))
        else:
            self._readout.message("no node here")

    def history(self) -> None:
        """Show the history of the row's rule or, if the row has no rule, of its first node."""
        rule, nodes = self._selection.rule, self._selection.under
        if rule:
            self._navigator.go(ViewState("history", (rule,)))
        elif nodes:
            self._navigator.go(ViewState("history", nodes[:1]))
        else:
            self._readout.message("no rule and no node here")

    def diff(self) -> None:
        """Compare two marked nodes, or the first node with the chosen baseline."""
        nodes, under = self._selection.targets(), self._selection.under
        if len(nodes) == 2 and self._selection.marked == 2:
            self._navigator.go(ViewState("diff", nodes))
        elif under:
            self._navigator.go(ViewState("diff", (under[0], self._context.against)))
        else:
            self._readout.message("no node here to compare")

    def baseline(self) -> None:
        """Choose the baseline for comparing nodes."""
        under = self._selection.under
        known = [
            Option("peers", "what most nodes of its role report"), Option("before", "its own facts before this run"),
            *(Option(name, "another node") for name in self._context.desk.nodes if name not in under[:1]),
            *(Option(name, words) for name, words in self._desk.baselines()),
        ]  # fmt: skip
        self._dialogs.choose("compare a node with", known, self._chosen)

    def _chosen(self, name: str) -> None:
        self._context.against = name
        here = self._trail.here
        if here.view == "diff" and here.about:
            self._navigator.go(ViewState("diff", (here.about[0], name)))
        else:
            self.diff()


class FindingActions:
    """Shows the evidence of the finding under the cursor, and the fixes of that finding or of the marked findings."""

    def __init__(
        self, context: ViewContext, selection: SelectedRows, readout: Readout, background: Background, dialogs: Dialogs,
        overlays: Overlays, desk: OfferedRemedies,
    ) -> None:  # fmt: skip
        self._context, self._selection, self._readout = context, selection, readout
        self._background, self._dialogs, self._overlays, self._desk = background, dialogs, overlays, desk

    def evidence(self) -> None:
        """Show the evidence of the verdict under the cursor."""
        entry, nodes = self._selection.entry, self._selection.under
        if entry is not None and entry.rule and nodes:
            self._overlays.proof(nodes[0], entry.rule)
        elif nodes and not (entry is not None and entry.fact) and (rule := self._worst(nodes[0])):
            self._overlays.proof(nodes[0], rule)
        elif entry is not None and entry.fact and nodes:
            self._overlays.open(ViewState("reply", (nodes[0], entry.fact)))
        else:
            self._readout.message("no verdict here; enter opens a node's verdicts")

    def _worst(self, node: str) -> str:
        """Return the rule with the worst verdict on a node; empty if all rules pass, or none was judged."""
        judged = self._context.board.judged.get(node)
        loud = [v for v in judged.verdicts if v.status not in QUIET] if judged is not None else []
        return min(loud, key=lambda v: ORDER.index(v.status)).rule if loud else ""

    def fix(self) -> None:
        """Show the fixes for the row, or for the marked rows; nothing is applied."""
        judged, only = self._context.board.judged, dict[str, set[str]]()
        for rule, nodes in self._selection.findings().items():
            for node in nodes:
                found = judged.get(node)
                wrong = {v.rule for v in found.verdicts if v.status in MENDED} if found is not None else set()
                if mine := wrong & {rule} if rule else wrong:
                    only.setdefault(node, set()).update(mine)
        if not only:
            self._readout.message("nothing here fails or warns; an unknown verdict has no fix")
            return
        verdicts = {node: judged[node].verdicts for node in only}
        rules = {rule for mine in only.values() for rule in mine}
        name = next(iter(rules)) if len(rules) == 1 else several(len(rules), "rule")
        what = f"fix of {name} on {fold(only)}; nothing is applied"
        self._background.run(
            lambda: self._desk.fixes(only, verdicts), lambda rows: self._dialogs.show(what, "\n".join(rows)), what
        )


class Recollecting:
    """Collects from nodes again, after a confirmation."""

    def __init__(
        self, context: ViewContext, selection: SelectedRows, readout: Readout, dialogs: Dialogs, reading: ReaderTask,
        desk: Collector,
    ) -> None:  # fmt: skip
        self._context, self._selection, self._readout = context, selection, readout
        self._dialogs, self._reading, self._desk = dialogs, reading, desk

    def again(self) -> None:
        """Collect again from the marked nodes, or from the nodes of the row."""
        nodes = self._selection.targets()
        why = self._desk.mute or ("a collection is running" if self._reading.running else "")
        if why or not nodes:
            self._readout.message(why or "no node here to collect from")
            return
        profile = self._context.desk.profile.name
        lines = [
            f"{several(len(nodes), 'node')}: {fold(nodes)}", "",
            f"by profile {profile}, as a separate run; it reads, and changes nothing on them.",
        ]  # fmt: skip
        self._dialogs.confirm("collect from these nodes again?", lines, lambda: self._collect(nodes))

    def _collect(self, nodes: Sequence[str]) -> None:
        self._reading.read_again(lambda: self._desk.again(nodes), f"collecting from {fold(nodes)} again ...")
