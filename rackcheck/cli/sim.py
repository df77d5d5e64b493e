"""`rackcheck sim`: simulated racks, over real SSH and real HTTPS on loopback."""

import re
import shlex
import sys
import textwrap
import time
from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.lazy import NearestGroup
from rackcheck.cli.tables import wrapped
from rackcheck.inventory import Node
from rackcheck.model.fold import fold
from rackcheck.profile.layers import did_you_mean
from rackcheck.session.output import note, print_lines, width
from rackcheck.views import machine as document
from rackcheck.views.terminal import Line


@click.group(cls=NearestGroup)
def sim() -> None:
    """Start a simulated rack; list and show the available racks."""


@sim.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List the racks that come with rackcheck, and their machines."""
    from rackcheck.sim import machine, scenario  # noqa: PLC0415  the servers' libraries are slow to load

    found = [scenario.load(path) for path in scenario.shipped().values()]
    rows = [(f"sim:{s.name}", str(len(s.stations)), str(len(s.faults)), s.title) for s in found]
    if as_json:
        names = ("rack", "nodes", "faults", "title")
        click.echo(document.text([dict(zip(names, row, strict=True)) for row in rows]))
        return
    print_lines(wrapped(("rack", "nodes", "faults", "what it is"), rows, width=width(), styles=("bold", "", "", "")))
    print_lines([Line(), Line(((f"machines: {', '.join(machine.shipped())}", "dim"),))])
    note("Next: rackcheck audit --rack sim:dgx-h100 -p h100-dgx")


@sim.command("show")
@click.argument("name", required=False, shell_complete=options.complete_racks)
@click.option("--faults", is_flag=True, help="Show every kind of fault for scenario files, with its parameters.")
@options.json_option
def show(name: str | None, faults: bool, as_json: bool) -> None:
    """Show the nodes and faults of a rack, or all kinds of faults."""
    from rackcheck.sim import scenario  # noqa: PLC0415
    from rackcheck.sim.faults import KINDS  # noqa: PLC0415

    if faults or name is None:
        if not faults:
            raise click.UsageError(f"which rack? there are: {', '.join(scenario.shipped())}; or --faults")
        kinds = [
            (kind.name, " ".join(f"{w}={d}" if d else w for w, d in kind.takes.items()), kind.about)
            for kind in KINDS.values()
        ]
        if as_json:
            click.echo(document.text([dict(zip(("fault", "words", "about"), row, strict=True)) for row in kinds]))
        else:
            print_lines(wrapped(("fault", "parameters", "what it is"), kinds, width=width(), styles=("bold", "", "")))
        return
    found = scenario.find(name.removeprefix("sim:"))
    rows = [
        (str(fold(laid.nodes)), laid.kind, " ".join(f"{w}={v}" for w, v in laid.words.items()), laid.about)
        for laid in found.faults
    ]
    if as_json:
        names = ("nodes", "fault", "words", "about")
        listed = [dict(zip(names, row, strict=True)) for row in rows]
        nodes = [station.name for station in found.stations]
        click.echo(document.text({"rack": found.name, "title": found.title, "nodes": nodes, "faults": listed}))
        return
    items = (f"sim:{found.name}  {found.title}", f"{len(found.stations)} nodes: {fold(s.name for s in found.stations)}")
    for text, style in zip(items, ("bold", ""), strict=True):
        print_lines(Line(((row, style),)) for row in textwrap.wrap(text, width(), break_on_hyphens=False))
    print_lines([Line()])
    print_lines(
        wrapped(("nodes", "fault", "parameters", "effect"), rows, width=width(), styles=("bold", "", "", "dim"))
    )


def _machines(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rackcheck.run import store  # noqa: PLC0415  completion only
    from rackcheck.sim import machine  # noqa: PLC0415

    names = [*machine.shipped(), "last", *reversed(store.ids())]
    return [CompletionItem(incomplete, type="dir"), *(CompletionItem(n) for n in names if n.startswith(incomplete))]


def _folder(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Path | None:
    """Read `-o FOLDER`; an empty value (from an unset variable) is an error and does not mean the current folder."""
    if value == "":
        raise click.BadParameter("the folder's name is empty")
    return None if value is None else Path(value).expanduser()


@sim.command("up", epilog="Ctrl-C stops the rack. Exit: 0 success, 2 the rack could not be started.")
@click.argument("name", required=False, shell_complete=options.complete_racks)
@click.option(
    "--machine", metavar="DIR", shell_complete=_machines,
    help="A machine folder, stored run (id, folder or `last`), capture or Redfish tree to simulate instead of a rack.",
)  # fmt: skip
@click.option(
    "--nodes", type=click.IntRange(1, 5000), help="Number of nodes (for --machine, and for racks of variable size)."
)
@click.option(
    "-o", "--output", metavar="DIR", callback=_folder,
    help="Folder for the inventory and its keys; the files are removed when the rack stops.",
)  # fmt: skip
def up(name: str | None, machine: str | None, nodes: int | None, output: Path | None) -> None:
    """Run a simulated rack until Ctrl-C, for use from other terminals and tools.

    \b
    rackcheck sim up dgx-h100
    rackcheck sim up hall --nodes 256
    rackcheck sim up --machine ./mockups/nvidia-dgx-h100 -o ./rack
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    from rackcheck.sim.child import running  # noqa: PLC0415

    if name and machine:
        raise click.UsageError("use either a rack's name or --machine DIR")
    if not name and not machine:
        raise click.UsageError("which rack? a name (rackcheck sim list), or --machine DIR")
    if name and nodes and re.search(r":[0-9]+$", name):
        raise click.UsageError("use either NAME:COUNT or --nodes COUNT")
    wanted = name.removeprefix("sim:") if name else _machine(machine or "")
    with running(f"{wanted}:{nodes}" if nodes else wanted, output and output.absolute()) as place:
        try:
            print_lines(_ways_in(place))
            while True:  # a signal that arrives just before a wait without a limit does not end it
                time.sleep(1.0)
        except KeyboardInterrupt:  # its normal end
            if sys.stdout.isatty():
                click.echo()  # after the terminal's ^C
    click.echo("down")


def _machine(named: str) -> str:
    """Return the folder of a shipped machine, of a stored run, or at a path; raises UserError if there is none."""
    from rackcheck.run import store  # noqa: PLC0415
    from rackcheck.session import last_run  # noqa: PLC0415
    from rackcheck.sim.machine import shipped  # noqa: PLC0415

    known = shipped()
    if named in known:
        return str(known[named])
    path = Path(named).expanduser()
    if path.exists():
        return str(path.absolute())
    if "/" in named:
        raise UserError(f"{named}: no such folder")
    named = last_run.named(named, last_run.AUDIT)
    runs = store.ids()
    if named in runs:
        return str(store.find(named).folder.absolute())
    near = did_you_mean(named, [*known, *runs])
    raise UserError(
        f"no machine {named}{near} (there are {', '.join(known)}, folders, and stored runs by id or `last`)"
    )


def _ways_in(place: Path) -> Iterable[Line]:
    """Describe how to connect to the rack, with rackcheck and by hand."""
    nodes = inventory.load(place).nodes
    yield Line(((f"up:   {len(nodes)} nodes: {fold(nodes)}", "bold"),))
    yield Line(((f"Next: rackcheck audit -i {shlex.quote(str(place))} -p h100-dgx", ""),))
    first = next((node for node in nodes.values() if node.host and not node.host.endswith(".invalid")), None)
    if first is not None:
        yield Line(((f"      {shlex.join(_ssh(first))}", ""),))
    bmc = next((node.bmc for node in nodes.values() if node.bmc is not None), None)
    if bmc is not None:
        yield Line(((f"      curl -k {bmc.url}/redfish/v1/", ""),))
    yield Line((("Ctrl-C stops the rack.", "dim"),))


def _ssh(node: Node) -> list[str]:
    """Return the `ssh` command that logs in to a node, with the simulated rack's known hosts instead of the user's."""
    known = f'"{node.ssh.known_hosts}"' if " " in node.ssh.known_hosts else node.ssh.known_hosts
    return [
        "ssh", "-o", f"UserKnownHostsFile={known}", "-p", str(node.ssh.port), "-i", node.ssh.key,
        f"{node.ssh.user}@{node.host}", "hostname",
    ]  # fmt: skip
