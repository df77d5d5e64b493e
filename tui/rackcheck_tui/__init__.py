"""The screens: a run in the terminal. This package contacts no node and opens no run file; the session does both."""

import os
import sys
from collections import deque
from collections.abc import Callable
from typing import Literal

from rackcheck.base.user_error import UserError
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
