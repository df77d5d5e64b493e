"""`rackcheck run-shard`: asks the nodes of one shard, and writes their answers to a file."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.interrupt import stopped_by_ctrl_c
from rackcheck.inventory import Node
from rackcheck.model.fold import fold
from rackcheck.run.asking import wanted
from rackcheck.run.event import Answered
from rackcheck.session import cli_choices, shard_asking
from rackcheck.session.output import note
from rackcheck.session.resuming import same_addresses
from rackcheck.shard import document
from rackcheck.shard.document import Shard


@dataclass(frozen=True, slots=True)
class RunShardOptions:
    """Arguments and options of `rackcheck run-shard`; `memory` is in bytes."""

    shard: Path
    output: Path
    file: Path | None
    memory: int
    quiet: bool


@click.command("run-shard", epilog="Exit: 0 the result is complete, 2 usage error, 130 interrupted.")
@click.argument("shard", type=click.Path(path_type=Path, dir_okay=False), metavar="SHARD")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File for the result.")
@options.inventory_option
@options.memory_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.collected(RunShardOptions)
def run_shard(given: RunShardOptions) -> int:
    """Ask the nodes of one shard of a plan, and write their answers to a file; judges nothing.

    The file has its name when it is complete. If it exists, nothing is asked; an attempt that broke off is continued.
    With -i, keys, host keys and credentials are those of an inventory on this machine; without it, those in the shard.

    \b
    rackcheck run-shard hall/shards/1.json -o hall/results/1
    rackcheck run-shard 1.json -o 1.result -i /etc/rackcheck/hall.yaml
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    shard = document.load(given.shard)
    if shard_asking.is_done(shard, given.output):
        if not given.quiet:
            note(f"{given.output} is complete: nothing is asked")
        return 0
    job = shard_asking.job_of(shard, _nodes(shard, given.file), given.memory)
    planes = sum(reading == 1 for node in job.nodes for _, reading in wanted(node, job))
    if not given.quiet:
        note(f"rackcheck {__version__}: shard {shard.number} of {shard.count}, {fold(n.name for n in job.nodes)}")
    stop, done, silent = threading.Event(), 0, 0
    with stopped_by_ctrl_c(stop):
        for event in shard_asking.asked(shard, job, given.output, stop):
            if isinstance(event, Answered):
                done += event.reading == 1
                silent += event.reading == 1 and not event.has_reply
                if not given.quiet and (done == planes or done % max(1, planes // 10) == 0):
                    lost = f", {silent} without a reply" if silent else ""
                    note(f"{done} of {planes} planes answered{lost}")
    if stop.is_set():
        note(f"interrupted: the same command continues; answers so far are in {given.output}.part")
        return 130
    if not given.quiet:
        note(f"Result: {given.output}")
    return 0


def _nodes(shard: Shard, file: Path | None) -> Sequence[Node]:
    """Return the nodes of a shard with the access of an inventory on this machine; none without an inventory."""
    if file is None:
        return ()
    found = {node.name: node for node in cli_choices.chosen((), file, None).nodes}
    strangers = [node.name for node in shard.nodes if node.name not in found]
    if strangers:
        raise UserError(f"{file} does not have {fold(strangers)} of shard {shard.number}")
    same_addresses(shard.nodes, found, f"shard {shard.number}")
    return [found[node.name] for node in shard.nodes]
