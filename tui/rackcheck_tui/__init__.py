"""The screens: a stored run in the terminal. Nothing here asks a node anything."""

import os

from rackcheck.report.summary import Summary


def show(summary: Summary) -> None:
    """Show a judged run until its reader quits."""
    from rackcheck_tui.app import Screens  # noqa: PLC0415  the screen library is loaded for screens only
    from rackcheck_tui.signs import signs_for  # noqa: PLC0415

    Screens(summary, signs_for(os.environ)).run()
