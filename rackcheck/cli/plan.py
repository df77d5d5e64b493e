"""`rackcheck plan`: divides an audit into shards, which `run-shard` asks and `merge` judges together."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck import __version__
from rackcheck.cli import options
from rackcheck.model.fold import fold
from rackcheck.session import cli_choices
from rackcheck.session.audit_setup import Request, prepare
from rackcheck.session.output import note
from rackcheck.session.shard_plan import RESULTS, SHARDS, planned
from rackcheck.views import machine
from rackcheck.views.summary import several


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Arguments and options of `rackcheck plan`; all times are in seconds."""

    targets: tuple[str, ...]
    profile: str
    file: Path | None
    rack: str | None
    by: str
    output: Path
    values: tuple[str, ...]
    folders: tuple[Path, ...]
    waiver_files: tuple[Path, ...]
    planes: str | None
    seconds: float | None
    deadline: float | None
    again: float | None
    quiet: bool
    as_json: bool


@click.command(epilog="Exit: 0 planned, 2 usage error.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.profile_option(required=True)
@options.inventory_option
@options.rack_option
@options.by_option
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="New folder for the plan.")
@options.set_option
@options.profile_path_option
@options.waivers_option
@click.option(
    "--planes", metavar="os,bmc", shell_complete=options.complete_planes, help="Read and judge these planes only."
)
@options.timeout_option
@options.deadline_option
@options.again_option
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@options.json_option
@options.collected(PlanOptions)
def plan(given: PlanOptions) -> int:
    """Divide an audit into shards, to ask them on other machines; contacts no node.

    Each shard is a JSON file without secrets. `rackcheck run-shard` asks its nodes anywhere, `rackcheck merge` judges
    the results together.

    \b
    rackcheck plan -p h100-dgx -i hall.yaml --by rack -o hall
    rackcheck run-shard hall/shards/1.json -o hall/results/1
    rackcheck merge hall
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    files = cli_choices.waiver_files(given.waiver_files, found=True)
    request = Request(
        given.profile, cli_choices.planes(given.planes), given.values, given.folders, files, None, given.seconds,
        given.deadline, given.again,
    )  # fmt: skip
    ready = prepare(lambda: cli_choices.chosen(given.targets, given.file, given.rack), request)
    shards = planned(ready, given.by, given.output)
    if given.as_json:
        rows = [
            {"shard": s.name, "reach": s.reach, "nodes": [n.name for n in s.nodes],
             "file": str(given.output / SHARDS / f"{s.name}.json"), "result": str(given.output / RESULTS / s.name)}
            for s in shards
        ]  # fmt: skip
        click.echo(machine.text({"plan": str(given.output), "run": ready.job.id, "shards": rows}))
        return 0
    for shard in shards:
        reach = f"  {shard.reach}" if shard.reach else ""
        click.echo(f"{shard.name}  {several(len(shard.nodes), 'node')}  {fold(n.name for n in shard.nodes)}{reach}")
    if not given.quiet:
        note(f"rackcheck {__version__}: {ready.job.targets}, profile {ready.profile.name} {ready.profile.version}")
        folder = shlex.quote(str(given.output))
        note(
            f"Next: rackcheck run-shard {folder}/{SHARDS}/{shards[0].name}.json -o {folder}/{RESULTS}/{shards[0].name}"
        )
        note(f"      rackcheck merge {folder}")
    return 0
