"""`rackcheck probe`: list and show probes, and run one on a node."""

import threading
from pathlib import Path

import click

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.facts import show_tree
from rackcheck.cli.lazy import NearestGroup
from rackcheck.cli.tables import table
from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import visible
from rackcheck.probe.contract import AnyProbe
from rackcheck.probe.plan import Plan
from rackcheck.profile.layers import did_you_mean
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, FactsRead
from rackcheck.run.job import Job
from rackcheck.session import cli_choices
from rackcheck.session.output import note, print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import secrets_of
from rackcheck.views import machine
from rackcheck.views.terminal import Line


@click.group(cls=NearestGroup)
def probe() -> None:
    """List, show and run probes."""


@probe.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List every probe: its plane, its number of facts, and what it collects."""
    rows = [(p.name, p.plane.value, str(len(p.gives)), p.help) for p in known().probes]
    if as_json:
        click.echo(machine.text([dict(zip(("name", "plane", "facts", "help"), row, strict=True)) for row in rows]))
    else:
        print_lines(table(("probe", "plane", "facts", "collects"), rows, width=width(), styles=("bold", "", "", "")))


@probe.command("show")
@options.probe_argument
def show(name: str) -> None:
    """Show what one probe reads, and its facts with their types and meanings."""
    found = _find(name)
    asked = str(found.ask)
    shown = asked if len(asked) <= 400 else f"{asked[:400]} … ({len(asked)} characters)"
    print_lines([Line(((found.name, "bold"), (f"  {found.help}", ""))), Line(((f"reads  {shown}", "dim"),)), Line()])
    rows = [(pattern, str(kind), kind.cls.value, kind.help) for pattern, kind in found.gives.items()]
    print_lines(table(("fact", "type", "class", "meaning"), rows, width=width(), styles=("bold", "", "dim", "")))


@probe.command("run")
@options.probe_argument
@click.argument("node", required=False, default=inventory.LOCAL)
@options.inventory_option
@options.rack_option
@click.option("--raw", is_flag=True, help="Also show the raw answer.")
@options.json_option
def run(name: str, node: str, file: Path | None, rack: str | None, raw: bool, as_json: bool) -> int:
    """Run one probe on one node, and show the facts of its answer."""
    found = _find(name)
    plan = Plan((found,))
    nodes, _ = cli_choices.choose([node], file, rack)
    job = Job(plan, nodes, planes=plan.planes, secrets=secrets_of(nodes, plan.planes))
    trouble = False
    for event in audit(job, ask_plane, threading.Event()):
        if isinstance(event, Answered):
            trouble = trouble or event.trouble is not None
            if event.trouble is not None:
                note(f"{node}: {event.trouble}")
            if raw and isinstance(event.capture, NodeCapture):
                _raw(event.capture)
        if isinstance(event, FactsRead):
            show_tree(node, event.tree, list(event.tree), as_json=as_json)
    return 3 if trouble else 0


def _raw(capture: NodeCapture) -> None:
    for answer in capture.commands.values():
        _echo(answer.out if isinstance(answer, Output) else str(answer))
    for path, content in capture.files.items():
        _echo(f"==> {path} <==\n{content}")


def _echo(text: str) -> None:
    """Print the answer of a node line by line, with control characters made visible."""
    for line in text.split("\n"):
        click.echo(visible(line))


def _find(name: str) -> AnyProbe:
    probes = {p.name: p for p in known().probes}
    if name not in probes:
        raise UserError(f"no probe {name}{did_you_mean(name, list(probes))}; `rackcheck probe list` lists them")
    return probes[name]
