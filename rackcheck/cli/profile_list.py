"""`rackcheck profile list`: the profiles to judge by, and apart from them the fragments to include."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.tables import wrapped
from rackcheck.profile import library
from rackcheck.profile.inheritance import is_fragment
from rackcheck.session.output import print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.views import machine
from rackcheck.views.terminal import Line

PARTS = {
    "profile": "to judge by: rackcheck audit -p NAME",
    "fragment": "no verdict by themselves; to add to your own: include: [NAME]",
}
"""The kinds of files, in the order of the list, and what each is there for."""

SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A profile's file as it is listed; of one that cannot be used, the title says why."""

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
    """List the profiles that a name finds, and where they stand; fragments, which profiles include, stand apart."""
    options.note_closed()
    rows = [_row(found, folders) for found in library.profiles(folders).values()]
    if as_json:
        click.echo(machine.text([asdict(row) for row in rows]))
    else:
        print_lines(_lines(rows, width()))


def _row(found: library.ProfileFile, folders: tuple[Path, ...]) -> ProfileRow:
    try:
        loaded, laid = library.load_laid(str(found.path), known().catalogue, None, folders)
    except UserError as error:
        return ProfileRow(found.name, "profile", "?", "?", found.origin, f"cannot be used: {_short(error)}")
    kind = "fragment" if is_fragment(laid.head) else "profile"
    return ProfileRow(found.name, kind, loaded.version, str(len(loaded.own)), found.origin, loaded.title)


def _short(error: UserError) -> str:
    """Give the first line of what is wrong, and how much more there is."""
    first, *rest = str(error).splitlines()
    return f"{first}, and {len(rest)} more" if rest else first


def _lines(rows: Iterable[ProfileRow], room: int) -> Iterator[Line]:
    """Lay each kind in a table of its own; where every file ships, nothing says so."""
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
