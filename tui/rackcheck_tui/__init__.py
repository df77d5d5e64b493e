"""The screens: a stored run in the terminal. Nothing here asks a node anything."""

import os
import sys

from rackcheck.mistake import Mistake
from rackcheck.report.summary import Summary


def show(summary: Summary) -> None:
    """Show a judged run until its reader quits; raises Mistake where there is no terminal to show it on."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # the library draws on stderr
        raise Mistake(f"the screens need a terminal; `rackcheck runs show {summary.started.run}` prints the same")
    from rackcheck.report.signs import signs_for  # noqa: PLC0415
    from rackcheck_tui.app import Screens  # noqa: PLC0415  the screen library is loaded for screens only

    Screens(summary, signs_for(os.environ)).run()
