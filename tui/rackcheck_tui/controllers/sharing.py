"""What leaves the screen: copied lines, the rows as a file, the report."""

import os
from collections.abc import Mapping
from pathlib import Path

from rackcheck.views.desk import Said
from rackcheck.views.summary import several
from rackcheck_tui.controllers.copying import copies
from rackcheck_tui.controllers.fetching import Fetching
from rackcheck_tui.screens.formats import FORMATS, file_of
from rackcheck_tui.widgets.dialogs import Choose, Option
from rackcheck_tui.widgets.words import plain

SHOWN = 200
"""Letters of what can be copied that are shown before it is chosen."""


def free(name: str) -> Path:
    """Give a file's name that nothing has yet: what is there is never written over."""
    path, number = Path(name), 2
    while os.path.lexists(path):
        path = Path(name).with_stem(f"{Path(name).stem}-{number}")
        number += 1
    return path


class Sharing(Fetching):
    """Hands things on."""

    def action_copy(self) -> None:
        """Copy what the row is about, in one of several forms."""
        entry, nodes = self.entry, self.targets()
        place = self.trail.here

        def found(made: Mapping[str, str]) -> None:
            options = [Option(name, " ".join(text[:SHOWN].split())) for name, text in made.items()]
            self.push_screen(Choose("copy", options, self.signs), lambda name: self._copied(made, name))

        self.behind(lambda: copies(self.desk, self.context, place, entry, nodes), found, "looking up")

    def _copied(self, made: Mapping[str, str], name: str | None) -> None:
        """Hand it to the terminal's clipboard, and show it: many a console has none."""
        if name is None:
            return
        self.copy_to_clipboard(made[name])
        self.read(f"copied: {name}", made[name])

    def action_export(self) -> None:
        """Write the rows that are shown, or the report, to a file."""
        options = [Option("rows.csv", "the rows of this view, or those that are marked, as CSV")]
        options += [Option("rows.json", "the same as JSON")]
        options += [Option(name, f"report: {words}") for name, _, words in FORMATS]
        self.push_screen(Choose("write to a file", options, self.signs), self._exported)

    def _exported(self, name: str | None) -> None:
        if name is None:
            return
        if not name.startswith("rows."):
            self.write_report(name)
            return
        table = self.table
        rows = table.marked_rows() or range(len(self.shown.entries))
        file = free(f"{self.desk.name}-{self.trail.here.view}.{name.partition('.')[2]}")
        text = plain(self.shown.entries, rows, as_json=name.endswith("json"))
        try:
            with file.open("x", encoding="utf-8") as made:
                made.write(text)
        except OSError as error:
            self.tell(f"{file}: {error.strerror}")
            return
        self.tell(f"written: {file} ({several(len(rows), 'row')})")

    def write_report(self, form: str) -> None:
        """Write the report in one form beside the reader, and say where."""
        file = str(free(file_of(self.context, form)))
        words = ("report", self.desk.name, "--format", form, "-o", file, "-q", *self.desk.waiver_words)

        def written(said: Said) -> None:
            if said.status == 0:
                self.tell(f"written: {file}{self.desk.left_behind}")
            else:
                self.read("not written", said.text)

        self.behind(lambda: self.desk.say(words), written, f"writing {file}", opens=False)
