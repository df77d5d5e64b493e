"""`rackcheck profile explain`: a rule as it is judged, and the file and line of each of its keys."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.model.profile import Rule
from rackcheck.profile import library
from rackcheck.profile.rule_origins import Explained, Fact, Param, RemovedKey, WrittenValue, explain
from rackcheck.report.rule_text import wants
from rackcheck.session import cli_choices, last_run, subject
from rackcheck.session.output import print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.views import machine
from rackcheck.views.terminal import Line, simulation

BUILT_IN = "built in: part of every profile; may be dropped with a reason, but not changed"


def _rules(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the id of a rule, if the command line already contains `-p NAME` or `--from RUN`."""
    name, run = ctx.params.get("profile"), ctx.params.get("run")
    if not isinstance(name, str) and not isinstance(run, str):
        return []
    try:
        name, given, _ = _profile(name, run)
        loaded = library.load(name, known().catalogue, given, tuple(ctx.params.get("folders") or ()))
    except UserError:
        return []
    return [CompletionItem(rule.id, help=rule.title) for rule in loaded.rules if rule.id.startswith(incomplete)]


@click.command("explain")
@click.argument("rule", shell_complete=_rules)
@options.profile_option()
@click.option(
    "--from", "run", metavar="RUN", shell_complete=options.complete_runs,
    help="Use the profile and the site values that are stored with this run or acceptance.",
)  # fmt: skip
@options.set_option
@options.profile_path_option
@options.json_option
def command(
    rule: str, profile: str | None, run: str | None, values: tuple[str, ...], folders: tuple[Path, ...], as_json: bool
) -> None:
    """Show one rule completely: its condition, and the file and line of each of its keys.

    Also shows the value that each key replaced, where each param comes from, the facts that the rule reads and the
    probe of each fact, and the rule's sources. For a dropped rule it shows the reason.

    \b
    rackcheck profile explain -p h100-dgx gpu.power_limit
    rackcheck profile explain --from last gpu.power_limit
    rackcheck profile explain -p ./ours.yaml os.qualified --set os="Debian*"
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if (profile is None) == (run is None):
        raise click.UsageError("give the profile: -p NAME, or --from RUN for the profile of a stored run")
    name, stored, made_up = _profile(profile, run and last_run.named(run, last_run.with_rule(rule)))
    given = {**stored, **cli_choices.pairs(values)}
    loaded, laid = library.load_laid(name, known().catalogue, given, folders)
    explained = explain(rule, loaded, laid, known().catalogue, given)
    if as_json:
        head = {"rackcheck": machine.FORMAT, "profile": {"name": loaded.name, "version": loaded.version}}
        head |= {"simulated": True} if made_up else {}
        click.echo(machine.text({**head, "lineage": list(loaded.lineage), **_document(explained)}))
    else:
        print_lines(simulation(width(), simulated=made_up))
        print_lines([*_lines(explained), Line((("", ""),)), Line(((f"of {' -> '.join(loaded.lineage)}", "dim"),))])


def _profile(name: str | None, run: str | None) -> tuple[str, Mapping[str, str], bool]:
    """Return a profile's name or file, the site values stored with a run, and whether the run is simulated.

    Raises UserError if there is no such run.
    """
    if run is None:
        return name or "", {}, False
    found = subject.find(run)
    return str(found.folder / f"{found.profile.name}.yaml"), found.given, found.simulated


def _lines(values: Explained) -> Iterator[Line]:
    rule = values.rule
    if rule is None:
        yield Line(((values.id, "bold"), ("  dropped", "yellow")))
    else:
        yield Line(((rule.id, "bold"), (f"  {rule.title}", "")))
    for drop in values.drops:
        anew = "" if rule is None else ", but defined again later"
        yield Line((("    dropped: ", "yellow"), (drop.reason, ""), (f"  {drop.place}, {drop.layer}{anew}", "dim")))
    if rule is not None:
        yield from _section("to pass", [Line(((f"    {text}", ""),)) for text in (*wants(rule), *_weight(rule))])
        yield from _section("site values", [_param(param) for param in values.params])
    yield from _section(
        "written" if rule is not None else "before the drop", [_written_line(value) for value in values.keys]
    )
    yield from _section("removed", [_gone(gone) for gone in values.gone])
    yield from _section("reads", [line for fact in values.facts for line in _fact(fact)])
    sources = (
        Line(((f"    {s.id}: {s.publisher}, {s.title}, {s.section}, {s.date}", ""), (f"  {s.confidence}", "dim")))
        for s in values.sources
    )
    yield from _section("sources", list(sources))
    if values.needed_by:
        yield from _section("needed by", [Line(((f"    {', '.join(values.needed_by)}", ""),))])


def _section(head: str, lines: list[Line]) -> Iterator[Line]:
    if lines:
        yield Line(((f"  {head}", "bold"),))
        yield from lines


def _weight(rule: Rule) -> Iterator[str]:
    """Yield lines on the effect of a failure, and on the roles and the phase of the rule."""
    if rule.from_memory or rule.severity.value == "advisory":
        why = "all its sources have the confidence `from memory`" if rule.from_memory else "it is an advisory"
        yield f"otherwise it warns: {why}"
    else:
        yield f"otherwise it fails, as a {rule.severity.value}"
    if rule.built_in:
        yield BUILT_IN
    if rule.unset:
        yield f"n/a while a site value is not set: {', '.join(rule.unset)}"
    yield f"for role {', '.join(rule.roles)}, in phase {rule.phase.value}"


def _instead(value: WrittenValue) -> str:
    return "".join(f", instead of {old.value} ({old.place})" for old in value.before)


def _written_line(value: WrittenValue) -> Line:
    where = f"  {value.place}, {value.layer}{_instead(value)}"
    return Line(((f"    {value.key}: ", "cyan"), (value.value, ""), (where, "dim")))


def _gone(gone: RemovedKey) -> Line:
    where = f"  {gone.was.place}, {gone.was.layer}; removed by `{gone.by.key}`, {gone.by.place}"
    return Line(((f"    {gone.was.key}: ", "cyan"), (gone.was.value, ""), (where, "dim")))


def _param(param: Param) -> Line:
    value = (param.value, "") if param.value is not None else ("not set", "yellow")
    origin = f"{param.origin.place}, {param.origin.layer}{_instead(param.origin)}" if param.origin else ""
    default = param.origin.value if param.origin else "unset"
    where = f"  --set, instead of {default}" + (f" ({origin})" if origin else "") if param.given else f"  {origin}"
    about = f"; {param.about}" if param.about else ""
    return Line(((f"    {param.name} = ", "cyan"), value, (f"{where}{about}", "dim")))


def _fact(fact: Fact) -> Iterator[Line]:
    entry = fact.entry
    inputs = f" from {', '.join(sorted(plane.value for plane in entry.inputs))}" if entry.inputs else ""
    yield Line(((f"    {fact.path}", "cyan"), (f"  {entry.kind}; {entry.plane.value}: {entry.probe}{inputs}", "dim")))
    yield Line(((f"      {entry.kind.help}", ""),))


def _document(explained: Explained) -> dict[str, Any]:
    rule = explained.rule
    judged: dict[str, Any] = {}
    if rule is not None:
        judged = {
            "title": rule.title, "severity": rule.severity.value, "phase": rule.phase.value, "roles": list(rule.roles),
            "wants": wants(rule), "only_warns": rule.from_memory or rule.severity.value == "advisory",
            "waits_for": list(rule.unset), "built_in": rule.built_in, "digest": rule.digest,
        }  # fmt: skip
    return {
        "rule": explained.id,
        "dropped": rule is None,
        "drops": [{"reason": d.reason, "layer": d.layer, "place": d.place} for d in explained.drops],
        **judged,
        "keys": [_value_doc(value) for value in explained.keys],
        "gone": [{**_value_doc(gone.was), "taken_by": _value_doc(gone.by)} for gone in explained.gone],
        "params": [
            {
                "name": p.name, "value": p.value, "set": p.given, "type": p.type, "about": p.about,
                "default": None if p.origin is None else _value_doc(p.origin),
            }
            for p in explained.params
        ],
        "facts": [
            {
                "path": f.path, "type": str(f.entry.kind), "plane": f.entry.plane.value, "probe": f.entry.probe,
                "help": f.entry.kind.help,
            }
            for f in explained.facts
        ],
        "sources": [
            {name: getattr(s, name) for name in ("id", "title", "section", "publisher", "date", "confidence")}
            for s in explained.sources
        ],
        "needed_by": list(explained.needed_by),
    }  # fmt: skip


def _value_doc(value: WrittenValue) -> dict[str, Any]:
    plain = {"key": value.key, "value": value.value, "layer": value.layer, "place": value.place}
    return plain | ({"before": [_value_doc(old) for old in value.before]} if value.before else {})
