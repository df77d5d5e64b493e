"""`rackcheck inventory`: show and check an inventory, and import one from another tool."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options, trust
from rackcheck.cli.choice import NearestChoice
from rackcheck.cli.lazy import NearestGroup
from rackcheck.cli.tables import table
from rackcheck.inventory import Inventory, importers, load
from rackcheck.inventory.notes import notes
from rackcheck.inventory.reading import parse
from rackcheck.inventory.targets import found, narrowed
from rackcheck.inventory.view import HEAD, document, elevation, racks, rows
from rackcheck.model.fact import clean
from rackcheck.profile.document import SHOWN, BadFile
from rackcheck.session import cli_choices
from rackcheck.session.output import note, print_lines, width
from rackcheck.views import machine
from rackcheck.views.terminal import Line


@click.group(cls=NearestGroup)
def inventory() -> None:
    """Check, show, import and trust inventories."""


inventory.add_command(trust.command)


@inventory.command("check", epilog="Exit: 0 valid (notes allowed), 2 mistakes, each with file, line and column.")
@click.argument("named", required=False, metavar="[FILE]", type=click.Path(path_type=Path, dir_okay=False))
@options.inventory_option
@options.json_option
def check(named: Path | None, file: Path | None, as_json: bool) -> None:
    """Check an inventory, and list mistakes, then warnings. Contacts no node; reads secrets without a prompt.

    \b
    rackcheck inventory check pod7.yaml
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    read = _read(named or file)
    odd = notes(read)
    roles = Counter(node.role for node in read.nodes.values())
    planes = {
        "os": sum(bool(node.host) for node in read.nodes.values()),
        "bmc": sum(node.bmc is not None for node in read.nodes.values()),
    }
    standing = list(racks(read, tuple(read.nodes.values())))
    if as_json:
        doc = {
            "origin": read.origin, "inventory": read.name, "count": len(read.nodes), "roles": dict(roles),
            "planes": planes, "racks": {rack.name: len(inside) for rack, inside in standing}, "notes": odd,
        }  # fmt: skip
        click.echo(machine.text(doc))
        return
    lines = [Line(((f"{read.origin} is valid", "bold"), (f" ({read.name})" if read.name else "", "")))]
    lines += [_pair("nodes", f"{len(read.nodes)}: " + ", ".join(f"{n} {role}" for role, n in roles.most_common()))]
    lines += [_pair("planes", ", ".join(f"{plane} of {n}" for plane, n in planes.items()))]
    if standing:
        sized = (f"{r.name} ({f'{r.height} U, ' if r.height else ''}{_nodes(len(inside))})" for r, inside in standing)
        lines += [_pair("racks", ", ".join(sized))]
    if read.groups:
        lines += [_pair("groups", ", ".join(f"@{name} ({len(inside)})" for name, inside in read.groups.items()))]
    print_lines([*lines, *(_pair("note", words) for words in odd)])


def _pair(label: str, words: str) -> Line:
    return Line(((f"  {label:<7}", "dim"), (words, "")))


@inventory.command("show")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.inventory_option
@options.rack_option
@click.option("--elevation", "as_racks", is_flag=True, help="Draw each rack, from top to bottom.")
@options.json_option
def show(targets: tuple[str, ...], file: Path | None, rack: str | None, as_racks: bool, as_json: bool) -> None:
    """Show the nodes, with identical nodes in one row, or draw their racks.

    \b
    rackcheck inventory show -i pod7.yaml
    rackcheck inventory show @rack:a01 --elevation
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    read = _read(cli_choices.place(file, rack), rack)
    nodes = narrowed(targets, read)
    if as_json:
        click.echo(machine.text(document(read, nodes)))
    elif as_racks:
        # Include all nodes of each selected rack: the positions of omitted nodes would look empty.
        meant = {node.rack for node in nodes}
        standing = [(r, inside) for r, inside in racks(read, tuple(read.nodes.values())) if r.name in meant]
        if not standing:
            raise UserError(f"no selected node of {read.origin} is in a rack; set its `rack` and `u`")
        for each, inside in standing:
            print_lines(Line(((line, ""),)) for line in elevation(each, inside))
    else:
        print_lines(table(HEAD, rows(nodes), width=width(), styles=("bold", "", "", "", "", "", "dim")))


@inventory.command("import")
@click.option("--from", "kind", required=True, type=NearestChoice(list(importers.READERS)), help="Format of FILE.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write (default: stdout)."
)
@click.option("--force", is_flag=True, help="Overwrite the output file.")
def import_(kind: str, file: Path, output: Path | None, force: bool) -> None:
    """Write an inventory from the output of another tool, without passwords. FILE `-` is standard input.

    \b
    ansible-inventory -i hosts.ini --list |
      rackcheck inventory import --from ansible -
    scontrol show nodes | rackcheck inventory import --from slurm - -o pod7.yaml
    rackcheck inventory import --from csv rack-a01.csv
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    piped = str(file) == "-"
    shown = "standard input" if piped else str(file)
    raw = importers.drained(sys.stdin.buffer, shown) if piped else importers.text_of(file)
    taken = importers.READERS[kind](raw, shown)
    text = importers.written(taken, f"{kind}, {shown}")
    if output is None:
        click.echo(text, nl=False)
    else:
        try:
            with output.open("w" if force else "x", encoding="utf-8") as out:
                out.write(text)
        except FileExistsError:
            raise UserError(f"{output} exists already; --force overwrites it") from None
    for words in (*taken.notes, *_open(text, str(output or "the result"))):
        note(f"note: {words}")
    note(f"{_nodes(len(taken.nodes))} imported from {clean(shown)}" + (f" to {output}" if output else ""))
    if output is not None:
        note(f"Next: rackcheck inventory check {output}")


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _open(text: str, origin: str) -> list[str]:
    """Return messages about what must still be corrected in an imported inventory."""
    try:
        parse(text, origin, Path())
    except BadFile as error:
        return [f"to be fixed: {problem}" for problem in error.problems[:SHOWN]]
    return []


def _read(file: Path | None, rack: str | None = None) -> Inventory:
    given = found(file)
    if given is None:
        raise UserError("no inventory: name a file, or change to a folder with ./inventory.yaml")
    read = load(given)
    return read if rack is None else replace(read, origin=rack)
