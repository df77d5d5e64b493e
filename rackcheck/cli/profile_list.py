"""`rackcheck profile list`: the profiles, and separately the fragments that profiles can include."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.tables import wrapped
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.profile import Profile
from rackcheck.profile import library
from rackcheck.profile.inheritance import is_fragment
from rackcheck.profile.layers import Layers
from rackcheck.session.output import print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.views import machine
from rackcheck.views.terminal import Line

PARTS = {
    "profile": "for audits: rackcheck audit -p NAME",
    "fragment": "to include in a profile (include: [NAME]); no verdict of their own",
}
"""The kinds of profile files, in the order in which they are listed, each with its use."""

SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A row of the list of profiles; if a file cannot be used, `title` is the error."""

    name: str
    kind: str
    version: str
    rules: str
    origin: str
    title: str


@click.command("list")
@options.profile_path_option
@options.json_option
def command(folders: tuple[Path, ...], as_json: bool) -> None:
    """List the profiles that can be used by name, and where they are; fragments are listed separately."""
    options.note_closed()
    rows = [_row(found, folders) for found in library.profiles(folders).values()]
    if as_json:
        click.echo(machine.text([asdict(row) for row in rows]))
    else:
        print_lines(_lines(rows, width()))


def _row(found: library.ProfileFile, folders: tuple[Path, ...]) -> ProfileRow:
    def catalogue() -> Catalogue:
        return known().catalogue

    try:
        text = library.result("row", str(found.path), {}, folders, catalogue, _words)
    except UserError as error:
        return ProfileRow(found.name, "profile", "?", "?", found.origin, f"cannot be used: {_short(error)}")
    kind, version, rules, title = json.loads(text)
    return ProfileRow(found.name, kind, version, rules, found.origin, title)


def _words(loaded: Profile, laid: Layers) -> str:
    kind = "fragment" if is_fragment(laid.head) else "profile"
    return json.dumps([kind, loaded.version, str(len(loaded.own)), loaded.title])


def _short(error: UserError) -> str:
    """Return the first line of an error, and the number of other lines."""
    first, *rest = str(error).splitlines()
    return f"{first}, and {len(rest)} more" if rest else first


def _lines(rows: Iterable[ProfileRow], room: int) -> Iterator[Line]:
    """Lay out one table for each kind of profile file; the column `from` is left out if all files are shipped."""
    listed = list(rows)
    origins = any(row.origin != SHIPPED for row in listed)
    first = True
    for kind, use in PARTS.items():
        some = [_cells(row, origins=origins) for row in listed if row.kind == kind]
        if not some:
            continue
        if not first:
            yield Line()
        first = False
        yield Line(((f"{kind}s, {use}", "dim"),))
        styles = ("bold", "", "", "dim", "") if origins else ("bold", "", "", "")
        head = (kind, "version", "rules", *(("from",) if origins else ()), "title")
        yield from wrapped(head, some, width=room, styles=styles)


def _cells(row: ProfileRow, *, origins: bool) -> tuple[str, ...]:
    return (row.name, row.version, row.rules, *((row.origin,) if origins else ()), row.title)
