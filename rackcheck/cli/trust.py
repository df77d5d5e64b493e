"""`rackcheck inventory trust`: show the host keys and certificates of all nodes, and trust them after one yes."""

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.inventory import load
from rackcheck.inventory.targets import found, narrowed
from rackcheck.inventory.trusted import add, certificates_of, known_hosts_of
from rackcheck.model.fact import Plane
from rackcheck.session import trust
from rackcheck.session.output import note, print_lines, width
from rackcheck.session.trust import WRONG, Seen, Trust
from rackcheck.views import machine
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("trust", epilog="Exit: 0 all trusted, 1 a key is another one than is trusted or expected, "
                               "2 usage error, 3 a plane was not read, or a key is not trusted.")  # fmt: skip
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.inventory_option
@click.option(
    "--expect", "listed", metavar="FILE", type=_FILE,
    help="Trust only what is on this list: a node and a SHA-256 fingerprint on each line.",
)  # fmt: skip
@options.json_option
def command(targets: tuple[str, ...], file: Path | None, listed: Path | None, as_json: bool) -> int:
    """Show the host keys and BMC certificates of the nodes, and trust them after one yes.

    Logs in nowhere. What is trusted is written to two files beside the inventory, NAME.known_hosts and
    NAME.certificates. A key that is another one than is trusted is never replaced. Without a terminal, nothing is
    trusted without --expect; compare the list with the consoles, or take it from whoever installed the nodes.

    \b
    rackcheck inventory trust -i pod7.yaml
    rackcheck inventory trust 'dgx[05-08]' -i pod7.yaml
    rackcheck inventory trust -i pod7.yaml --expect fingerprints.txt
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    place = found(file)
    if place is None:
        raise UserError("no inventory: name a file with -i, or change to a folder with ./inventory.yaml")
    read = load(place)
    wanted = trust.expected(listed, read) if listed is not None else {}
    rows = list(trust.seen(narrowed(targets, read), wanted))
    ready = [row for row in rows if row.state is (Trust.EXPECTED if listed is not None else Trust.NEW)]
    if not as_json:
        _show(rows)
    asked = listed is None and bool(ready)
    if asked and (as_json or not sys.stdin.isatty()):
        if as_json:
            _document(rows, 0)
        raise UserError(f"nothing was trusted: {_count(ready)} new; --expect FILE trusts those on a list")
    if asked and not click.confirm(f"Trust {_count(ready)}, as shown?", default=False, err=True):
        note("nothing was trusted")
        return 3
    written = _write(place, ready)
    if as_json:
        _document(rows, len(ready))
    for path, count in written:
        note(f"{several(count, 'line')} added to {path}")
    if not as_json and not any(row.state in WRONG for row in rows):
        silent = bool(rows) and all(row.state is Trust.SILENT for row in rows)
        doctor = f"rackcheck doctor -i {shlex.quote(str(place))}"
        note(f"nothing could be read: {doctor} shows why" if silent else f"Next: {doctor}")
    return _status(rows, ready)


def _status(rows: Sequence[Seen], ready: Sequence[Seen]) -> int:
    if any(row.state in WRONG for row in rows):
        return 1
    trusted = {(row.node, row.plane) for row in (*ready, *(row for row in rows if row.state is Trust.TRUSTED))}
    return 0 if {(row.node, row.plane) for row in rows} <= trusted else 3


def _count(rows: Sequence[Seen]) -> str:
    planes = Counter(row.plane for row in rows)
    words = ((planes[Plane.OS], "host key"), (planes[Plane.BMC], "certificate"))
    return " and ".join(several(count, word) for count, word in words if count)


def _show(rows: Sequence[Seen]) -> None:
    """Print a row for each key; a fingerprint is never cut, and has a line of its own if the row is too wide."""
    cells = [
        (row.node, row.plane.value, row.place, row.shown.kind if row.shown else "", row.state.value) for row in rows
    ]
    widths = [max((len(each) for each in column), default=0) for column in zip(*cells, strict=True)]
    room = width() - sum(widths) - 2 * len(widths)
    for row, cell in zip(rows, cells, strict=True):
        text = row.shown.fingerprint if row.shown is not None else row.why
        head = "  ".join(f"{each:<{size}}" for each, size in zip(cell, widths, strict=True))
        style = "bold red" if row.state in WRONG else ""
        if len(text) <= room:
            print_lines([Line(((f"{head}  ", style), (text, style)))])
        else:
            print_lines([Line(((head, style),)), Line(((f"    {text}", style),))])
    for row in rows:
        if row.state in WRONG:
            word = "trusted" if row.state is Trust.CHANGED else "expected"
            note(f"rackcheck: {row.node}, {row.plane.value} plane: {word} is {row.why}; never replaced by this command")


def _write(place: Path, rows: Sequence[Seen]) -> list[tuple[Path, int]]:
    written = []
    for plane, path in ((Plane.OS, known_hosts_of(place)), (Plane.BMC, certificates_of(place))):
        lines = list(dict.fromkeys(row.line for row in rows if row.plane is plane))
        if lines:
            add(path, lines)
            written.append((path, len(lines)))
    return written


def _document(rows: Sequence[Seen], trusted: int) -> None:
    seen: list[dict[str, Any]] = [
        {"node": row.node, "plane": row.plane.value, "address": row.place, "state": row.state.value, "why": row.why}
        | ({"kind": row.shown.kind, "fingerprint": row.shown.fingerprint} if row.shown is not None else {})
        for row in rows
    ]
    click.echo(machine.text({"rackcheck": machine.FORMAT, "seen": seen, "trusted": trusted}))
