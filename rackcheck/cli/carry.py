"""`rackcheck carry`: runs the shards of a plan on an engine."""

import shlex
import threading
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck.cli import options
from rackcheck.cli.interrupt import stopped_by_ctrl_c
from rackcheck.session import shard_carry
from rackcheck.session.output import note
from rackcheck.shard.engines import engine


@dataclass(frozen=True, slots=True)
class CarryOptions:
    """Arguments and options of `rackcheck carry`."""

    plan: Path
    engine: str
    quiet: bool


@click.command(epilog="Exit: 0 all results are there, 2 usage error, 3 a shard failed, 130 interrupted.")
@click.argument("plan", type=click.Path(path_type=Path, file_okay=False), metavar="PLAN")
@options.engine_option(required=True)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.collected(CarryOptions)
def carry(given: CarryOptions) -> int:
    """Run the shards of a plan that have no result yet; the results are files in PLAN/results.

    \b
    rackcheck carry hall --on local:4               processes of this machine
    rackcheck carry hall --on slurm:debug           job arrays of Slurm
    rackcheck carry hall --on dask+tls://head:8786  workers of Dask
    rackcheck merge hall
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    stop = threading.Event()
    with stopped_by_ctrl_c(stop):
        failed = shard_carry.carry(given.plan, engine(given.engine), stop, (lambda _: None) if given.quiet else note)
    if stop.is_set():
        note("interrupted: the same command runs the shards that are left")
        return 130
    if not given.quiet:
        note(f"Next: rackcheck merge {shlex.quote(str(given.plan))}")
    return 3 if failed else 0
