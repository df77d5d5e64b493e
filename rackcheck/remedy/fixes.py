"""Remedies for findings: shell commands, BIOS settings, or work by hand. Nothing is ever applied.

A command contains only the fact and the expected value as the profile writes them, and no text of a node.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Class, Value
from rackcheck.model.operator import Test
from rackcheck.model.path import EVERY, BadPath, Path
from rackcheck.model.profile import Clause, Rule
from rackcheck.model.text import natural
from rackcheck.remedy.tunables import When, fits, found, known
from rackcheck.remedy.value import WantedValue, wanted

BAD = frozenset({Status.FAIL, Status.WARN})
SPECIAL = frozenset({"present", "same-as", "equal", "spread", "steady", "rate"})


@dataclass(frozen=True, slots=True)
class Lines:
    """Commands for root on the node: the fact they set, its value, why this value, and when it takes effect.

    `also` are the other rules that the same commands fix.
    """

    rule: str
    fact: str
    value: str
    how: str
    when: When
    lines: tuple[str, ...]
    note: str = ""
    also: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """All rules that the commands fix."""
        return (self.rule, *self.also)


@dataclass(frozen=True, slots=True)
class Firmware:
    """A BIOS setting to change for a rule; `how` is why this value was chosen."""

    rule: str
    fact: Path
    clause: Clause
    want: WantedValue


@dataclass(frozen=True, slots=True)
class ByHand:
    """A finding that no command fixes: the rule's own texts, and the reason.

    `part` is true if no setting can make the rule pass, because it is about parts, counters or measurements.
    """

    rule: str
    title: str
    fix: str
    why: str
    part: bool = False


Remedy = Lines | Firmware | ByHand


def remedies(rules: Sequence[Rule], verdicts: Iterable[Verdict], only: Collection[str] = ()) -> Iterator[Remedy]:
    """Yield the remedies for each failing or warning verdict of a node, in profile order; `only` selects rules."""
    values = {verdict.rule: verdict for verdict in verdicts}
    asked = [rule for rule in rules if values.get(rule.id) is not None and values[rule.id].status is not Status.NA]
    for rule in asked:
        if values[rule.id].status in BAD and (not only or rule.id in only):
            yield from _rule(rule, values[rule.id], asked)


def _rule(rule: Rule, verdict: Verdict, rules: Sequence[Rule]) -> Iterator[Remedy]:
    parts = _no_setting(rule)
    stop = _unfit(rule)
    failing = [] if stop or parts else list(_failing(rule, verdict))
    if not failing:
        why = "no setting fixes this" if parts else stop or "no single fact of the rule fails"
        yield by_hand(rule, why, part=parts)
        return
    whys: list[str] = []
    for clause in failing:
        step = _clause(rule, clause, rules)
        if isinstance(step, str):
            whys.append(step)
        else:
            yield step
    if whys:
        yield by_hand(rule, "; ".join(dict.fromkeys(whys)))


def by_hand(rule: Rule, why: str, *, part: bool = False) -> ByHand:
    """Return a rule as a finding to fix by hand, with the reason why no command fixes it."""
    return ByHand(rule.id, rule.title, rule.fix, why, part)


def _no_setting(rule: Rule) -> bool:
    """Whether no setting can fix a rule: it counts items, or tests only identities, counters and measurements."""
    kinds = {clause.kind.cls for clause in rule.clauses}
    counted = rule.look is not None and rule.look.mode == "count" and str(rule.look.collection) != "bios.pending"
    return counted or (bool(kinds) and kinds <= {Class.COUNTER, Class.MEASUREMENT, Class.IDENTITY})


def _unfit(rule: Rule) -> str:
    """Return why the form of a rule determines no value to write; empty if it may determine one."""
    if rule.called is not None:
        return "the rule is written in Python and defines no value to write"
    if rule.across is not None:
        return "the nodes differ, and the profile does not define the right value"
    if rule.look is not None and rule.look.mode != "each":
        return f"`{rule.look.mode}` does not determine which item to change"
    if rule.look is not None and rule.look.where is not None and not _is_there(rule.look.where):
        return "the rule is for some items only; a command would change all"
    if rule.join == "any" and len(rule.clauses) > 1:
        return "several different changes would make the rule pass"
    return ""


def _is_there(where: Clause) -> bool:
    return all(test.op == "present" and test.operand is True for test in where.tests)


def whole(rule: Rule, clause: Clause) -> Path:
    """Return the full path of a clause's fact; if the rule selects items, `*` stands for the item's name."""
    return clause.fact if rule.look is None else rule.look.collection.item(EVERY) + clause.fact


def _failing(rule: Rule, verdict: Verdict) -> Iterator[Clause]:
    """Yield the clauses whose fact fails or warns in the verdict's evidence."""
    bad: set[str] = set()
    for evidence in verdict.evidence:
        if evidence.status in BAD:
            try:
                bad.add(str(paths.parse(evidence.item).pattern))
            except BadPath:  # `count of gpu` is not a fact
                continue
    done: set[str] = set()
    for clause in rule.clauses:
        name = f"{clause.fact} {clause.tests}"
        if str(whole(rule, clause).pattern) in bad and name not in done:
            done.add(name)
            yield clause


def _clause(rule: Rule, clause: Clause, rules: Sequence[Rule]) -> Lines | Firmware | str:
    fact = whole(rule, clause)
    bios = fact.segments[0].word == "bios" and len(fact.segments) == 2
    if not bios and not known(fact):
        return f"no command is known that sets {fact}"
    want = wanted(clause)
    if isinstance(want, str):
        return f"{fact}: {want}"
    clash = next(_otherwise(rule, fact, want, rules), None)
    if clash is not None:
        return f"{fact}: rule {clash} rejects {want.text}"
    if bios:
        return Firmware(rule.id, fact, clause, want)
    if not fits(fact):
        return f"{fact} contains a name that is not valid in a command"
    write = found(fact, want.text)
    if write is None:
        return f"no command is known that sets {fact} to {want.text}"
    how, value = write
    if how.whole != (rule.look is not None):
        return f"{fact}: the command changes all items, the rule is for one" if how.whole else f"{fact} is set per item"
    return Lines(rule.id, str(fact), want.text, want.how, how.when, how.filled(fact, value), how.note)


def _otherwise(rule: Rule, fact: Path, want: WantedValue, rules: Sequence[Rule]) -> Iterator[str]:
    """Yield the ids of other rules about the same fact that reject the value which this rule expects."""
    for other in rules:
        if other.id == rule.id or other.unset or other.across is not None or other.join != "all":
            continue
        if other.look is not None and other.look.mode != "each":
            continue
        for clause in other.clauses:
            if whole(other, clause) != fact:
                continue
            tests = [test for test in clause.tests if test.op not in SPECIAL]
            gone = any(test.op == "present" and test.operand is False for test in clause.tests)
            none = want.value is None
            broken = not none and any(_refuses(test, want.value, clause) for test in tests if want.value is not None)
            if (none and tests) or (not none and gone) or broken:
                yield other.id


def _refuses(test: Test, value: Value, clause: Clause) -> bool:
    return operator.holds(test, value, clause.kind) is False


@dataclass(frozen=True)
class RemedyGroup:
    """Nodes that need the same commands; the commands are sorted by the time when they take effect.

    `firmware` is set if the nodes' BIOS must be changed too.
    """

    nodes: tuple[str, ...]
    steps: tuple[Lines, ...]
    firmware: bool = False

    @property
    def reboot(self) -> bool:
        """Whether the nodes must be rebooted once after all settings are written."""
        return self.firmware or any(step.when is When.REBOOT for step in self.steps)


def grouped(steps: Mapping[str, Sequence[Lines]], firmware: Collection[str]) -> tuple[RemedyGroup, ...]:
    """Group the nodes that need the same commands; the largest group first, then by name."""
    found: dict[tuple[tuple[Lines, ...], bool], list[str]] = {}
    for node in sorted({*steps, *firmware}, key=natural):
        lines = steps.get(node, ())
        if lines or node in firmware:
            found.setdefault((_in_order(lines), node in firmware), []).append(node)
    groups = [RemedyGroup(tuple(nodes), lines, bios) for (lines, bios), nodes in found.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.nodes), natural(group.nodes[0]))))


def _in_order(steps: Sequence[Lines]) -> tuple[Lines, ...]:
    """Sort commands: immediate effects first, a reboot last; equal commands of several rules are one step."""
    order = list(When)
    once: dict[tuple[str, ...], Lines] = {}
    for step in steps:
        same = once.setdefault(step.lines, step)
        once[step.lines] = replace(
            same, also=tuple(rule for rule in dict.fromkeys((*same.also, *step.rules)) if rule != same.rule)
        )
    return tuple(sorted(once.values(), key=lambda step: order.index(step.when)))
