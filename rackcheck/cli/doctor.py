"""`rackcheck doctor`: who answers, what stands in the way, what to type, what will be unknown."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from rackcheck import library, sudoers
from rackcheck.cli import options
from rackcheck.cli.output import note, print_lines, width
from rackcheck.cli.secrets import secrets_of
from rackcheck.core.fact import Plane
from rackcheck.core.plan import Plan, plan
from rackcheck.core.profile import Profile
from rackcheck.doctor.ask import Doctor
from rackcheck.doctor.finding import Visit
from rackcheck.doctor.told import document, lines
from rackcheck.doctor.ward import Ward
from rackcheck.registry import registry
from rackcheck.report import machine

COLUMNS = 80
"""A terminal at a rack is no wider."""

USER = "rackcheck"
"""The login that the sudoers list is for, unless somebody names another."""


@click.command(epilog="Exit: 0 all ready, 2 your mistake, 3 something will be unknown, 130 interrupted.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.profile_option()
@options.inventory_option
@options.rack_option
@options.set_option
@options.profile_path_option
@click.option("--sudoers", "as_sudoers", is_flag=True, help="Ask no one: print the list for /etc/sudoers.d.")
@click.option("--user", metavar="NAME", help=f"Whom the list of --sudoers is for: a user or a %group ({USER}).")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.json_option
def doctor(
    targets: tuple[str, ...], profile: str | None, file: Path | None, rack: str | None, values: tuple[str, ...],
    folders: tuple[Path, ...], as_sudoers: bool, user: str | None, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Tell who answers, and what an audit would not know; changes nothing.

    Of every plane: name, port, key or certificate, login, sudo, tools, speed, and the line to type for each trouble.

    \b
    rackcheck doctor -i pod7.yaml                  everything rackcheck can ask
    rackcheck doctor dgx[01-18] -p linux-server    what this profile needs
    rackcheck doctor --rack sim:dgx-h100           a simulated rack
    rackcheck doctor --sudoers --user audit        what to grant with sudo
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if as_sudoers:
        if targets or file or rack or as_json:
            raise click.UsageError("--sudoers asks no one: it takes no targets, no inventory and no --json")
        wanted, _ = _plan(profile, values, folders)
        click.echo(sudoers.text(sudoers.commands(wanted.probes), user or USER), nl=False)
        return 0
    if user is not None:
        raise click.UsageError("--user goes with --sudoers; the user of a login stands in the inventory (ssh: user)")
    wanted, loaded = _plan(profile, values, folders)
    nodes, origin = options.choose(targets, file, rack)
    asking = Doctor(wanted, nodes, secrets_of(nodes, wanted.planes), needed=loaded is not None)
    if not quiet:
        note(f"{origin}, {f'profile {loaded.name}' if loaded is not None else f'all {len(wanted.probes)} probes'}")
    visits, interrupted = _visits(asking, quiet=quiet)
    planes: dict[str, set[Plane]] = {node.name: set() for node in nodes}
    for node, plane in asking.planes:
        planes[node.name].add(plane)
    ward = Ward(
        {node.name: node.role for node in nodes}, {name: frozenset(found) for name, found in planes.items()},
        visits, wanted, loaded, registry().catalogue, interrupted,
    )  # fmt: skip
    if as_json:
        click.echo(machine.text(document(ward, origin)))
    else:
        print_lines(lines(ward, min(width(), COLUMNS)))
    if interrupted:
        return 130
    return 0 if len(ward.ready) == len(nodes) else 3


def _plan(name: str | None, values: tuple[str, ...], folders: tuple[Path, ...]) -> tuple[Plan, Profile | None]:
    """Give what is asked on behalf of a profile; without one, everything there is."""
    known = registry()
    for broken in known.broken:
        note(f"rackcheck: probes left out: {broken}")
    if name is None:
        if values:
            raise click.UsageError("--set is for a profile: -p NAME")
        return Plan(known.probes), None
    profile = library.load(name, known.catalogue, options.pairs(values), folders)
    return plan(profile.facts(), known.probes, known.catalogue), profile


def _visits(asking: Doctor, *, quiet: bool) -> tuple[tuple[Visit, ...], bool]:
    """Ask everyone; the first Ctrl-C keeps what came in, the second ends at once."""
    stop = threading.Event()
    found: list[Visit] = []
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
    """Show on stderr how far we are: a moving line on a terminal, nothing elsewhere; this ends within seconds."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking", total=planes)
        yield lambda node: bar.update(task, advance=1, description=escape(node))
