"""`rackcheck doctor`: which nodes are reachable, what blocks access, how to fix it, what will be unknown."""

import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rackcheck.cli import options
from rackcheck.doctor.finding import PlaneVisit
from rackcheck.doctor.output import document, lines
from rackcheck.doctor.pace import VisitLimits
from rackcheck.doctor.summary import Ward
from rackcheck.doctor.visits import Doctor
from rackcheck.inventory.targets import found
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Profile
from rackcheck.probe import sudoers
from rackcheck.probe.plan import Plan
from rackcheck.profile import library
from rackcheck.session import cli_choices
from rackcheck.session.output import note, print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import fetched
from rackcheck.views import machine
from rackcheck.views.simulation import of_targets
from rackcheck.views.terminal import simulation

COLUMNS = 80
"""Maximum width of the output, in characters: the width of a console at a rack."""


USER = "rackcheck"
"""Default of `--user`: the user for whom `--sudoers` prints the list."""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """Arguments and options of `rackcheck doctor`; `seconds` limits one plane of one node."""

    targets: tuple[str, ...]
    profile: str | None
    file: Path | None
    rack: str | None
    values: tuple[str, ...]
    folders: tuple[Path, ...]
    planes: str | None
    seconds: float | None
    as_sudoers: bool
    user: str | None
    quiet: bool
    as_json: bool


@click.command(epilog="Exit: 0 all ready, 2 usage error, 3 something will be unknown, 130 interrupted.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.profile_option()
@options.inventory_option
@options.rack_option
@options.set_option
@options.profile_path_option
@click.option("--planes", metavar="os,bmc", help="Check these planes only.")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(1, 600),
    help="Time limit for one plane of one node, in seconds (default: about 10).",
)
@click.option(
    "--sudoers",
    "as_sudoers",
    is_flag=True,
    help="Print the root commands as a list for /etc/sudoers.d; contacts no node.",
)
@click.option("--user", metavar="NAME", help=f"User or %group of the --sudoers list (default: {USER}).")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.json_option
@options.collected(DoctorOptions)
def doctor(given: DoctorOptions) -> int:
    """Check access to nodes, and show what would be unknown in an audit; changes nothing.

    For every plane, doctor checks name, port, key or certificate, login, sudo, tools, files and speed; for each
    problem, it shows a command. Ready means that no problem shown here prevents an audit; only the audit itself shows
    what commands and BMCs return.

    \b
    rackcheck doctor -i pod7.yaml                  everything rackcheck can read
    rackcheck doctor 'dgx[01-18]' -p linux-server  what this profile needs
    rackcheck doctor --rack sim:dgx-h100           a simulated rack
    rackcheck doctor --sudoers --user audit        what to grant with sudo
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if given.as_sudoers:
        if given.targets or given.file or given.rack or given.as_json:
            raise click.UsageError("--sudoers contacts no node: omit TARGET, -i, --rack and --json")
        wanted, _ = _plan(given.profile, given.values, given.folders, cli_choices.PLANES)
        click.echo(sudoers.text(sudoers.commands(wanted.probes), USER if given.user is None else given.user), nl=False)
        return 0
    if given.user is not None:
        raise click.UsageError("--user needs --sudoers; the login user is set in the inventory (ssh: user)")
    chosen = cli_choices.planes(given.planes)
    wanted, loaded = _plan(given.profile, given.values, given.folders, chosen)
    whole = cli_choices.chosen(given.targets, given.file, given.rack)
    nodes, origin = whole.nodes, whole.words
    secrets, lost = fetched(nodes, wanted.planes)
    listed = given.rack is not None or found(given.file) is not None
    asking = Doctor(
        wanted, nodes, secrets, lost, needed=loaded is not None, listed=listed, pace=VisitLimits(given.seconds),
        limits=whole.limits,
    )  # fmt: skip
    if not given.quiet:
        note(f"{origin}, {f'profile {loaded.name}' if loaded is not None else f'all {len(wanted.probes)} probes'}")
    visits, interrupted = _visits(asking, quiet=given.quiet)
    own: dict[str, set[Plane]] = {node.name: set() for node in nodes}
    for node, plane in asking.planes:
        own[node.name].add(plane)
    ward = Ward(
        {node.name: node.role for node in nodes}, {name: frozenset(all_of) for name, all_of in own.items()},
        visits, wanted, loaded, known().catalogue, interrupted, chosen,
    )  # fmt: skip
    if given.as_json:
        click.echo(machine.text(document(ward, origin)))
    else:
        print_lines(simulation(min(width(), COLUMNS), simulated=ward.simulated or of_targets(origin)))
        print_lines(lines(ward, min(width(), COLUMNS)))
    if interrupted:
        return 130
    return 0 if len(ward.ready) == len(nodes) else 3


def _plan(
    name: str | None, values: tuple[str, ...], folders: tuple[Path, ...], planes: Collection[Plane]
) -> tuple[Plan, Profile | None]:
    """Return the plan of the probes that a profile needs on these planes, and the profile.

    Without a profile, the plan contains all probes of these planes, and the profile is None.
    """
    if name is None:
        if values:
            raise click.UsageError("--set needs a profile: -p NAME")
        return Plan(tuple(probe for probe in known().probes if probe.plane in planes)), None
    profile = library.load(name, known().catalogue, cli_choices.pairs(values), folders)
    whole = known().planned(profile, ())
    return replace(whole, probes=tuple(probe for probe in whole.probes if probe.plane in planes)), profile


def _visits(asking: Doctor, *, quiet: bool) -> tuple[tuple[PlaneVisit, ...], bool]:
    """Check access to all nodes; the first Ctrl-C keeps the results so far, the second Ctrl-C ends the command."""
    stop = threading.Event()
    found: list[PlaneVisit] = []
    with _progress(len(asking.planes), quiet=quiet) as step:
        visits = asking.visits(stop)
        try:
            for visit in visits:
                found.append(visit)
                step(visit.node)
        except KeyboardInterrupt:
            visits.close()
            return tuple(found), True
    return tuple(found), False


@contextmanager
def _progress(planes: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show progress on stderr: an updating line on a terminal, nothing elsewhere, since doctor ends within seconds."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking", total=planes)
        yield lambda node: bar.update(task, advance=1, description=escape(node))
