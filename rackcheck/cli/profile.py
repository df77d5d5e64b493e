"""`rackcheck profile`: list, show, check."""

from pathlib import Path

import click

from rackcheck import library
from rackcheck.cli import options
from rackcheck.cli.known import known
from rackcheck.cli.output import print_lines, width
from rackcheck.cli.tables import table
from rackcheck.core.profile import Profile
from rackcheck.document import BadFile
from rackcheck.report import machine
from rackcheck.report.summary import several
from rackcheck.report.terminal import Line
from rackcheck.report.wants import wants


@click.group()
def profile() -> None:
    """List, show and check profiles."""


@profile.command("list")
@options.profile_path_option
@options.json_option
def list_(folders: tuple[Path, ...], as_json: bool) -> None:
    """List the profiles that a name finds, and where they stand."""
    rows = []
    options.note_closed()
    for found in library.profiles(folders).values():
        try:
            loaded = library.load(str(found.path), known().catalogue, None, folders)
            rows.append((found.name, loaded.version, str(len(loaded.rules)), found.origin, loaded.title))
        except BadFile as error:
            rows.append((found.name, "?", "?", found.origin, f"cannot be used: {error.problems[0]}"))
    if as_json:
        names = ("name", "version", "rules", "origin", "title")
        click.echo(machine.text([dict(zip(names, row, strict=True)) for row in rows]))
    else:
        print_lines(
            table(
                ("profile", "version", "rules", "from", "title"),
                rows,
                width=width(),
                styles=("bold", "", "", "dim", ""),
            )
        )


@profile.command("show")
@click.argument("name", shell_complete=options.complete_profiles)
@options.set_option
@options.profile_path_option
def show(name: str, values: tuple[str, ...], folders: tuple[Path, ...]) -> None:
    """Show a profile whole: its parents laid under it, each rule with what it wants, why and by which source."""
    options.note_closed()
    loaded = library.load(name, known().catalogue, options.pairs(values), folders)
    print_lines(_lines(loaded))


@profile.command("check")
@click.argument("names", nargs=-1, required=True, shell_complete=options.complete_profiles)
@options.set_option
@options.profile_path_option
def check(names: tuple[str, ...], values: tuple[str, ...], folders: tuple[Path, ...]) -> int:
    """Check profiles without asking any node; each mistake with its file, line and column."""
    bad = 0
    options.note_closed()
    for name in names:
        try:
            loaded = library.load(name, known().catalogue, options.pairs(values), folders)
        except BadFile as error:
            bad += 1
            click.echo(str(error), err=True)
        else:
            unset = sorted({param for rule in loaded.rules for param in rule.unset})
            waits = f"; site values not set: {', '.join(unset)}" if unset else ""
            click.echo(f"{name}: {several(len(loaded.rules), 'rule')}, {several(len(loaded.facts()), 'fact')}{waits}")
    return 2 if bad else 0


def _lines(loaded: Profile) -> list[Line]:
    lines = [Line(((f"{loaded.name} {loaded.version}", "bold"), (f"  {loaded.title}", "")))]
    lines.append(Line(((f"{' -> '.join(loaded.lineage)}; digest {loaded.digest[:12]}", "dim"),)))
    for name, value in loaded.params.items():
        lines.append(Line(((f"  param {name} = ", "dim"), (value or "not set", "" if value else "yellow"))))
    for rule in loaded.rules:
        lines.append(Line())
        lines.append(Line(((rule.id, "bold"), (f"  {rule.title}", ""), (f"  ({rule.severity.value})", "dim"))))
        lines += [Line(((f"    {text}", ""),)) for text in wants(rule)]
        lines += [
            Line(((f"    {label} ", "dim"), (text, "")))
            for label, text in (("why", rule.why), ("fix", rule.fix))
            if text
        ]
        for ref in rule.refs:
            source = loaded.sources[ref]
            cited = f"{source.publisher}, {source.title}, {source.section} ({source.confidence})"
            lines.append(Line(((f"    ref {cited}", "dim"),)))
    return lines
