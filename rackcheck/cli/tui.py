"""`rackcheck tui`: opens the TUI, which is found by its entry point, so that the CLI does not depend on it."""

import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import filters, options
from rackcheck.cli.choice import NearestChoice
from rackcheck.filter.where import Where
from rackcheck.session import cli_choices, last_run
from rackcheck.session.output import note

if TYPE_CHECKING:
    from rackcheck.session.run_session import RunSession


BY_TUI = replace(last_run.RUN, made_by="rackcheck tui -i FILE (rackcheck init writes it), or --rack sim:dgx-h100,")
"""Any stored run; the TUI can make one."""


@dataclass(frozen=True, slots=True)
class TuiOptions:
    """Arguments and options of `rackcheck tui`; `seconds` limits one plane, `memory` the replies in flight."""

    words: tuple[str, ...]
    profile: str | None
    file: Path | None
    rack: str | None
    values: tuple[str, ...]
    folders: tuple[Path, ...]
    waiver_files: tuple[Path, ...]
    planes: str | None
    seconds: float | None
    memory: int
    where: Where
    view: str
    against: str
    link: str
    start: bool


@click.command()
@click.argument("words", nargs=-1, metavar="[RUN | TARGET...]", shell_complete=options.complete_runs)
@options.profile_option()
@options.inventory_option
@options.rack_option
@options.set_option
@options.profile_path_option
@options.waivers_option
@click.option("--planes", metavar="os,bmc", shell_complete=options.complete_planes, help="Read these planes only.")
@options.timeout_option
@options.memory_option
@filters.where_option("Filter at the start: 'state:fail rack:r03'.")
@click.option("--view", metavar="VIEW", default="groups", help="View at the start: groups, rack, odd, nodes, live.")
@click.option(
    "--against",
    metavar="RUN|NODE",
    default="peers",
    help="Baseline with which the `d` key compares a node; the `D` key selects another baseline.",
)
@click.option(
    "--link", type=NearestChoice(["auto", "slow"]), default="auto", show_default=True,
    help="slow: 16 colours, two frames a second, for serial consoles and slow links.",
)  # fmt: skip
@click.option(
    "--start", is_flag=True,
    help="Show the steps from an inventory to a signature; this is the default while there is no run.",
)  # fmt: skip
@options.collected(TuiOptions)
def tui(given: TuiOptions) -> int:
    """Open a run in the TUI: a stored one, or a new audit.

    Without a profile, RUN is a stored run or an acceptance (default: the newest run), and no node is contacted. With a
    profile, the nodes are audited as by `rackcheck audit`, the run is stored, and nodes can be read again. Without any
    run, or with --start, the first screen lists the steps from an inventory to a signature, and runs their commands.

    \b
    rackcheck tui                                  the newest run
    rackcheck tui pod7 --where state:fail          the failures of an acceptance
    rackcheck tui -p h100-dgx -i pod7.yaml         audit nodes, and watch
    rackcheck tui --rack sim:dgx-h100 -p h100-dgx  a simulated rack
    rackcheck tui --start -i pod7.yaml             from inventory to signature
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    show = screens("tui")
    shown = {"view": given.view, "where": given.where.text, "against": given.against, "link": given.link}
    wanted = cli_choices.planes(given.planes)
    audited = (given.file, given.rack, given.values, given.folders, given.planes, given.seconds)
    profile = given.profile
    if given.start and (profile or given.words or any(audited[1:])):
        raise click.UsageError("--start shows the steps of an inventory: only -i FILE and --link go with it")
    if given.start or not (profile or given.words or any(audited) or last_run.newest(BY_TUI)):
        return _guided(given)
    if profile is None and (any(audited) or len(given.words) > 1):
        from rackcheck.session import proposal  # noqa: PLC0415  most audits have a profile

        nodes = cli_choices.chosen(given.words, given.file, given.rack).nodes
        profile = proposal.accepted(nodes, given.folders, "Audit with", ask=sys.stdin.isatty())
    if profile is None:
        run = last_run.named(given.words[0] if given.words else last_run.LAST, BY_TUI)
        show(run, lambda: _stored(run, given.waiver_files), **shown)
        return 0

    desks: list[RunSession] = []

    def ready() -> object:
        from rackcheck.session.audit_setup import Request, prepare  # noqa: PLC0415
        from rackcheck.session.run_session import RunSession  # noqa: PLC0415  loaded once there is a terminal

        files = cli_choices.waiver_files(given.waiver_files, found=True)
        request = Request(
            profile, wanted, given.values, given.folders, files, seconds=given.seconds, memory=given.memory
        )
        made = prepare(lambda: cli_choices.chosen(given.words, given.file, given.rack), request)
        desks.append(RunSession(ready=made))
        return desks[0]

    show("", ready, **shown, early=True)
    return _ended(desks[0])


def _ended(desk: "RunSession") -> int:
    """Print the runs that were made and the errors; return the exit code."""
    from rackcheck.session.audit_setup import left_of  # noqa: PLC0415
    from rackcheck.views.summary import unless_lost  # noqa: PLC0415

    lost = bool(desk.troubles)
    for trouble in desk.troubles:
        note(trouble)
    stopped = False
    for number, (folder, done) in enumerate(zip(desk.made, desk.ends(), strict=True)):
        stopped = stopped or (done.interrupted if done is not None else not lost)
        words = f"read again: {folder}" if number else f"Run:  {folder}"
        note(left_of(folder) if lost and done is None else words)
    return unless_lost(130 if stopped else 0, lost)


def _guided(given: TuiOptions) -> int:
    """Show the steps that lead to a signature until the user quits, and run each command that is chosen there.

    Return the exit code of the last command.
    """
    from rackcheck.session import guided_path  # noqa: PLC0415  loaded only for these steps

    start, ran, status = screens("start"), dict[str, int](), 0
    place = given.file or Path("inventory.yaml")
    while chosen := start(lambda: guided_path.path(place), ran, given.link):
        title, words = chosen
        note("")
        note(f"$ rackcheck {shlex.join(words)}")
        status = ran[title] = _run(words)
        if words[:1] != ("tui",) or status == 2:  # the screens have shown the result of `tui` already
            click.prompt("enter: back to the steps", "", show_default=False, prompt_suffix=" ", err=True)
    return status


def _run(words: Sequence[str]) -> int:
    """Run a command of rackcheck in this terminal; ctrl+c ends the command, and not this program."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # ignored signals would be ignored by the command, too
    try:
        return subprocess.run([sys.executable, "-m", "rackcheck", *words], check=False).returncode  # noqa: S603  our own program
    finally:
        signal.signal(signal.SIGINT, before)


def screens(name: str) -> Callable[..., Any]:
    """Return a function that shows screens: `tui` or `start`; raises UserError if they are not installed."""
    found = [point for point in entry_points(group="rackcheck.screens") if point.name == name]
    if not found:
        raise UserError("the TUI is not installed: pip install --force-reinstall rackcheck")
    show: Callable[..., Any] = found[0].load()
    return show


def _stored(run: str, waiver_files: tuple[Path, ...]) -> object:
    from rackcheck.session import subject  # noqa: PLC0415
    from rackcheck.session.run_session import RunSession  # noqa: PLC0415

    files = cli_choices.waiver_files(waiver_files, found=False) if waiver_files else None
    return RunSession(found=subject.find(run, files))
