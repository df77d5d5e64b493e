"""`rackcheck groups`: identical failures, each once for all its nodes, with a hint at the cause."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from rackcheck.cli import filters, options
from rackcheck.cli.tables import table
from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.filter.where import FINDING_KEYS, NODE_KEYS, FilterRow, Where, left_out
from rackcheck.model.profile import Rule
from rackcheck.session import cli_choices, last_run, rejudge
from rackcheck.session.earlier_parts import with_earlier
from rackcheck.session.output import is_plain, note, print_lines, width
from rackcheck.session.subject import find
from rackcheck.views import locations, machine
from rackcheck.views.finding_groups import FindingGroup, groups
from rackcheck.views.shared_traits import HintKind
from rackcheck.views.signs import OUTCOME, Signs
from rackcheck.views.summary import COUNTED, Finding, Summary, exit_code, several
from rackcheck.views.terminal import (
    OUTCOMES,
    STYLES,
    Line,
    minor_note,
    simulation,
    verdict_mark,
    why,
    with_minor,
    within,
)

KEYS = (NODE_KEYS | FINDING_KEYS) - {"class", "run"}
"""The filter keys that `rackcheck groups --where` accepts: keys of nodes, and keys of findings."""

PARTS = 4
"""Maximum number of nodes whose parts are listed for one group."""

HEAD = ("#", "verdict", "nodes", "where", "rule", "expected", "actual", "hint")
_WHERE = "Only these groups: 'rack:r03 state:fail rule:bios.*'; node terms also limit the nodes listed in each group."


@click.command(name="groups", epilog="Exit, by the run's verdict: 0 pass, 1 fail, 3 unknown; 2 usage error.")
@options.newest_run_argument
@filters.where_option(_WHERE, KEYS)
@click.option("--all", "every", is_flag=True, help="Also show groups that pass or do not apply.")
@options.waivers_option
@options.json_option
def groups_(run: str, where: Where, every: bool, waiver_files: tuple[Path, ...], as_json: bool) -> int:
    """Show the findings of a run as groups of nodes with identical failures, the worst first.

    A filter does not change the numbers: group:7 is always the seventh of all groups.

    \b
    rackcheck groups                           the newest run
    rackcheck groups --where 'rack:r03'        groups with nodes of one rack
    rackcheck groups pod7 --where 'group:2'    one group of an acceptance
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    files = cli_choices.waiver_files(waiver_files, found=False) if waiver_files else None
    subject = find(last_run.named(run), files)
    summary, census = rejudge.read(subject)
    found = groups(summary if as_json else with_earlier(summary), census)
    answers = rejudge.chosen(subject, where, tuple(node.node for node in summary.everyone))
    left = frozenset(name for name, answer in answers.items() if answer)
    unsure = tuple(name for name, answer in answers.items() if answer is None)
    narrow = where.about(NODE_KEYS)
    narrowed = [group.narrowed(left) if narrow else group for group in found]
    about = where.about(FINDING_KEYS)
    shown = [group for group in narrowed if group is not None and about.holds(_row(group, summary))]
    rows = [group for group in shown if every or not group.quiet]
    known_facts = dict.fromkeys(
        [*census.facts(), *(fact for group in found for fact in _row(group, summary).words["fact"])]
    )
    filters.note_unmatched(where, {**rejudge.names(subject), "fact": known_facts})
    if as_json:
        click.echo(machine.text(_document(summary, rows, unsure)))
    else:
        print_lines(_lines(summary, rows, len(found), len(shown) - len(rows), where))
        if unsure:
            note(left_out(where, locations.share(unsure, summary.whole)))
    return exit_code(summary, strict=False)


def _row(group: FindingGroup, summary: Summary) -> FilterRow:
    """Return a group in the form to which a filter is applied."""
    known = {finding.rule.id: finding.rule for finding in summary.findings}
    rules = [known[rule] for rule in group.rules if rule in known]
    words = {
        "state": (group.status.value,), "severity": (group.severity,), "rule": group.rules, "node": group.nodes,
        "group": (str(group.number),), "profile": (summary.started.profile,),
        "plane": tuple(dict.fromkeys(plane.value for rule in rules for plane in rule.planes)),
        "fact": _facts(group, rules),
    }  # fmt: skip
    reason = group.about.reason if isinstance(group.about, Finding) else " ".join(group.about.details)
    text = (group.status.value, group.rule, group.title, group.want, group.got, reason, *group.nodes)
    hint = (group.hint.words, group.hint.sentence) if group.hint is not None else ()
    return FilterRow(words, " ".join((*text, *hint)))


def _facts(group: FindingGroup, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the values of the filter key `fact` for a group: the items of its evidence, and the facts of its rules."""
    items = [each.item for each in group.about.evidence] if isinstance(group.about, Finding) else []
    return tuple(dict.fromkeys([*items, *(str(fact) for rule in rules for fact in rule.facts())]))


def _lines(summary: Summary, values: Sequence[FindingGroup], of: int, quiet: int, where: Where) -> Iterator[Line]:
    signs = Signs(plain=is_plain())
    started = summary.started
    head = f"{started.profile} {started.profile_version} on {started.targets}"
    yield from within(Line(((signs.text(head), "bold"),)), width(), 2)
    yield from simulation(width(), simulated=summary.simulated)
    yield Line()
    yield from _table([_cells(group, summary, signs) for group in values], values)
    notes = [(group.number, text) for group in values for text in _notes(group)]
    if notes:
        yield Line()
    for number, text in notes:
        yield from within(Line(((f"{number:>3}  ", "bold"), (signs.text(text), ""))), width(), 5)
    if values:
        yield Line()
    yield from _ending(summary, len(values), of, quiet, where, signs)


def _notes(group: FindingGroup) -> Iterator[str]:
    """Yield the parts that a group is about, the other findings about them, and the hint at a shared cause."""
    if group.parts is not None:
        yield from group.parts.lines(PARTS)
        if group.parts.also:
            yield f"also {', '.join(each.rule.id for each in group.parts.also)}"
    if group.hint is not None and group.hint.sort is not HintKind.ALONE:
        yield group.hint.sentence


def _cells(group: FindingGroup, summary: Summary, signs: Signs) -> tuple[str, ...]:
    share = locations.share(group.nodes, summary.whole)
    if not group.nodes[0].startswith("@"):
        share = share.removesuffix("s").removesuffix(" node")
    verdict = str(signs.mark(group.status, group.severity))
    hint = group.hint.words if group.hint is not None else ""
    cells = (share, locations.names_text(group.nodes), group.rule or group.title, group.want, group.got, hint)
    return (str(group.number), verdict, *map(signs.text, cells))


def _table(rows: Sequence[Sequence[str]], items: Sequence[FindingGroup]) -> Iterator[Line]:
    """Lay out the groups in columns if the width allows, else each group in separate lines: nothing is cut."""
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    if not rows:
        return
    if sum(widths) + 2 * (len(widths) - 1) <= width():
        head, *body = table(HEAD, rows, width=width(), styles=("bold", "", "", "cyan", "bold", "", "", "yellow"))
        yield head
        for line, group in zip(body, items, strict=True):
            place, sign, *rest = line.pieces
            yield Line((place, (sign[0], _style(group)), *rest))
        return
    for (number, verdict, share, where, rule, want, got, hint), group in zip(rows, items, strict=True):
        first = ((f"{number:>3}  ", "bold"), (f"{verdict:<10}", _style(group)), (f"{rule}  ", "bold"))
        yield from within(Line((*first, (f"{share}: {where}", "cyan"))), width(), 15)
        more = [(f"expected {want}   ", "")] if want else []
        more += [(f"actual {got}   ", "")] if got else []
        more += [(hint, "yellow")] if hint else []
        if more:
            yield from within(Line((("     ", ""), *more)), width(), 7)


def _style(group: FindingGroup) -> str:
    return verdict_mark(group.status, group.severity, plain=False).style


def _ending(summary: Summary, value: int, of: int, quiet: int, where: Where, signs: Signs) -> Iterator[Line]:
    shown = signs.text(str(where), 200)
    asked = f" matching `{shown}`" if where else ""
    if value == 0 and quiet == 0:
        message = f"none of {several(of, 'group')} matches `{shown}`" if where else "no group"
        yield from within(Line(((message, ""),)), width(), 2)
    elif value < of:
        rest = f"; {quiet:,} that pass or do not apply: --all" if quiet else ""
        yield from within(Line(((f"{value:,} of {several(of, 'group')}{asked}{rest}", "dim"),)), width(), 2)
    counts = summary.counts
    pieces = [(f"{signs.status(s)} {counts[s]:,} {s.value}   ", STYLES[s] if counts[s] else "dim") for s in COUNTED]
    pieces = with_minor(pieces, counts[Status.FAIL], summary.minor_failures)
    scope = f"; {summary.not_in_scope:,} not in scope" if summary.not_in_scope else ""
    yield from within(Line((*pieces, (f"of {summary.total:,} verdicts{scope}", ""))), width(), 2)
    outcome = summary.done.outcome
    stopped = " (interrupted: answers received are kept)" if summary.done.interrupted else ""
    sign = signs.status(OUTCOME[outcome])
    only = f" ({summary.only})" if summary.only else ""
    verdict = (f"{sign} {outcome.value}", OUTCOMES[outcome])
    if outcome is not Outcome.INCOMPLETE and not where:
        yield from why(summary, width(), "INCOMPLETE ")
    yield Line((("Verdict: ", "bold"), verdict, (only, "bold yellow"), (stopped, "yellow")))
    if outcome is Outcome.INCOMPLETE:
        yield from why(summary, width())
    yield from minor_note(summary.minor_failures, width(), plain=is_plain())


def _document(summary: Summary, rows: Sequence[FindingGroup], unsure: Sequence[str]) -> dict[str, Any]:
    return {
        "rackcheck": machine.FORMAT, "run": summary.started.run,
        "outcome": summary.done.outcome.value, **({"reason": summary.reason} if summary.reason else {}),
        "interrupted": summary.done.interrupted, "planes": list(summary.started.planes),
        "simulated": summary.simulated, "not_in_scope": summary.not_in_scope,
        "counts": {status.value: count for status, count in summary.counts.items()}, "total": summary.total,
        "groups": [_group(group) for group in rows], "not_told": list(unsure),
    }  # fmt: skip


def _group(group: FindingGroup) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "group": group.number, "status": group.status.value, "rule": group.rule, "rules": list(group.rules),
        "title": group.title, "severity": group.severity, "nodes": list(group.nodes),
        "folded": locations.names_text(group.nodes), "want": group.want, "got": group.got,
    }  # fmt: skip
    if group.hint is not None:
        hint = group.hint
        doc["hint"] = {"about": hint.sort.value, "words": hint.words, "sentence": hint.sentence, "share": hint.share}
    return doc | (group.parts.json() if group.parts is not None else {})
