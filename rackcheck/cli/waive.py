"""`rackcheck waive`: waive a finding, in a file that is kept under version control."""

import difflib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.evaluate.verdict import Status, Verdict
from rackcheck.evaluate.waiver import Pin, Waiver, last_day, pinned
from rackcheck.inventory.nodeset import unfold
from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.model.profile import Rule
from rackcheck.model.text import natural
from rackcheck.profile.layers import did_you_mean
from rackcheck.report.run_data import CollectedRun
from rackcheck.session import cli_choices, last_run, subject
from rackcheck.session.output import note
from rackcheck.signoff import waivers
from rackcheck.views.simulation import SIMULATED

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class WaiveOptions:
    """Arguments and options of `rackcheck waive`; `until` is a date, YYYY-MM-DD."""

    rule: str
    run: str
    nodes: str
    items: tuple[str, ...]
    until: str
    by: str
    ticket: str
    reason: str
    file: Path
    dry_run: bool


@click.command(epilog="Exit: 0 success, 2 usage error.")
@click.argument("rule")
@click.option(
    "--from", "run", metavar="RUN", default="last", show_default=True, help="Run or acceptance with the finding."
)
@click.option("--nodes", metavar="NODES", required=True, help="The nodes on which to waive the finding, as a node set.")
@click.option("--item", "items", multiple=True, metavar="ITEM", help="Only this item of the finding (may be repeated).")
@click.option("--until", metavar="YYYY-MM-DD", required=True, help="Last day of the waiver; at most a year ahead.")
@click.option("--by", metavar="NAME", required=True, help="Who is responsible for the waiver.")
@click.option("--ticket", metavar="ID", required=True, help="The ticket that tracks the finding.")
@click.option("--reason", metavar="TEXT", required=True, help="Why the finding is acceptable.")
@click.option(
    "--file",
    "file",
    metavar="FILE",
    type=_FILE,
    default=waivers.FOUND,
    show_default=True,
    help="File to add the waiver to.",
)
@click.option("--dry-run", is_flag=True, help="Show the change and write nothing.")
@options.collected(WaiveOptions)
def waive(given: WaiveOptions) -> int:
    """Add a waiver of a finding to a file, and show the change; commit the file with your profiles.

    The waiver pins the finding of a stored run: the rule's current definition, the nodes, the item and its value. If
    the rule, the item or the value changes, the waiver lapses; after its last day, it expires. The rule then fails
    again, and every output gives the reason.

    \b
    rackcheck waive nic.rate --nodes dgx02 --until 2027-01-31 \\
      --by "Jo Doe" --ticket OPS-12 --reason "cables ordered"
    rackcheck audit --from last --waivers waivers.yaml    judge again, offline
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    rule, file = given.rule, given.file
    _in_time(given.until)
    for option, words in (("by", given.by), ("ticket", given.ticket), ("reason", given.reason)):
        cli_choices.one_line(option, words)
        if not any(c.isprintable() and not c.isspace() for c in words):
            raise UserError(f"--{option} is empty")
    run = last_run.named(given.run, last_run.with_rule(rule))
    found = subject.find(run)
    readings = list(found.evaluate())
    by_id = {r.id: r for r in found.profile.rules}
    if rule not in by_id:
        near = did_you_mean(rule, list(by_id)) or f"; rackcheck profile show {found.profile.name} lists them"
        raise UserError(f"profile {found.profile.name} has no rule {rule}{near}")
    judged = _verdicts(found, readings, rule)
    answers = (given.until, given.by, given.ticket, given.reason)
    made = _grouped(by_id[rule], _chosen(given.nodes, judged, rule), judged, given.items, answers)
    before = _before(file)
    after = waivers.added(before, made)
    waivers.read(after, file.name)  # reject a finding that is waived twice before anything is written
    _show(before, after, file)
    if not given.dry_run:
        waivers.write(file, before, after)
    if found.simulated:
        note(f"SIMULATION: {SIMULATED}")
    if given.dry_run:
        note("nothing written (--dry-run)")
        return 0
    note(f"Written: {file}")
    if found.acceptance is not None:
        note(f"Next: rackcheck accept add {found.name} --waivers {file}")
    elif file == Path(waivers.FOUND):
        here = "a new audit in this folder uses it by default"
        note(f"Next: rackcheck audit --from {run} --waivers {file}; {here}")
    else:
        note(f"Next: rackcheck audit --from {run} --waivers {file}")
    return 0


def _before(file: Path) -> str:
    """Return the text of a waiver file, empty for a new one; raises UserError if the name or the content is invalid."""
    if file.exists():
        return waivers.load(file).text
    waivers.named(file)
    return ""


def _in_time(until: str) -> None:
    today = datetime.now(UTC).date().isoformat()
    try:
        day = date.fromisoformat(until).isoformat()
    except ValueError:
        raise UserError(f"--until {until!r:.40}: not a date; use YYYY-MM-DD, like {last_day(today)}") from None
    if day != until:
        raise UserError(f"--until {until!r:.40}: use YYYY-MM-DD, like {day}")
    if until < today:
        raise UserError(f"--until {until} is in the past; today is {today}")
    if until > last_day(today):
        raise UserError(f"--until {until} is more than a year ahead; the latest date is {last_day(today)}")


def _verdicts(found: subject.RunSubject, readings: list[CollectedRun], rule: str) -> dict[str, Verdict]:
    settled = subject.settled_of(found, readings)
    return {node.node: v for node in settled.everyone for v in node.verdicts if v.rule == rule}


def _chosen(nodes: str, judged: dict[str, Verdict], rule: str) -> list[str]:
    wanted = unfold(nodes)
    if not wanted:
        raise UserError(f"--nodes {nodes!r:.40} names no node; {rule} is judged on {fold(judged)}")
    strangers = [node for node in wanted if node not in judged]
    if strangers:
        near = did_you_mean(strangers[0], list(judged)) or f"; it is judged on {fold(judged)}"
        raise UserError(f"{rule} is not judged on {fold(strangers)}{near}")
    fine = [node for node in wanted if judged[node].status not in {Status.FAIL, Status.WARN}]
    if fine:
        words = judged[fine[0]].status.value
        wrong = [node for node, v in judged.items() if v.status in {Status.FAIL, Status.WARN}]
        where = f"; it fails or warns on {fold(wrong)}" if wrong else ""
        raise UserError(f"{rule} is {words} on {fold(fine)}: only a fail or a warn can be waived{where}")
    return wanted


def _grouped(
    rule: Rule, nodes: list[str], judged: dict[str, Verdict], items: tuple[str, ...], words: tuple[str, str, str, str]
) -> list[Waiver]:
    """Build the waivers: one waiver for all nodes with the same finding."""
    groups: dict[tuple[Pin, ...], list[str]] = {}
    # A count is one finding. The items listed after it are only for review: to waive an item would have no effect.
    most = 1 if rule.look is not None and rule.look.mode == "count" else None
    for node in nodes:
        wrong = [
            e for e in judged[node].evidence[:most] if e.status in {Status.FAIL, Status.WARN} and e.unknown is None
        ]
        pins = tuple(dict.fromkeys(pinned(e) for e in wrong if not items or e.item in items))
        missing = [item for item in items if item not in {e.item for e in wrong}]
        if missing or not pins:
            seen = [e.item for e in wrong]
            near = did_you_mean(missing[0], seen) if missing else ""
            hint = near or f"; findings: {', '.join(seen) or 'none'}"
            raise UserError(f"no known finding for {', '.join(missing) or rule.id} on {node}{hint}")
        groups.setdefault(pins, []).append(node)
    return [
        Waiver(rule.id, rule.digest, tuple(sorted(where, key=natural)), pins, *words) for pins, where in groups.items()
    ]


def _show(before: str, after: str, file: Path) -> None:
    name = str(file)
    old = name if before else "/dev/null"
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), old, name, lineterm=""):
        click.echo(visible(line))
