"""View settings: passing rules, rack modes, colours; and the pages about the run and about the keys."""

from collections.abc import Sequence
from typing import Any

from textual.app import App

from rackcheck.views.modes import Mode
from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.background import Dialogs
from rackcheck_tui.controllers.background_reads import Fetching
from rackcheck_tui.controllers.commands import twin
from rackcheck_tui.controllers.keys import chapters
from rackcheck_tui.controllers.navigation import Navigator
from rackcheck_tui.controllers.run_screen import Panes, Readout
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.themes import Colours, Theme
from rackcheck_tui.widgets.words import about, guide


class Looking:
    """Changes how rows and racks are shown; the run itself does not change."""

    def __init__(
        self, context: ViewContext, panes: Panes, readout: Readout, fetching: Fetching, navigator: Navigator
    ) -> None:
        self._context, self._panes, self._readout = context, panes, readout
        self._fetching, self._navigator = fetching, navigator

    def every(self) -> None:
        """Show or hide passing results."""
        self._context.every = not self._context.every
        self._fetching.refetch_difference()
        self._readout.refresh()

    def mode(self) -> None:
        """Switch to the next mode of the racks."""
        modes = list(Mode)
        self._context.mode = modes[(modes.index(Mode(self._context.mode)) + 1) % len(modes)]
        if self._panes.on_racks:
            self._readout.refresh()
        else:
            self._navigator.go(ViewState("rack", where=self._context.where.text))


class Colouring:
    """Changes the colours of everything that is drawn."""

    def __init__(self, app: App[Any], colours: Colours, readout: Readout) -> None:
        self._app, self._colours, self._readout = app, colours, readout

    def theme(self) -> None:
        """Switch to the next theme."""
        themes = list(Theme)
        self._colours.theme = themes[(themes.index(self._colours.theme) + 1) % len(themes)]
        for screen in self._app.screen_stack:
            for widget in screen.walk_children():
                widget.notify_style_update()
                widget.refresh()
            screen.refresh(layout=True)
        self._readout.message(f"colours: {self._colours.theme.value}")


class Help:
    """The page about the run, and the page about keys and views."""

    def __init__(self, context: ViewContext, trail: Trail, dialogs: Dialogs) -> None:
        self._context, self._trail, self._dialogs = context, trail, dialogs

    def about(self) -> None:
        """Show what is known about the run."""
        board, desk, signs = self._context.board, self._context.desk, self._context.signs

        def lines(width: int) -> Sequence[Line]:
            return list(about(board, signs, width, desk.name, desk.began))

        self._dialogs.show_lines("run", lines)

    def guide(self) -> None:
        """Show every key and every view, and the command that prints the same as the current view."""
        line = twin(self._context, self._trail.here)
        parts = [("the same on the command line", [("", line)]), *chapters()]
        lines = [row for title, rows in parts for row in (*guide(title, rows), Line())]

        def fitted(width: int) -> Sequence[Line]:
            return [row for line in lines for row in within(line, width, 23)]

        self._dialogs.show_lines("keys", fitted)
