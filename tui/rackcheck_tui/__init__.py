"""The screens: a stored run in the terminal. Nothing here asks a node anything."""

import os
import sys
from collections.abc import Sequence

from rackcheck.mistake import Mistake
from rackcheck.report.summary import Summary


def show(summary: Summary, began: Sequence[str] = ()) -> None:
    """Show a judged run until its reader quits; raises Mistake where there is no terminal to show it on.

    `began` has a time for each run of an acceptance, the oldest first; it is empty for a run.
    """
    same = "accept show" if began else "runs show"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # the library draws on stderr
        raise Mistake(f"the screens need a terminal; `rackcheck {same} {summary.started.run}` prints the same")
    from rackcheck.report.signs import signs_for  # noqa: PLC0415
    from rackcheck_tui.app import Screens  # noqa: PLC0415  the screen library is loaded for screens only

    Screens(summary, signs_for(os.environ), began).run()
