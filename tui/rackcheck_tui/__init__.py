"""The screens: a run in the terminal. This package contacts no node and opens no run file; the session does both."""

import os
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from rackcheck.base.user_error import UserError
from rackcheck.views.guided_path import PathStep
from rackcheck.views.open_run import OpenRun


def show(
    name: str, desk: Callable[[], OpenRun], *, view: str = "groups", where: str = "", against: str = "peers",
    link: Literal["auto", "slow"] = "auto", early: bool = False, same: str = "rackcheck audit",
) -> None:  # fmt: skip
    """Show a run on the screens until the user quits; raises UserError if there is no terminal.

    `desk` opens the run; with `early`, it is called before the screens are shown, because it may prompt for secrets.
    `same` is the command that prints the same content; the error about a missing terminal names it if the run has no
    name yet.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # Textual draws on stderr
        if name:
            deque(desk().events(), 0)  # an error in the run matters more than the missing terminal
        prints = f"`rackcheck groups {name}` prints the first screen" if name else f"`{same}` prints the same"
        raise UserError(f"the screens need a terminal; {prints}")
    from rackcheck_tui.slow_link import settle_environment  # noqa: PLC0415

    settle_environment(link, os.environ)
    from rackcheck.views.signs import signs_for  # noqa: PLC0415
    from rackcheck_tui.app import Screens  # noqa: PLC0415  Textual is loaded only for the screens
    from rackcheck_tui.controllers.commands import VIEWS  # noqa: PLC0415
    from rackcheck_tui.controllers.view_history import ViewState  # noqa: PLC0415

    if view not in VIEWS:
        raise UserError(f"no view {view}; there are {', '.join(VIEWS)}")
    first = ViewState(view, where=where)
    laid = desk() if early else None
    opened = desk if laid is None else lambda: laid
    app = Screens(opened, signs_for(os.environ), name=name, slow=link == "slow", first=first, against=against)
    try:
        app.run()
    finally:
        app.end()
    if app.opening.trouble is not None:
        raise app.opening.trouble


def start(
    path: Callable[[], Sequence[PathStep]], ran: Mapping[str, int], link: Literal["auto", "slow"]
) -> tuple[str, tuple[str, ...]] | None:
    """Show the steps that lead to a signature; return a step's title and its command, None if the user quits.

    `path` reads the steps, and `ran` contains the exit codes of commands that were run, by title. Raises UserError if
    there is no terminal, or if the steps cannot be read.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # Textual draws on stderr
        raise UserError("the screens need a terminal; `rackcheck init` begins the same steps with the first of them")
    from rackcheck_tui.slow_link import settle_environment  # noqa: PLC0415

    settle_environment(link, os.environ)
    from rackcheck.views.signs import signs_for  # noqa: PLC0415
    from rackcheck_tui.start_page import StartPage  # noqa: PLC0415  Textual is loaded only for the screens

    app = StartPage(path, signs_for(os.environ), ran)
    chosen = app.run()
    if str(app.trouble):
        raise app.trouble
    return chosen
