"""How the reader looks at it: what passes, colours, modes of the racks, stillness; and the pages about run and keys."""

from collections.abc import Sequence

from textual.binding import Binding, BindingType

from rackcheck.views.modes import Mode
from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.foot import Typing
from rackcheck_tui.controllers.trail import Place
from rackcheck_tui.controllers.verbs import VIEWS, twin
from rackcheck_tui.screens.reader import Reader
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import Table
from rackcheck_tui.widgets.themes import Theme
from rackcheck_tui.widgets.words import about, guide


class Looking(Typing):
    """Turns what is seen, and changes nothing of what is."""

    def action_every(self) -> None:
        """Show what passes, too, or only what does not."""
        self.context.every = not self.context.every
        here = self.trail.here
        if here.view == "diff" and self.context.fetched.pop(Place("diff", here.about), None) is not None:
            self.fetch(here)  # measurements and counters are compared only where somebody wants to see all
        self.refresh_rows()

    def action_mode(self) -> None:
        """Turn to the next mode of the racks' picture."""
        modes = list(Mode)
        self.context.mode = modes[(modes.index(Mode(self.context.mode)) + 1) % len(modes)]
        if self.on_racks:
            self.refresh_rows()
        else:
            self.go(Place("rack", where=self.context.where.text))

    def action_pause(self) -> None:
        """Hold the screen still, or let it follow again."""
        self.paused = not self.paused
        self.write()

    def action_theme(self) -> None:
        """Turn to the next colours."""
        themes = list(Theme)
        self.colours.theme = themes[(themes.index(self.colours.theme) + 1) % len(themes)]
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                widget.notify_style_update()
            screen.refresh(layout=True)
        self.tell(f"colours: {self.colours.theme.value}")

    def action_redraw(self) -> None:
        """Draw all anew, after something else has written on the terminal."""
        self.sparing.forget()

    def action_about(self) -> None:
        """Show what is known of the run itself."""
        board, desk = self.context.board, self.desk

        def told(width: int) -> Sequence[Line]:
            return list(about(board, self.signs, width, desk.name, desk.began))

        self.push_screen(Reader("run", told, self.signs))

    def action_guide(self) -> None:
        """Show every key, every view, and what prints the same on the command line."""
        line = twin(self.context, self.trail.here)
        parts = [("the same on the command line", [("", line)]), *chapters(self.BINDINGS)]
        lines = [row for title, rows in parts for row in (*guide(title, rows), Line())]

        def fitted(width: int) -> Sequence[Line]:
            return [row for line in lines for row in within(line, width, 23)]

        self.push_screen(Reader("keys", fitted, self.signs))


ACTS = ("diff", "baseline", "evidence", "fix", "facts", "history", "again", "waive", "copy", "export")
"""Actions on the row under the cursor, or on those that are marked."""


def chapters(bindings: Sequence[BindingType]) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """Sort all keys and views for a page of help: each chapter's title, and its lines."""
    mine = [b for b in bindings if isinstance(b, Binding)]
    views = [(f"{view.key} :{name} {view.takes}".strip(), view.words) for name, view in VIEWS.items()]
    moves = dict.fromkeys([*listed(Table.BINDINGS), *listed(Racks.BINDINGS)])
    rest = [b for b in mine if b.action not in ACTS and not b.action.startswith("view(")]
    return [
        ("views", views),
        ("act on the row, or on those that are marked", listed([b for b in mine if b.action in ACTS])),
        ("move and mark", list(moves)),
        ("look, find, leave", listed(rest)),
    ]  # fmt: skip


def listed(bindings: Sequence[BindingType], *, shown: bool = False) -> list[tuple[str, str]]:
    """Give each key with what it does; `shown` keeps those of the line at the foot, in one word."""
    made = [b for b in bindings if isinstance(b, Binding) and (b.show or not shown)]
    if shown:
        return [(b.key_display or b.key.split(",")[0], b.description) for b in made]
    return [(b.key_display or b.key.replace(",", " "), b.tooltip or b.description) for b in made]
