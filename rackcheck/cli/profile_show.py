"""`rackcheck profile show`: a profile with all inherited rules."""

from collections.abc import Iterable
from pathlib import Path

import click

from rackcheck.cli import options
from rackcheck.evaluate.waiver import Waiver
from rackcheck.model.fold import fold
from rackcheck.model.profile import Profile, Rule
from rackcheck.profile import library
from rackcheck.profile.layers import MACHINE
from rackcheck.report.rule_text import wants
from rackcheck.session import cli_choices
from rackcheck.session.output import print_lines
from rackcheck.session.registry_loading import known
from rackcheck.signoff import waivers
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line


@click.command("show")
@click.argument("name", shell_complete=options.complete_profiles)
@options.set_option
@options.profile_path_option
def show(name: str, values: tuple[str, ...], folders: tuple[Path, ...]) -> None:
    """Show a profile with all inherited rules: each rule with its condition, its reason and its sources."""
    options.note_closed()
    loaded = library.load(name, known().catalogue, cli_choices.pairs(values), folders)
    print_lines(_lines(loaded, waivers.own(loaded.files)))


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
