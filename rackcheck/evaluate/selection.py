"""Judges the items of a selection (each, any, no, count); items can be known, doubtful or not listed."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from rackcheck.evaluate.fact_judge import judge_leaf
from rackcheck.evaluate.waiver import NOTHING, Granted, taken
from rackcheck.model import operator
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.evidence import Evidence, Status, Verdict, all_hold, any_holds, clause_text
from rackcheck.model.fact import Absent, Unknown, Value
from rackcheck.model.operator import SIBLINGS, WARNING, Test
from rackcheck.model.path import EVERY, Path, Segment
from rackcheck.model.profile import Clause, Rule, RuleSelection
from rackcheck.model.sibling_silence import empty_doubt
from rackcheck.model.tree import Tree

SHOWN = 256
"""Maximum number of pieces of evidence kept for one verdict."""

LONGEST = 1000
"""Maximum number of characters of the list of counted items; a digest replaces a longer list."""

OTHERS = 8
"""A message about a count lists the items that do not match `where` only if there are at most this many of them."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The items of a selection; `more` is set if there may be unlisted items.

    `sure` are the items that match `where`. `doubtful` is the evidence about items that may match `where`, and `left`
    is the evidence about items that do not match `where`.
    """

    sure: tuple[Path, ...]
    doubtful: tuple[Evidence, ...]
    more: Unknown | None
    left: tuple[Evidence, ...] = ()

    @property
    def least(self) -> int:
        return len(self.sure)

    @property
    def doubt(self) -> Unknown | None:
        """The reason why not all items are known."""
        return self.more or next((e.unknown for e in self.doubtful if e.unknown is not None), None)

    @property
    def most(self) -> float:
        return float("inf") if self.more is not None else len(self.sure) + len(self.doubtful)


def looked(rule: Rule, look: RuleSelection, tree: Tree, pins: Granted = NOTHING) -> Verdict:
    """Judge a rule that selects items; findings that `pins` waives are removed before the items are combined."""
    chosen = _choose(look, tree)
    if chosen.more is not None and not chosen.sure:
        return Verdict(
            rule.id,
            Status.UNKNOWN,
            f"{look.collection} unknown ({chosen.more})",
            (_hidden(look, chosen.more), *chosen.doubtful[: SHOWN - 1]),
        )
    if look.mode == "count":
        return _counted(rule, look, chosen, pins)
    if look.mode in {"each", "any"} and look.allow_empty and not chosen.sure:
        if not chosen.doubtful:
            return Verdict(rule.id, Status.NA, f"no {_what(look)} here")
        look = replace(look, expect_count=None)  # there may be no item, and then `expect-count` does not apply
    # Under `no`, an item that matches is the failure, and so can be waived.
    inner = NOTHING if look.mode == "no" else pins
    found = [evidence for item in chosen.sure for evidence in _item(rule, item, tree, inner)]
    if look.mode == "no":
        found = [_waived(e, pins) or e for e in found]
    waived = [e for e in found if e.status is Status.WAIVED]
    found = [e for e in found if e.status is not Status.WAIVED]
    found += chosen.doubtful
    if chosen.more is not None:
        found.append(_hidden(look, chosen.more))
    status, found = _combined(rule, look, found, chosen, tree, pins, waived)
    return _with_count(rule, look, chosen, status, found, pins, waived)


def _choose(look: RuleSelection, tree: Tree) -> _Chosen:
    selection = tree.select(look.collection, look.plane)
    more = selection.unknown
    if more is None and look.siblings is not None:
        more = empty_doubt(look.collection, selection.items, look.plane, look.siblings, tree)
    if look.where is None:
        return _Chosen(selection.items, (), more)
    sure: list[Path] = []
    doubtful: list[Evidence] = []
    left: list[Evidence] = []
    for item in selection.items:
        found = judge_leaf(look.where, item, tree)
        if found.status is Status.PASS:
            sure.append(item)
        elif found.status is Status.UNKNOWN:
            doubtful.append(found)
        else:
            left.append(found)
    return _Chosen(tuple(sure), tuple(doubtful), more, tuple(left))


def chosen_items(look: RuleSelection, tree: Tree) -> tuple[Path, ...]:
    """Return the items that a rule selects on a node, without those of which this is not known."""
    return _choose(look, tree).sure


def doubtful_items(look: RuleSelection, tree: Tree) -> tuple[Path, ...]:
    """Return the items of which it is not known whether a rule selects them."""
    where = look.where
    if where is None:
        return ()
    items = tree.select(look.collection, look.plane).items
    return tuple(item for item in items if judge_leaf(where, item, tree).status is Status.UNKNOWN)


def _what(look: RuleSelection) -> str:
    if look.where is None:
        return str(look.collection)
    tests = " and ".join(operator.expectation(t, look.where.kind) for t in look.where.tests)
    return f"{look.collection} whose {look.where.fact} {tests}"


def _hidden(look: RuleSelection, more: Unknown) -> Evidence:
    return Evidence(Status.UNKNOWN, str(look.collection), "", "must be read completely", "", more)


def _item(rule: Rule, item: Path, tree: Tree, pins: Granted) -> list[Evidence]:
    """Judge one item by all its clauses; returns the evidence that decides, then the waived evidence.

    If everything wrong with an item is waived, only the waived evidence is returned.
    """
    found = [taken(judge_leaf(clause, item, tree), pins) for clause in rule.clauses]
    status = (all_hold if rule.join == "all" else any_holds)(e.status for e in found)
    waived = [e for e in found if e.status is Status.WAIVED]
    if waived and status is Status.PASS and (rule.join == "all" or len(waived) == len(found)):
        return waived
    return [next(e for e in found if e.status is status), *waived]


def _combined(
    rule: Rule,
    look: RuleSelection,
    found: list[Evidence],
    chosen: _Chosen,
    tree: Tree,
    pins: Granted,
    waived: list[Evidence],
) -> tuple[Status, list[Evidence]]:
    """Combine the evidence that is not waived; waived evidence about the selection as a whole is added to `waived`."""
    statuses = [e.status for e in found]
    if look.mode == "no":
        status = {Status.PASS: Status.FAIL, Status.UNKNOWN: Status.UNKNOWN}.get(any_holds(statuses), Status.PASS)
        wrong = [_turned(e) for e in found if e.status is (Status.PASS if status is Status.FAIL else Status.UNKNOWN)]
        return status, wrong
    if not found and not waived:
        empty = taken(Evidence(Status.FAIL, str(look.collection), "empty", f"must contain a {_what(look)}"), pins)
        if empty.status is Status.WAIVED:
            waived.append(empty)
            return Status.PASS, []
        return Status.FAIL, [empty]
    if look.mode == "any":
        return any_holds([*statuses, *(e.status for e in waived)]), found
    for clause in rule.clauses:
        siblings = [t for t in clause.tests if t.op in SIBLINGS]
        for test in siblings:
            judged = taken(_siblings(test, clause, chosen, tree), pins)
            if judged.status is Status.WAIVED:
                waived.append(judged)
                continue
            found.append(judged)
            statuses.append(judged.status)
    return _each(rule, look, statuses, chosen), found


def _each(rule: Rule, look: RuleSelection, statuses: list[Status], chosen: _Chosen) -> Status:
    fails, unknowns = statuses.count(Status.FAIL), float(statuses.count(Status.UNKNOWN))
    if chosen.more is not None:
        unknowns = float("inf")
    if fails > look.allow_failing:
        return Status.FAIL
    if fails + unknowns > look.allow_failing:
        return Status.UNKNOWN
    if Status.WARN in statuses:
        return Status.WARN
    # An unknown item that is allowed to fail may still warn. If no item certainly matches, there may be no item at all.
    may_turn = not chosen.sure or any(t.op in WARNING for clause in rule.clauses for t in clause.tests)
    return Status.UNKNOWN if unknowns and may_turn else Status.PASS


def _waived(evidence: Evidence, pins: Granted) -> Evidence | None:
    """In a `no` rule, evidence that passes is a failure: return it as waived if `pins` waives it, else None."""
    turned = taken(_turned(evidence), pins) if evidence.status is Status.PASS else evidence
    return turned if turned.status is Status.WAIVED else None


def _turned(evidence: Evidence) -> Evidence:
    if evidence.status is not Status.PASS:
        return evidence
    expected = re.sub(r"\bmust (not )?", lambda m: "must " if m[1] else "must not ", evidence.expected)
    return replace(evidence, status=Status.FAIL, expected=expected)


def _with_count(
    rule: Rule,
    look: RuleSelection,
    chosen: _Chosen,
    status: Status,
    found: list[Evidence],
    pins: Granted,
    waived: list[Evidence],
) -> Verdict:
    if look.expect_count is not None:
        counted = _interval(chosen.least, chosen.most, look.expect_count)
        if counted is not Status.PASS:
            seen = str(chosen.least) if chosen.least == chosen.most else f"{chosen.least} or more"
            expected = f"must count {look.expect_count}"
            exact = _named(seen, chosen)
            judged = taken(Evidence(counted, str(look.collection), seen, expected, "", chosen.doubt, exact), pins)
            (waived if judged.status is Status.WAIVED else found).insert(0, judged)
            counted = judged.status
        status = all_hold((status, counted))
    # Unusable replies come first: they affect the outcome of a rule that excuses missing sources.
    telling = tuple(sorted((e for e in found if e.status is status), key=lambda e: not e.unusable))[:SHOWN]
    if status is Status.PASS:
        allowed = sum(e.status is Status.FAIL for e in found)
        reason = f"{allowed} of {len(found)} fail, as the rule allows" if allowed else ""
        return Verdict(rule.id, status, reason, (*telling, *waived))
    if status is Status.WARN:
        telling = tuple(e for e in found if e.status is Status.WARN)[:SHOWN]
    more = f" and {len(telling) - 3} more" if len(telling) > 3 else ""
    return Verdict(rule.id, status, "; ".join(map(clause_text, telling[:3])) + more, (*telling, *waived))


def _interval(least: int, most: float, wanted: int) -> Status:
    if least == most == wanted:
        return Status.PASS
    return Status.UNKNOWN if least <= wanted <= most else Status.FAIL


def _counted(rule: Rule, look: RuleSelection, chosen: _Chosen, pins: Granted) -> Verdict:
    (clause,) = rule.clauses
    # All possible counts must give the same result. The result changes only next to a number that a test names.
    named = {n + d for t in clause.tests for n in _numbers(t) for d in (-1, 0, 1)}
    top = chosen.most if chosen.most != float("inf") else max(named) + chosen.least
    counts = {chosen.least, int(top)} | {n for n in named if chosen.least <= n <= chosen.most}
    answers = {all(operator.holds(t, n, clause.kind) is True for t in clause.tests) for n in counts}
    status = Status.UNKNOWN if len(answers) > 1 else Status.PASS if answers == {True} else Status.FAIL
    seen = str(chosen.least) if chosen.least == chosen.most else f"{chosen.least} or more"
    expected = " and ".join(operator.expectation(t, clause.kind) for t in clause.tests)
    exact = _named(seen, chosen)
    evidence = taken(Evidence(status, f"count of {_what(look)}", seen, expected, "", chosen.doubt, exact), pins)
    status = evidence.status
    if status is Status.WAIVED:
        return Verdict(rule.id, Status.PASS, "", (evidence,))
    reason = "" if status is Status.PASS else clause_text(evidence)
    if status is Status.UNKNOWN and chosen.doubtful:
        reason = f"{reason}; doubtful: {clause_text(chosen.doubtful[0])}"
    # A failing count is usually explained by one of the few items that did not match.
    others = chosen.left if status is Status.FAIL and len(chosen.left) <= OTHERS else ()
    if others:
        reason = f"{reason}; the others: {', '.join(f'{e.item} {e.observed}' for e in others)}"
    return Verdict(rule.id, status, reason, (evidence, *others))


def _named(seen: str, chosen: _Chosen) -> str:
    """Return the exact text of a count: the number, the counted items and, if few, the other items with their values.

    The text names the items, so that a waiver does not hide the same count of different items. A digest replaces a long
    list of counted items.
    """
    counted = ", ".join(str(item) for item in chosen.sure)
    others = ", ".join(f"{e.item} {e.observed}" for e in chosen.left) if len(chosen.left) <= OTHERS else ""
    if len(counted) > LONGEST:
        counted = f"sha256 {hashlib.sha256(counted.encode(errors='surrogatepass')).hexdigest()}"
    return f"{seen}: {counted}" + (f"; not {others}" if others else "")


def _numbers(test: Test) -> list[int]:
    match test.operand:
        case int(n):
            return [n]
        case operator.Within(of, by, share):
            band = abs(of) * by / 100 if share else by
            return [int(of - band), int(of + band)]
        case tuple() as several:
            return [n for n in several if isinstance(n, int)]
    return []


def _siblings(test: Test, clause: Clause, chosen: _Chosen, tree: Tree) -> Evidence:
    """Judge `equal` or `spread`: if the known items differ too much, the test fails, even if others are unknown."""
    readings = [tree.reading(item + clause.fact, clause.plane) for item in chosen.sure]
    known = [r for r in readings if not isinstance(r, (Unknown, Absent))]
    expected = operator.expectation(test, clause.kind)
    name = str(_every(chosen.sure[0]) + clause.fact) if chosen.sure else str(clause.fact)
    if test.op == "equal":
        # Approximate equality of quantities is not transitive: the minimum and the maximum must be equal.
        measured = clause.kind.type is Type.QUANTITY
        ends = sorted(r for r in known if isinstance(r, (int, float))) if measured else known
        apart = any(not operator.equal(ends[0], r, clause.kind) for r in ends[1:])
        seen = ", ".join(sorted({operator.spell(r, clause.kind) for r in known}))
    else:
        numbers = [float(n) for n in known if isinstance(n, (int, float))]
        assert isinstance(test.operand, (int, float))
        share = _spread(numbers)
        apart, seen = share > test.operand, f"{share:.3g} %"
    doubt = next((r for r in readings if isinstance(r, Unknown)), None) or chosen.doubt
    if apart:
        rows = [operator.exact(r, clause.kind) or operator.spell(r, clause.kind) for r in known]
        named = [item for item, r in zip(chosen.sure, readings, strict=True) if not isinstance(r, (Unknown, Absent))]
        exact = ", ".join(f"{item} {value}" for item, value in zip(named, rows, strict=True))
        if test.op == "spread":
            seen = f"{seen} apart, {_ends(named, known, clause.kind)}"
        return Evidence(Status.FAIL, name, seen, expected, "", doubt, exact)
    if doubt is not None:
        return Evidence(Status.UNKNOWN, name, seen, expected, "", doubt)
    return Evidence(Status.PASS, name, seen, expected)


def _ends(items: Sequence[Path], readings: Sequence[Value], kind: Kind) -> str:
    """Format the minimum and the maximum value with their items; one of these two items is the outlier."""
    order = sorted(zip(items, readings, strict=True), key=lambda each: float(cast("float", each[1])))
    return " to ".join(f"{operator.spell(reading, kind)} of {item}" for item, reading in (order[0], order[-1]))


def _every(item: Path) -> Path:
    """Return the path of an item with a star in place of its key: `gpu/*` for `gpu/0`."""
    return Path((*item.segments[:-1], Segment(item.segments[-1].word, EVERY)))


def _spread(numbers: list[float]) -> float:
    """Return (max - min) in % of max; if a value is below zero there is no such share, and the result is infinite.

    The spread of the known items must never exceed the spread of all items: otherwise an unknown item could turn FAIL
    into PASS.
    """
    if not numbers or max(numbers) == min(numbers):
        return 0.0
    if max(numbers) == float("inf"):
        return 100.0 if min(numbers) >= 0 else float("inf")
    return (max(numbers) - min(numbers)) / max(numbers) * 100 if min(numbers) >= 0 else float("inf")
