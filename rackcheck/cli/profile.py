"""`rackcheck profile`: list, show and check profiles; explain a rule; compare two profiles; learn one from a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck.cli import explain, learn, options, profile_diff, profile_list, profile_schema
from rackcheck.evaluate.waiver import Waiver, troubled
from rackcheck.model.fold import fold
from rackcheck.model.profile import Profile, Rule
from rackcheck.profile import library, lint, reviewed
from rackcheck.profile.document import BadFile
from rackcheck.profile.layers import MACHINE
from rackcheck.report.rule_text import wants
from rackcheck.session import cli_choices
from rackcheck.session.output import print_lines
from rackcheck.session.registry_loading import known
from rackcheck.signoff import waivers
from rackcheck.views import machine
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line


@click.group()
def profile() -> None:
    """List, show, check and compare profiles; explain a rule; learn a profile from a run."""


profile.add_command(profile_list.command)
profile.add_command(explain.command)
profile.add_command(learn.command)
profile.add_command(profile_diff.command)
profile.add_command(profile_schema.command)


@profile.command("show")
@click.argument("name", shell_complete=options.complete_profiles)
@options.set_option
@options.profile_path_option
def show(name: str, values: tuple[str, ...], folders: tuple[Path, ...]) -> None:
    """Show a profile with all inherited rules: each rule with its condition, its reason and its sources."""
    options.note_closed()
    loaded = library.load(name, known().catalogue, cli_choices.pairs(values), folders)
    print_lines(_lines(loaded, waivers.own(loaded.files)))


@profile.command("check")
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
    checked = [_checked(name, cli_choices.pairs(values), folders, strict=strict) for name in names]
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
    try:
        loaded, laid = library.load_laid(name, known().catalogue, values, folders)
        waived = waivers.own(loaded.files)
    except BadFile as error:
        return _Checked(name, "", str(error), refused=True, findings=tuple(lint.of_file(error)))
    found = tuple(lint.chosen(lint.findings(loaded, laid), strict=strict))
    unset = sorted({param for rule in loaded.rules for param in rule.unset})
    waits = f"; site values not set: {', '.join(unset)}" if unset else ""
    own = loaded.own
    facts = {fact for rule in own for fact in rule.facts()}
    head = f"{name}: {several(len(own), 'rule')}, {several(len(facts), 'fact')}{waits}"
    waiting = reviewed.unreviewed(loaded.files)
    notes = [f"{name}: {reviewed.review_notice(waiting)}"] if waiting else []
    rules = {rule.id: rule for rule in loaded.rules}
    for waiver in waived:
        trouble = troubled(waiver, rules, waiver.until)
        if trouble is not None:
            notes.append(f"{waiver.place}: warning: the waiver of {waiver.rule} has no effect: {trouble[1]}")
    text = "\n".join(map(str, found))
    return _Checked(name, head, text, lint.refused(found, strict=strict), found, tuple(notes))


def _lines(loaded: Profile, waived: Iterable[Waiver]) -> list[Line]:
    lines = [Line(((f"{loaded.name} {loaded.version}", "bold"), (f"  {loaded.title}", "")))]
    lines.append(Line(((f"{' -> '.join(loaded.lineage)}; digest {loaded.digest[:12]}", "dim"),)))
    lines.append(Line(((f"  {_machines(loaded)}", "dim"),)))
    for name, value in loaded.params.items():
        lines.append(Line(((f"  param {name} = ", "dim"), (value or "not set", "" if value else "yellow"))))
    for rule_id, reason in loaded.dropped.items():
        lines.append(Line(((f"  dropped {rule_id}: ", "dim"), (reason, ""))))
    for waiver in waived:
        head = f"  waiver {waiver.place}: {waiver.rule} on {fold(waiver.nodes)}: "
        lines.append(Line(((head, "dim"), (waiver.words, ""))))
    lines += [line for rule in loaded.own for line in _rule(rule, loaded)]
    built_in = [rule for rule in loaded.rules if rule.built_in]
    if built_in:
        head = "part of every profile; may be dropped with a reason, but not changed"
        lines += [Line(), Line((("built in", "bold"), (f"  {several(len(built_in), 'rule')}, {head}", "dim")))]
    return [*lines, *(line for rule in built_in for line in _rule(rule, loaded))]


def _machines(loaded: Profile) -> str:
    """Describe the machines to which a profile applies."""
    if loaded.fragment:
        meant = f"; did you mean {loaded.meant}?" if loaded.meant else ""
        return f"a fragment: it gives no verdict on a machine{meant}"
    named = [f"{key} {' or '.join(globs)}" for key, globs in loaded.applies_to.items() if key in MACHINE]
    role = "".join(f", of role {role}" for role in loaded.applies_to.get("role", ()))
    return f"for {'; or '.join(named) if named else 'any machine'}{role}"


def _rule(rule: Rule, loaded: Profile) -> list[Line]:
    lines = [Line()]
    lines.append(Line(((rule.id, "bold"), (f"  {rule.title}", ""), (f"  ({rule.severity.value})", "dim"))))
    lines += [Line(((f"    {text}", ""),)) for text in wants(rule)]
    lines += [
        Line(((f"    {label} ", "dim"), (text, ""))) for label, text in (("why", rule.why), ("fix", rule.fix)) if text
    ]
    for ref in rule.refs:
        source = loaded.sources[ref]
        cited = f"{source.publisher}, {source.title}, {source.section} ({source.confidence})"
        lines.append(Line(((f"    ref {cited}", "dim"),)))
    return lines
