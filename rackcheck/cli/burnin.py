"""`rackcheck burnin`: put nodes under load, judge their results, store and show the run."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.burnin import bmc_watch, fleet
from rackcheck.burnin.fleet import Burnin
from rackcheck.burnin.watts import estimate
from rackcheck.cli import options, power
from rackcheck.cli.burning import watching
from rackcheck.cli.choice import NearestChoice
from rackcheck.cli.interrupt import stopped_by_ctrl_c
from rackcheck.cli.show_run import show
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase
from rackcheck.parse.burnin.plan import TOOLS, Tier
from rackcheck.run.event import Event, Judged, RunDone, RunStarted
from rackcheck.run.job import Job
from rackcheck.session import cli_choices
from rackcheck.session.audit_setup import Drive, Prepared, Request, left_of, noting, prepare
from rackcheck.session.joined_acceptance import JoinedAcceptance, add, chosen, joining, not_added
from rackcheck.session.output import Watch, note
from rackcheck.session.registry_loading import known
from rackcheck.views.summary import exit_code, summarize, unless_lost

PROFILE = "burn-in"
"""The default profile: rules that apply to any machine."""


@dataclass(frozen=True, slots=True)
class BurninOptions:
    """Arguments and options of `rackcheck burnin`."""

    targets: tuple[str, ...]
    tier: str | None
    profile: str | None
    file: Path | None
    rack: str | None
    values: tuple[str, ...]
    folders: tuple[Path, ...]
    waiver_files: tuple[Path, ...]
    accept: str | None
    seed: int | None
    no_gpu: bool
    tools: tuple[str, ...]
    scratch: str
    output: Path | None
    strict: bool
    every: bool
    quiet: bool
    screens: bool
    as_json: bool
    power_budget: float | None
    power_ramp: float
    in_step: bool
    yes: bool


@click.command(
    epilog="Exit: 0 pass, 1 fail, 2 usage error, 3 something was not tested, 74 pass but not stored, 130 interrupted."
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option(
    "--tier", type=NearestChoice([tier.value for tier in Tier]),
    help="Duration: smoke 15 seconds, validate one minute, soak ten minutes (default: smoke; with --accept, the tier "
    "of the acceptance).",
)  # fmt: skip
@options.profile_option()
@options.inventory_option
@options.rack_option
@options.set_option
@options.profile_path_option
@options.waivers_option
@options.accept_option
@click.option("--seed", type=click.IntRange(1, 2**31 - 1), help="Seed of another run, to repeat its work.")
@click.option("--no-gpu", is_flag=True, help="Do not use GPUs.")
@click.option(
    "--with",
    "tools",
    multiple=True,
    metavar="TOOL",
    type=NearestChoice(list(TOOLS)),
    help=f"Also run a tool installed on the nodes: {', '.join(TOOLS)}.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for the run (default: in the state folder)."
)
@click.option(
    "--scratch", default="", metavar="FILE",
    help="Test only the disk on which FILE is created: FILE must not exist yet; it is written, read back and removed.",
)  # fmt: skip
@power.power_options
@click.option("--strict", is_flag=True, help="Exit 1 on any warning, 3 on any unknown.")
@click.option("--all", "every", is_flag=True, help="Also show rules that pass or do not apply.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--screens", is_flag=True, help="Watch the burn-in in the TUI.")
@options.json_option
@options.collected(BurninOptions)
def burnin(given: BurninOptions) -> int:
    """Put nodes under load, and check their results.

    Nodes start one after the other, at most 10 nodes and 100 kW per second, and then all run at the same time. They
    need only python3 and the driver; nothing is installed or left on them. GPUs in use by other processes are skipped.
    Parts that were not tested are unknown, never a pass. Ctrl-C ends the load within a second.

    \b
    rackcheck burnin                                 this machine, 15 s
    rackcheck burnin 'dgx[01-08]' -i pod7.yaml --tier validate
    rackcheck burnin -i pod7.yaml -p h100-dgx        also by a profile's rules
    rackcheck burnin -i pod7.yaml --accept pod7      as agreed for a sign-off
    rackcheck burnin -i pod7.yaml --power-budget 60  at most 60 kW; others wait
    rackcheck burnin -i pod7.yaml --yes              no confirmation, for scripts
    rackcheck burnin --rack sim:dgx-h100             a simulated rack
    rackcheck burnin --rack sim:dgx-h100 --screens   watched in the TUI
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if given.screens and given.as_json:
        raise click.UsageError("--screens and --json cannot be combined")
    joined = joining(given.accept, given.profile, given.values, given.waiver_files)
    if joined is not None:
        given = replace(given, profile=joined.profile, values=joined.values, tier=given.tier or joined.tier)
    waived = joined.files if joined is not None else cli_choices.waiver_files(given.waiver_files, found=True)
    tier = Tier(given.tier or Tier.SMOKE)
    request = Request(
        given.profile or PROFILE, frozenset({Plane.BURNIN}), given.values, given.folders, waived, given.output,
        phases=frozenset({Phase.BURN_IN}),
    )  # fmt: skip
    ready = prepare(lambda: chosen(joined, given.targets, given.file, given.rack), request)
    job = ready.job
    if len(job.nodes) > fleet.MOST:
        raise UserError(f"{len(job.nodes)} nodes selected; the maximum for one burn-in is {fleet.MOST}")
    found = estimate(job.nodes, ready.profile)
    bound = power.limits(given.power_budget, given.power_ramp, ready.racks, ready.pdus, in_step=given.in_step)
    load = power.agreed(found, bound, real=given.rack is None, yes=given.yes)
    looks = bmc_watch.looking(known())
    what = Burnin(
        tier, given.seed or fleet.new_seed(), given.tools, not given.no_gpu, given.scratch, bound,
        lambda node, over: bmc_watch.look(looks, job, node, over),
    )  # fmt: skip
    if not given.quiet:
        by = f"profile {ready.profile.name}, seed {what.seed}"
        note(f"rackcheck {__version__}: {job.targets}, burn-in {tier}, {by}")
        if len(found.loads) > 1:
            note(f"Power: {load}")
    stop = threading.Event()

    def driven(job: Job, stop: threading.Event) -> Iterator[Event]:
        return fleet.burn(job, what, stop)

    if given.screens:
        return _looked_at(ready, driven, joined, quiet=given.quiet, strict=given.strict)
    lost = list[str]()
    with stopped_by_ctrl_c(stop), watching(what.tier, len(job.nodes), quiet=given.quiet) as watch:
        summary = summarize(_watched(ready.run(stop, noting(lost), driven), watch), ready.profile, job.waivers)
    show(summary, every=given.every, as_json=given.as_json)
    if lost:
        note(left_of(ready.folder) + not_added(joined))
    is_added = bool(lost) or add(joined, ready)
    if not lost and not given.quiet:
        name = str(ready.folder) if given.output else job.id
        note(f"Run:  {ready.folder}")
        if joined is None:
            note(f"Next: rackcheck facts {job.nodes[0].name} --from {name} burnin")
    return unless_lost(exit_code(summary, strict=given.strict), lost=bool(lost) or not is_added)


def _looked_at(ready: Prepared, driven: Drive, joined: JoinedAcceptance | None, *, quiet: bool, strict: bool) -> int:
    """Put nodes under load and show the TUI, which ends the load on quitting; returns the exit code."""
    from rackcheck.cli.tui import screens  # noqa: PLC0415
    from rackcheck.session.run_session import RunSession  # noqa: PLC0415  needed only for the TUI

    rows: list[Event] = []

    def kept(job: Job, stop: threading.Event) -> Iterator[Event]:
        for event in driven(job, stop):
            if isinstance(event, RunStarted | Judged | RunDone):
                rows.append(event)
            yield event

    desk = RunSession(ready=ready, drive=kept)
    screens("tui")("", lambda: desk, view="live", early=True, same="rackcheck burnin")
    for trouble in desk.troubles:
        note(trouble)
    is_added = True
    if desk.troubles:
        note(left_of(ready.folder) + not_added(joined))
    elif any(isinstance(event, RunDone) for event in rows):
        is_added = add(joined, ready)
    if not desk.troubles and not quiet:
        note(f"Run:  {ready.folder}")
    if not any(isinstance(event, RunDone) for event in rows):
        return 130
    summary = summarize(rows, ready.profile, ready.job.waivers)
    return unless_lost(exit_code(summary, strict=strict), lost=bool(desk.troubles) or not is_added)


def _watched(events: Iterator[Event], watch: Watch) -> Iterator[Event]:
    for event in events:
        watch(event)
        yield event
