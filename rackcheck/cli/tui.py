"""`rackcheck tui`: the screens, found by entry point so that nothing here knows them."""

from importlib.metadata import entry_points

import click

from rackcheck.cli import options, subject
from rackcheck.mistake import Mistake


@click.command()
@options.run_argument
def tui(run: str) -> int:
    """Open a stored run, or an acceptance, in the terminal's screens; asks no one."""
    found = subject.find(run)
    summary = subject.shown(found)
    screens = [point for point in entry_points(group="rackcheck.screens") if point.name == "tui"]
    if not screens:
        raise Mistake("the screens are not installed: pip install --force-reinstall rackcheck")
    began = [stored.started().time for stored, _, _ in found.jobs] if found.kind == "acceptance" else []
    screens[0].load()(summary, began)
    return 0
