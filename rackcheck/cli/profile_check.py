"""`rackcheck profile check`: checks profiles without contacting a node."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rackcheck.cli import options
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.profile import Profile
from rackcheck.profile import library, lint
from rackcheck.profile.document import BadFile, SourcePlace
from rackcheck.profile.layers import Layers
from rackcheck.session.registry_loading import known
from rackcheck.views import machine


@click.command("check")
@click.argument("names", nargs=-1, required=True, shell_complete=options.complete_profiles)
@click.option("--strict", is_flag=True, help="Also print hints, and exit 2 on any finding.")
@options.set_option
@options.profile_path_option
@options.json_option
def check(
    names: tuple[str, ...], strict: bool, values: tuple[str, ...], folders: tuple[Path, ...], as_json: bool
) -> int:
    """Check profiles, without contacting a node; each finding has its file, line and column.

    \b
    rackcheck profile check ./our-servers.yaml
    rackcheck profile check h100-dgx --set driver=570.86.15 --strict
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    options.note_closed()
    checked = [_checked(name, _pairs(values), folders, strict=strict) for name in names]
    if as_json:
        click.echo(machine.text([each.plain() for each in checked]))
        return 2 if any(each.refused for each in checked) else 0
    for each in checked:
        if each.head:
            click.echo(each.head)
        for line in (*each.notes, *([each.remarks] if each.remarks else ())):
            click.echo(line, err=True)
    return 2 if any(each.refused for each in checked) else 0


@dataclass(frozen=True, slots=True)
class _Checked:
    """The result of checking one profile: a line with its counts, notes, findings, and whether it is rejected."""

    name: str
    head: str
    remarks: str
    refused: bool
    findings: tuple[lint.LintFinding, ...] = ()
    notes: tuple[str, ...] = ()

    def plain(self) -> dict[str, object]:
        found = [finding.plain() for finding in self.findings]
        return {"profile": self.name, "usable": not self.refused, "findings": found, "notes": list(self.notes)}


def _checked(name: str, values: dict[str, str], folders: tuple[Path, ...], *, strict: bool) -> _Checked:
    def catalogue() -> Catalogue:
        return known().catalogue

    def made(loaded: Profile, laid: Layers) -> str:
        from rackcheck.cli.profile_results import results  # noqa: PLC0415

        return results(loaded, laid)

    try:
        doc = json.loads(library.result("check", name, values, folders, catalogue, made))
    except BadFile as error:
        return _Checked(name, "", str(error), refused=True, findings=tuple(lint.of_file(error)))
    found = tuple(lint.chosen([_finding(row) for row in doc["findings"]], strict=strict))
    notes = [f"{name}: {doc['review']}"] if doc["review"] else []
    text = "\n".join(map(str, found))
    head = f"{name}: {doc['head']}"
    return _Checked(name, head, text, lint.refused(found, strict=strict), found, (*notes, *doc["notes"]))


def _pairs(values: tuple[str, ...]) -> dict[str, str]:
    if not values:
        return {}
    from rackcheck.session import cli_choices  # noqa: PLC0415  imports the inventory

    return cli_choices.pairs(values)


def _finding(row: Mapping[str, Any]) -> lint.LintFinding:
    place = SourcePlace(row["file"], row["line"], row["column"])
    return lint.LintFinding(place, lint.Level(row["level"]), row["text"], row["rule"])
