"""`rackcheck sim`: racks to learn on, over real SSH and real HTTPS on loopback."""

import threading
from pathlib import Path

import click

from rackcheck import inventory
from rackcheck.cli import options
from rackcheck.cli.output import note, print_lines, width
from rackcheck.cli.tables import table
from rackcheck.core.fold import fold
from rackcheck.mistake import Mistake
from rackcheck.report import machine as document
from rackcheck.report.terminal import Line


@click.group()
def sim() -> None:
    """Bring up a simulated rack; list and show those there are."""


@sim.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List the racks that come with rackcheck, and the machines they are made of."""
    from rackcheck.sim import machine, scenario  # noqa: PLC0415  the servers' libraries are slow to load

    found = [scenario.load(path) for path in scenario.shipped().values()]
    rows = [(f"sim:{s.name}", str(len(s.stations)), str(len(s.faults)), s.title) for s in found]
    if as_json:
        names = ("rack", "nodes", "faults", "title")
        click.echo(document.text([dict(zip(names, row, strict=True)) for row in rows]))
        return
    print_lines(table(("rack", "nodes", "faults", "what it is"), rows, width=width(), styles=("bold", "", "", "")))
    print_lines([Line(), Line(((f"machines: {', '.join(machine.shipped())}", "dim"),))])
    note("Next: rackcheck audit --rack sim:dgx-h100 -p h100-dgx")


@sim.command("show")
@click.argument("name", required=False)
@click.option("--faults", is_flag=True, help="Show every kind of fault that a scenario file may lay, with its words.")
@options.json_option
def show(name: str | None, faults: bool, as_json: bool) -> None:
    """Show a rack's nodes and what is wrong with them, or the kinds of faults there are."""
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
            print_lines(table(("fault", "words", "what it is"), kinds, width=width(), styles=("bold", "", "")))
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
    print_lines([Line(((f"sim:{found.name}", "bold"), (f"  {found.title}", "")))])
    print_lines([Line(((f"{len(found.stations)} nodes: {fold(s.name for s in found.stations)}", ""),)), Line()])
    print_lines(table(("nodes", "fault", "words", "in the story"), rows, width=width(), styles=("bold", "", "", "dim")))


@sim.command("up", epilog="Ends with Ctrl-C. Exit: 0, or 2 where the rack could not be brought up.")
@click.argument("name", required=False)
@click.option("--machine", metavar="DIR", help="A machine folder, a stored run, or a Redfish tree instead of a rack.")
@click.option("--nodes", type=click.IntRange(1, 5000), help="How many nodes (racks that grow, and --machine).")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for the inventory and its keys."
)
def up(name: str | None, machine: str | None, nodes: int | None, output: Path | None) -> None:
    """Keep a simulated rack up until Ctrl-C, for other terminals and other tools.

    \b
    rackcheck sim up dgx-h100
    rackcheck sim up hall --nodes 256
    rackcheck sim up --machine ./mockups/nvidia-dgx-h100 -o ./rack
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    from rackcheck.sim.child import running  # noqa: PLC0415

    if (name is None) == (machine is None):
        raise click.UsageError("which rack? a name (rackcheck sim list), or --machine DIR")
    wanted = (name or "").removeprefix("sim:") or _folder(machine or "")
    if output is not None:
        output.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (output / "inventory.yaml").exists():
            raise Mistake(f"{output / 'inventory.yaml'} is there already; name another folder")
    with running(f"{wanted}:{nodes}" if nodes else wanted, output) as place:
        _say(place)
        threading.Event().wait()


def _folder(machine: str) -> str:
    from rackcheck.sim.machine import shipped  # noqa: PLC0415

    known = shipped()
    return str(known[machine] if machine in known else Path(machine).absolute())


def _say(place: Path) -> None:
    """Tell how to reach the rack, with rackcheck and by hand."""
    found = inventory.load(place)
    first = next(iter(found.nodes.values()))
    click.echo(f"up:   {len(found.nodes)} nodes: {fold(found.nodes)}")
    click.echo(f"Next: rackcheck audit -i {place} -p h100-dgx")
    if first.host:
        click.echo(f"      ssh -p {first.ssh.port} -i {first.ssh.key} {first.ssh.user}@{first.host} hostname")
    if first.bmc is not None:
        click.echo(f"      curl -k {first.bmc.url}/redfish/v1/")
    click.echo("Ctrl-C ends it.")
