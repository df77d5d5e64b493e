"""`rackcheck plan`: divides an audit into shards, which `run-shard` asks and `merge` judges together."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck import __version__
from rackcheck.burnin import fleet
from rackcheck.burnin.fleet import Burnin
from rackcheck.burnin.watts import estimate
from rackcheck.cli import options, power
from rackcheck.cli.choice import NearestChoice
from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.model.profile import Phase
from rackcheck.parse.burnin.plan import Tier
from rackcheck.session import cli_choices
from rackcheck.session.audit_setup import CONFIG, Prepared, Request, prepare
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
    tier: str | None
    seed: int | None
    no_gpu: bool
    power_budget: float | None
    power_ramp: float
    yes: bool
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
@click.option(
    "--burnin",
    "tier",
    type=NearestChoice([tier.value for tier in Tier]),
    help="Divide a burn-in of this duration; each shard runs at most once.",
)
@click.option("--seed", type=click.IntRange(1, 2**31 - 1), help="Seed of another burn-in, to repeat its work.")
@click.option("--no-gpu", is_flag=True, help="Do not use GPUs in the burn-in.")
@power.limit_options
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
    rackcheck plan -p h100-dgx -i hall.yaml --by 4 --burnin smoke -o burn
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    files = cli_choices.waiver_files(given.waiver_files, found=True)
    planes = frozenset({Plane.BURNIN}) if given.tier is not None else cli_choices.planes(given.planes)
    request = Request(
        given.profile, planes, given.values, given.folders, files, None, given.seconds, given.deadline, given.again,
        frozenset({Phase.BURN_IN}) if given.tier is not None else CONFIG, asks=False,
    )  # fmt: skip
    ready = prepare(lambda: cli_choices.chosen(given.targets, given.file, given.rack), request)
    shards = planned(ready, given.by, given.output, _burn(given, ready) if given.tier is not None else None)
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


def _burn(given: PlanOptions, ready: Prepared) -> Burnin:
    """Return what the burn-in of a plan does, once the user has agreed to its load."""
    if given.planes is not None or given.again is not None:
        raise click.UsageError("--burnin cannot be combined with --planes or --again: only the load is read, and once")
    bound = power.limits(given.power_budget, given.power_ramp, ready.racks, ready.pdus, in_step=False)
    load = power.agreed(estimate(ready.job.nodes, ready.profile), bound, real=given.rack is None, yes=given.yes)
    if not given.quiet:
        note(f"Power when the shards run: {load}")
    return Burnin(Tier(given.tier or Tier.SMOKE), given.seed or fleet.new_seed(), gpus=not given.no_gpu, limits=bound)
