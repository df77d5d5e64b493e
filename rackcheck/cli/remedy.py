"""`rackcheck remedy`: write fixes for the findings of a stored run, for review; contacts and changes no machine."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.evaluate.verdict import Verdict
from rackcheck.inventory import unfold
from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Plane, clean
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.profile.layers import did_you_mean
from rackcheck.remedy.bios import NotFixable, patches
from rackcheck.remedy.fixes import ByHand, Firmware, Lines, by_hand, remedies
from rackcheck.remedy.settings import settings
from rackcheck.remedy.text import BmcOrder, RemedyText, bmc_script, body, document, script, text
from rackcheck.run.engine import replay
from rackcheck.run.event import Judged
from rackcheck.session import subject
from rackcheck.session.output import note, print_lines
from rackcheck.views import machine
from rackcheck.views.not_read import lines, not_read
from rackcheck.views.summary import Summary, several
from rackcheck.views.terminal import Line

INCOMPLETE = 3
"""The exit code of an INCOMPLETE run."""

URL = regex(r"https://[A-Za-z0-9._~:\[\]-]{1,253}/?\Z")


@click.command(epilog="Exit: 0 success, 2 usage error, 3 nothing to do, but the run is INCOMPLETE.")
@options.run_argument
@click.option("--nodes", metavar="SET", help="Only these nodes: a name or a node set.")
@click.option("--rule", "rules", metavar="RULE", multiple=True, help="Only this rule (may be repeated).")
@click.option(
    "-o", "--output", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Write a script for each node set and a Redfish request body for each BMC to this new folder.",
)  # fmt: skip
@options.json_option
def remedy(run: str, nodes: str | None, rules: tuple[str, ...], output: Path | None, as_json: bool) -> int:
    """Write fixes for the findings of a run or an acceptance, for review. Nothing is ever applied.

    Writes shell commands for nodes, and a Redfish request body for each BMC with a wrong BIOS setting. For all other
    findings, it writes the fix text of the rule. Each value comes from the profile; if a rule allows several values,
    the output gives the chosen value and the reason. If something was not read, the output lists it first.

    \b
    rackcheck remedy last
    rackcheck remedy last --nodes 'dgx[01-04]' --rule memory.swappiness
    rackcheck remedy last -o mend         mend/set-1.sh, mend/dgx01.bios.json, …
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    found = subject.find(run)
    only = _rules(found.profile, rules)
    summary = subject.shown(found)
    chosen = _nodes(nodes, summary)
    unread = not_read(summary, chosen, only)
    remedy_text = replace(
        _remedies(found, only, [n for n in chosen if n not in summary.others]), unread=tuple(lines(unread))
    )
    if output is not None:
        _written(output, remedy_text)
    if as_json:
        incomplete = {"incomplete": [each.json() for each in unread]}
        click.echo(machine.text({"rackcheck": machine.FORMAT, **document(remedy_text), **incomplete}))
    elif output is None:
        print_lines(Line(((line, "dim" if line.startswith("#") else ""),)) for line in text(remedy_text))
    if unread and remedy_text.is_empty:
        return INCOMPLETE
    return 0


def _rules(profile: Profile, wanted: Collection[str]) -> frozenset[str]:
    known = [rule.id for rule in profile.rules]
    for name in wanted:
        if name not in known:
            raise UserError(f"profile {profile.name} has no rule {name}{did_you_mean(name, known)}")
    return frozenset(wanted)


@dataclass
class _Readings:
    """The newest verdict of each node and rule, and the number of the verdict's run."""

    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    runs: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, judged: Judged, run: int) -> None:
        self.verdicts.setdefault(judged.node, {}).update({v.rule: v for v in judged.verdicts})
        self.runs |= {(judged.node, v.rule): run for v in judged.verdicts}


def _remedies(found: subject.RunSubject, only: Collection[str], chosen: Collection[str]) -> RemedyText:
    read = _Readings()
    for number, (stored, job, _) in enumerate(found.jobs):
        for event in replay(job, stored.answers(), stored.done()):
            if isinstance(event, Judged):
                read.take(event, number)
    steps: dict[str, list[Lines]] = {}
    needs: dict[str, list[Firmware]] = {}
    hands: dict[ByHand, list[str]] = {}
    for node in (node for node in chosen if node in read.verdicts):
        for each in remedies(found.profile.rules, read.verdicts[node].values(), only):
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
            raise UserError(f"no node {clean(name)} in this run{did_you_mean(name, list(every))}")
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
        mine = {node: [n for n in some if runs[node, n.rule] == number] for node, some in needs.items()}
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


def _written(folder: Path, remedy_text: RemedyText) -> None:
    """Write the scripts and bodies into a new folder; never overwrites files."""
    pieces = dict(_pieces(remedy_text))
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"{folder} exists already; remedies are never overwritten") from None
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from None
    for name, content in pieces.items():
        (folder / name).write_text(content, encoding="utf-8")
    note(f"Written for review: {several(len(pieces), 'file')} in {folder}; nothing was applied")


def _pieces(remedy_text: RemedyText) -> Iterator[tuple[str, str]]:
    yield "remedy.txt", "\n".join(text(remedy_text)) + "\n"
    for number, group in enumerate((g for g in remedy_text.groups if g.steps), start=1):
        yield f"set-{number}.sh", script(group, remedy_text.run)
    for order in remedy_text.orders:
        if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,200}", order.node) is None:
            raise UserError(f"the run's node name {clean(order.node)!r} is not valid as a file name")
        yield order.file, body(order.patch, 2) + "\n"
    if remedy_text.orders:
        yield "bmcs.sh", bmc_script(remedy_text.orders, remedy_text.run)
