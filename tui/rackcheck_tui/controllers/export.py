"""Copies texts of a row to the clipboard, and writes the rows or the report to a file."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.model.tree import Leaf
from rackcheck.views import commands
from rackcheck.views.open_run import CommandResult, Exporter, NodeFacts
from rackcheck.views.summary import several
from rackcheck_tui.controllers.background import Background, Dialogs
from rackcheck_tui.controllers.commands import twin
from rackcheck_tui.controllers.run_screen import Readout
from rackcheck_tui.controllers.selection import SelectedRows
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.formats import FORMATS, file_of
from rackcheck_tui.widgets.dialogs import Option
from rackcheck_tui.widgets.entries import ListEntry
from rackcheck_tui.widgets.words import plain

SHOWN = 200
"""Number of characters of a copyable text that the list of choices shows."""


def copies(
    desk: NodeFacts, ctx: ViewContext, place: ViewState, entry: ListEntry | None, nodes: Sequence[str]
) -> Mapping[str, str]:  # fmt: skip
    """Return every text of a row that can be copied, by name; if the row is about a fact, the node's replies are read.

    The texts are, for example, the row's nodes, its rule, its value, the command that reads the value by hand, and the
    view's command.
    """
    found: dict[str, str] = {}
    if nodes:
        found["nodes"] = fold(nodes)
    if entry is not None and entry.rule:
        found["rule"] = entry.rule
    fact = entry.fact if entry is not None else ""
    if fact and nodes:
        tree = desk.tree(nodes[0])
        leaf = tree.leaves.get(fact)
        if leaf is not None:
            found["value"] = commands.value(leaf)
            found["line"] = "\n".join(_line(ctx, fact, leaf, name) for name in nodes)
            found["json"] = commands.document(nodes[0], fact, tree)
    again = [line for name in nodes if name in ctx.burns.benches and (line := ctx.burns.replay(name))]
    if again:
        found["again"] = "\n".join(again)
    if place.view == "load" and entry is not None and entry.cells:
        found["values"] = ", ".join(entry.cells.values())
    found["command"] = twin(ctx, place)
    return found


def _line(ctx: ViewContext, fact: str, leaf: Leaf, node: str) -> str:
    """Return the command that reads a fact by hand; for a fact measured under load, it repeats the load."""
    if leaf.plane is Plane.BURNIN:
        return ctx.burns.replay(node) or "# measured under load; the node reported no seed to repeat it with"
    return commands.line(leaf.source, leaf.plane, ctx.desk.nodes[node], ctx.desk.probe(fact))


class Copying:
    """Copies a text of the row under the cursor to the terminal's clipboard."""

    def __init__(
        self, clipboard: Callable[[str], None], context: ViewContext, trail: Trail, selection: SelectedRows,
        background: Background, dialogs: Dialogs, desk: NodeFacts,
    ) -> None:  # fmt: skip
        self._clipboard, self._context, self._trail, self._selection = clipboard, context, trail, selection
        self._background, self._dialogs, self._desk = background, dialogs, desk

    def copy(self) -> None:
        """Let the user choose a text of the row, and copy this text."""
        entry, nodes = self._selection.entry, self._selection.targets()
        place, ctx = self._trail.here, self._context

        def found(made: Mapping[str, str]) -> None:
            options = [Option(name, " ".join(text[:SHOWN].split())) for name, text in made.items()]
            self._dialogs.choose("copy", options, lambda name: self._copied(name, made[name]))

        self._background.run(lambda: copies(self._desk, ctx, place, entry, nodes), found, "looking up")

    def _copied(self, name: str, text: str) -> None:
        """Copy the text to the terminal's clipboard, and show it, because many consoles have no clipboard."""
        self._clipboard(text)
        self._dialogs.show(f"copied: {name}", text)


def free(name: str) -> Path:
    """Return a file name that does not exist yet, so that no file is overwritten."""
    path, number = Path(name), 2
    while os.path.lexists(path):
        path = Path(name).with_stem(f"{Path(name).stem}-{number}")
        number += 1
    return path


class Exporting:
    """Writes the shown rows or the report to files."""

    def __init__(
        self, context: ViewContext, trail: Trail, selection: SelectedRows, readout: Readout, background: Background,
        dialogs: Dialogs, desk: Exporter,
    ) -> None:  # fmt: skip
        self._context, self._trail, self._selection, self._readout = context, trail, selection, readout
        self._background, self._dialogs, self._desk = background, dialogs, desk

    def export(self) -> None:
        """Write the shown rows, or the report, to a file."""
        options = [Option("rows.csv", "the rows of this view, or the marked ones, as CSV")]
        options += [Option("rows.json", "the same as JSON")]
        options += [Option(name, f"report: {words}") for name, _, words in FORMATS]
        self._dialogs.choose("write to a file", options, self._chosen)

    def _chosen(self, name: str) -> None:
        if name.startswith("rows."):
            self._write_rows(name)
        else:
            self.write_report(name)

    def _write_rows(self, name: str) -> None:
        rows = self._selection.rows()
        file = free(f"{self._context.desk.name}-{self._trail.here.view}.{name.partition('.')[2]}")
        text = plain(self._readout.shown.entries, rows, as_json=name.endswith("json"))
        try:
            with file.open("x", encoding="utf-8") as made:
                made.write(text)
        except OSError as error:
            self._readout.message(f"{file}: {error.strerror}")
            return
        self._readout.message(f"written: {file} ({several(len(rows), 'row')})")

    def write_report(self, form: str) -> None:
        """Write the report in one format to the working directory, and show the file's name."""
        file, run = str(free(file_of(self._context, form))), self._context.desk
        words = ("report", run.run_word, "--format", form, "-o", file, "-q", *run.waiver_words)

        def written(result: CommandResult) -> None:
            if result.status == 0:
                self._readout.message(f"written: {file}{self._desk.left_behind}")
            else:
                self._dialogs.show("not written", result.text)

        self._background.run(lambda: self._desk.run_command(words), written, f"writing {file}", opens=False)
