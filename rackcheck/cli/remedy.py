"""`rackcheck remedy`: write fixes for the findings of a stored run, for review; contacts and changes no machine."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.evaluate.verdict import Verdict
from rackcheck.inventory import unfold
from rackcheck.inventory.targets import FOLDED
from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Plane, clean
from rackcheck.model.fold import fold
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.profile.layers import did_you_mean
from rackcheck.remedy.bios import NotFixable, patches
from rackcheck.remedy.fixes import ByHand, Firmware, Lines, by_hand, remedies
from rackcheck.remedy.settings import settings
from rackcheck.remedy.text import (
    NOTHING,
    BmcOrder,
    RemedyText,
    bmc_script,
    body,
    document,
    head_lines,
    script,
    setting_lines,
)  # fmt: skip
from rackcheck.remedy.work import names_links
from rackcheck.report.annex import marked, table
from rackcheck.run.event import Event, Judged, RunStarted
from rackcheck.session import last_run, subject
from rackcheck.session.earlier_parts import with_earlier
from rackcheck.session.output import note, print_lines
from rackcheck.views import machine, work_text
from rackcheck.views.not_read import NotRead, lines, not_read
from rackcheck.views.summary import Summary, several
from rackcheck.views.terminal import Line
from rackcheck.views.work_facts import WorkFacts
from rackcheck.views.work_lists import WorkLists, WorkReader

INCOMPLETE = 3
"""The exit code of an INCOMPLETE run."""

CASES = "cases"
"""The folder with a file for each part to reseat or replace."""

URL = regex(r"https://[A-Za-z0-9._~:\[\]-]{1,253}/?\Z")


@click.command(epilog="Exit: 0 success, 2 usage error, 3 nothing to do, but the run is INCOMPLETE.")
@options.run_argument
@click.option("--nodes", metavar="SET", help="Only these nodes: a name or a node set.")
@click.option("--rule", "rules", metavar="RULE", multiple=True, help="Only this rule (may be repeated).")
@click.option(
    "-o", "--output", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Write scripts, Redfish request bodies, lists and a file for each case to this new folder.",
)  # fmt: skip
@options.json_option
def remedy(run: str, nodes: str | None, rules: tuple[str, ...], output: Path | None, as_json: bool) -> int:
    """Write fixes for the findings of a run or an acceptance, for review. Nothing is ever applied.

    Groups the work by what a person does: settings (shell commands, Redfish request bodies for BIOS settings), firmware
    to update, nodes to power cycle, cables to check, parts to reseat or replace, and the rest by hand. Each value of a
    command comes from the profile. If something was not read, the output lists it first.

    \b
    rackcheck remedy last
    rackcheck remedy last --nodes 'dgx[01-04]' --rule memory.swappiness
    rackcheck remedy last -o mend         mend/set-1.sh, mend/cables.csv, …
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    found = subject.find(last_run.named(run, last_run.AUDIT))
    only = _rules(found.profile, rules)
    read = _Reader(WorkFacts(frozenset(rule.id for rule in found.profile.rules if names_links(rule))))
    summary = with_earlier(subject.shown(found, read.watch))
    chosen = _nodes(nodes, summary)
    unread = not_read(summary, chosen, only)
    verdicts = {each.node: {v.rule: v for v in each.verdicts} for each in summary.everyone}
    mine = {n: verdicts[n] for n in chosen if n in verdicts and n not in summary.others}
    texts = replace(_settings(found, only, mine, read), simulated=summary.simulated)
    reader = WorkReader(found.name, found.profile.rules, verdicts, summary.named, read.facts, texts)
    found_work = _Remedies(texts, reader.lists(), unread)
    if output is not None:
        _written(output, found_work)
    if as_json:
        click.echo(machine.text({"rackcheck": machine.FORMAT, **found_work.json()}))
    elif output is None:
        print_lines(Line(((line, "dim" if line.startswith("#") else ""),)) for line in found_work.lines())
    return INCOMPLETE if unread and found_work.is_empty else 0


@dataclass(frozen=True)
class _Remedies:
    """All that `remedy` writes: the settings, the other lists of work, and what was not read."""

    settings: RemedyText
    work: WorkLists
    unread: tuple[NotRead, ...]

    @property
    def is_empty(self) -> bool:
        return self.work.is_empty and not (self.settings.orders or self.settings.groups)

    def lines(self) -> Iterator[str]:
        yield from head_lines(self.settings)
        yield from (f"# {line}" for line in lines(self.unread))
        yield from setting_lines(self.settings)
        yield from work_text.lines(self.work)
        if self.is_empty:
            yield "# Nothing to do is known: no rule fails or warns on what was read." if self.unread else NOTHING

    def json(self) -> dict[str, object]:
        incomplete = [each.json() for each in self.unread]
        return {**document(self.settings), **work_text.document(self.work), "incomplete": incomplete}


def _rules(profile: Profile, wanted: Collection[str]) -> frozenset[str]:
    known = [rule.id for rule in profile.rules]
    for name in wanted:
        if name not in known:
            raise UserError(f"profile {profile.name} has no rule {name}{did_you_mean(name, known)}")
    return frozenset(wanted)


@dataclass
class _Reader:
    """Takes the events of all runs: facts for the lists of work, and the newest run of each node and rule."""

    facts: WorkFacts
    runs: dict[tuple[str, str], int] = field(default_factory=dict)
    number: int = -1

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, RunStarted):
                self.number += 1
            elif isinstance(event, Judged):
                self.runs |= {(event.node, verdict.rule): self.number for verdict in event.verdicts}
            self.facts.take(event)
            yield event


def _settings(
    found: subject.RunSubject, only: Collection[str], verdicts: Mapping[str, Mapping[str, Verdict]], read: _Reader
) -> RemedyText:
    """Return the commands and requests that change settings, and all other findings as findings to fix by hand."""
    steps: dict[str, list[Lines]] = {}
    needs: dict[str, list[Firmware]] = {}
    hands: dict[ByHand, list[str]] = {}
    for node, mine in verdicts.items():
        for each in remedies(found.profile.rules, mine.values(), only):
            match each:
                case Lines():
                    steps.setdefault(node, []).append(each)
                case Firmware():
                    needs.setdefault(node, []).append(each)
                case ByHand():
                    hands.setdefault(each, []).append(node)
    rules = {rule.id: rule for rule in found.profile.rules}
    orders, left = _firmware(found, needs, read.runs, rules)
    for hand, node in left:
        hands.setdefault(hand, []).append(node)
    place = {rule: number for number, rule in enumerate(rules)}
    ordered = sorted(hands.items(), key=lambda item: place[item[0].rule])
    return RemedyText(
        found.name, f"{found.profile.name} {found.profile.version}", steps, tuple(orders),
        tuple((hand, tuple(sorted(set(names), key=natural))) for hand, names in ordered),
    )  # fmt: skip


def _nodes(wanted: str | None, summary: Summary) -> list[str]:
    """Return the chosen nodes, also those that were never judged; without a choice, also the racks and the fleet."""
    every = dict.fromkeys((*summary.started.nodes, *(each.node for each in summary.everyone)))
    names = list(every) if wanted is None else unfold(wanted)
    for name in names:
        if name not in every:
            nodes = [each for each in every if not each.startswith("@")]  # the others are racks and the fleet
            near = did_you_mean(name, nodes) or f"; it has {clean(fold(nodes), FOLDED)}"
            raise UserError(f"no node {clean(name)} in this run{near}")
    return sorted(set(names), key=natural)


def _firmware(
    found: subject.RunSubject, needs: Mapping[str, list[Firmware]], runs: Mapping[tuple[str, str], int],
    rules: Mapping[str, Rule],
) -> tuple[list[BmcOrder], list[tuple[ByHand, str]]]:  # fmt: skip
    """Build each BMC's request bodies, from the BMC's stored answer in the newest run that judged the rule."""
    orders: list[BmcOrder] = []
    left: list[tuple[ByHand, str]] = []
    done: set[tuple[str, str]] = set()
    known = settings() if needs else None
    for number, (stored, _, _) in enumerate(found.jobs):
        mine = {node: [n for n in some if runs.get((node, n.rule), 0) == number] for node, some in needs.items()}
        mine = {node: some for node, some in mine.items() if some}
        for answer in stored.answers() if mine else ():
            if answer.plane is not Plane.BMC or answer.node not in mine or answer.reading > 1:
                continue
            if not isinstance(answer.capture, BmcCapture):
                continue
            assert known is not None
            some = mine.pop(answer.node)
            url = found.places[answer.node].bmc if answer.node in found.places else ""
            made, not_so = patches(answer.capture.documents, some, known)
            if made and not URL.match(url):
                not_so, made = [*not_so, *(_unreached(made_for.rule) for p in made for made_for in p.changes)], []
            orders += [BmcOrder(answer.node, url, patch, n) for n, patch in enumerate(made, start=1)]
            for each in not_so:
                if (answer.node, each.rule) not in done:
                    done.add((answer.node, each.rule))
                    left.append((by_hand(rules[each.rule], each.why), answer.node))
        for node, some in mine.items():
            left += [(by_hand(rules[n.rule], "this run contains no answer of the node's BMC"), node) for n in some]
    return sorted(orders, key=lambda order: (natural(order.node), order.number)), left


def _unreached(rule: str) -> NotFixable:
    return NotFixable(rule, "the inventory has no https address for this BMC")


def _written(folder: Path, found: _Remedies) -> None:
    """Write the scripts, bodies and lists into a new folder; never overwrites files."""
    pieces = dict(_pieces(found))
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"{folder} exists already; remedies are never overwritten") from None
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from None
    if found.work.cases:
        (folder / CASES).mkdir()
    for name, content in pieces.items():
        (folder / name).write_bytes(content.encode())  # as bytes, so that a CSV file keeps its line ends
    note(f"Written for review: {several(len(pieces), 'file')} in {folder}; nothing was applied")


def _pieces(found: _Remedies) -> Iterator[tuple[str, str]]:
    settings, work = found.settings, found.work
    finished = marked if settings.simulated else str
    yield "remedy.txt", "\n".join(found.lines()) + "\n"
    for number, group in enumerate((g for g in settings.groups if g.steps), start=1):
        yield f"set-{number}.sh", script(group, settings.title)
    for order in settings.orders:
        if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,200}", order.node) is None:
            raise UserError(f"the run's node name {clean(order.node)!r} is not valid as a file name")
        yield order.file, body(order.patch, 2) + "\n"
    if settings.orders:
        yield "bmcs.sh", bmc_script(settings.orders, settings.title)
    if work.firmware:
        yield "firmware.csv", finished(table(work_text.FIRMWARE, work_text.firmware_rows(work.firmware)))
    if work.power:
        yield "power-cycle.txt", ("# SIMULATION\n" if settings.simulated else "") + work_text.power_text(work.power)
    if work.cables:
        yield "cables.csv", finished(table(work_text.CABLES, work_text.cable_rows(work.cables)))
    for name, content in work_text.case_files(work.cases, settings.title, settings.profile):
        yield f"{CASES}/{name}", content
