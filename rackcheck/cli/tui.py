"""`rackcheck tui`: the screens, found by entry point so that nothing here knows them."""

from importlib.metadata import entry_points

import click

from rackcheck import store
from rackcheck.cli import options
from rackcheck.cli.stored import stored_job
from rackcheck.mistake import Mistake
from rackcheck.report.summary import summarize
from rackcheck.run import replay


@click.command()
@options.run_argument
def tui(run: str) -> int:
    """Open a stored run in the terminal's screens; asks no one."""
    stored = store.find(run)
    job = stored_job(stored)
    assert job.profile is not None
    summary = summarize(replay(job, stored.answers(), stored.done()), job.profile, job.waivers)
    screens = [point for point in entry_points(group="rackcheck.screens") if point.name == "tui"]
    if not screens:
        raise Mistake("the screens are not installed: pip install --force-reinstall rackcheck")
    screens[0].load()(summary)
    return 0
