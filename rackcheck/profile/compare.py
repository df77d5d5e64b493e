"""Compares two versions of a rule: whether the newer one is weaker, stricter or different. Pure.

A change whose direction cannot be decided is "different", so that a rule that might accept more values is never called
stricter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model import operator
from rackcheck.model.operator import Test
from rackcheck.model.profile import Across, Clause, Rule, RuleSelection, Severity


class Lean(StrEnum):
    """The direction in which a rule changed."""

    WEAKER = "weaker"
    STRICTER = "stricter"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two versions of a rule: its direction, and what changed."""

    rule: str
    lean: Lean
    how: str


LESS = frozenset({"at-least", "above", "warn-below"})
"""Operators whose rule becomes stricter if the operand becomes larger."""

MORE = frozenset({"at-most", "below", "warn-above", "spread", "rate"})
"""Operators whose rule becomes stricter if the operand becomes smaller."""


def differences(before: Mapping[str, Rule], after: Mapping[str, Rule]) -> Iterator[Difference]:
    """Yield the differences of the rules that two profiles share, in the order of the newer profile."""
    for rule_id, rule in after.items():
        old = before.get(rule_id)
        if old is None or old.digest == rule.digest:
            continue
        rows = list(_differences(old, rule))
        leans = {lean for lean, _ in rows}
        lean = leans.pop() if len(leans) == 1 else Lean.DIFFERENT
        yield Difference(rule_id, lean, "; ".join(how for _, how in rows) or "evaluates something else")


def _differences(old: Rule, new: Rule) -> Iterator[tuple[Lean, str]]:
    severities = list(Severity)
    if new.severity is not old.severity:
        weaker = severities.index(new.severity) > severities.index(old.severity)
        yield Lean.WEAKER if weaker else Lean.STRICTER, f"severity: {old.severity.value} -> {new.severity.value}"
    if new.from_memory is not old.from_memory:
        yield (Lean.WEAKER, "may only warn") if new.from_memory else (Lean.STRICTER, "may fail, not only warn")
    if new.when != old.when:
        yield _condition(old, new)
    if set(new.roles) != set(old.roles):
        yield Lean.DIFFERENT, f"role: {', '.join(old.roles)} -> {', '.join(new.roles)}"
    if new.phase is not old.phase:
        yield Lean.DIFFERENT, f"phase: {old.phase.value} -> {new.phase.value}"
    if set(new.needs) != set(old.needs):
        yield Lean.DIFFERENT, f"needs: {', '.join(old.needs) or 'none'} -> {', '.join(new.needs) or 'none'}"
    if new.unknown_is_minor is not old.unknown_is_minor:
        yield (Lean.WEAKER, "unknown: minor") if new.unknown_is_minor else (Lean.STRICTER, "unknown: minor removed")
    if bool(new.unset) is not bool(old.unset):
        yield (Lean.WEAKER, "its site value is not set") if new.unset else (Lean.STRICTER, "its site value is set")
    if new.across != old.across:
        yield from _across(old.across, new.across)
    if new.called != old.called:
        yield Lean.DIFFERENT, "another rule in Python, or another version of it"
    if new.look != old.look:
        yield from _look(old.look, new.look)
    if (new.clauses, new.join) != (old.clauses, old.join):
        # Under `no` a clause states what is forbidden: a stricter clause forbids less.
        turned = _TURNED if new.look is not None and new.look.mode == "no" else {}
        yield from ((turned.get(lean, lean), how) for lean, how in _clauses(old, new))


_TURNED = {Lean.WEAKER: Lean.STRICTER, Lean.STRICTER: Lean.WEAKER}


def _condition(old: Rule, new: Rule) -> tuple[Lean, str]:
    if old.when is None:
        return Lean.WEAKER, "applies under a condition"
    return (Lean.STRICTER, "applies always") if new.when is None else (Lean.DIFFERENT, "another condition")


def _look(old: RuleSelection | None, new: RuleSelection | None) -> Iterator[tuple[Lean, str]]:
    if old is None or new is None or (old.mode, old.collection, old.where) != (new.mode, new.collection, new.where):
        yield Lean.DIFFERENT, "selects other items"
        return
    if new.allow_failing != old.allow_failing:
        lean = Lean.WEAKER if new.allow_failing > old.allow_failing else Lean.STRICTER
        yield lean, f"allow-failing: {old.allow_failing} -> {new.allow_failing}"
    if new.allow_empty is not old.allow_empty:
        yield (Lean.WEAKER, "allow-empty") if new.allow_empty else (Lean.STRICTER, "allow-empty removed")
    if new.expect_count != old.expect_count:
        if new.expect_count is None:
            yield Lean.WEAKER, "expect-count removed"
        elif old.expect_count is None:
            yield Lean.STRICTER, f"expect-count: {new.expect_count}"
        else:
            yield Lean.DIFFERENT, f"expect-count: {old.expect_count} -> {new.expect_count}"


def _across(old: Across | None, new: Across | None) -> Iterator[tuple[Lean, str]]:
    """Compare the `across` parts of two versions of a rule.

    A changed quorum is DIFFERENT, not STRICTER: a larger quorum is reached less often, so the rule decides less often.
    """
    if old is None or new is None or old.role != new.role:
        yield Lean.DIFFERENT, "compares other nodes"
        return
    if new.quorum != old.quorum:
        yield Lean.DIFFERENT, f"quorum: {old.quorum:g} % -> {new.quorum:g} %"
    was, now = ({each.fact for each in across.shared} for across in (old, new))
    if was != now or old.left != new.left:
        more = was < now and new.left <= old.left
        less = now < was and old.left <= new.left
        yield Lean.STRICTER if more else Lean.WEAKER if less else Lean.DIFFERENT, "other facts must agree"


def _clauses(old: Rule, new: Rule) -> Iterator[tuple[Lean, str]]:
    same = len(old.clauses) == len(new.clauses) and old.join == new.join
    if not same or any(a.fact != b.fact or a.other != b.other for a, b in zip(old.clauses, new.clauses, strict=False)):
        yield Lean.DIFFERENT, "tests other facts"
        return
    for before, after in zip(old.clauses, new.clauses, strict=True):
        yield from _tests(before, after)


def _tests(before: Clause, after: Clause) -> Iterator[tuple[Lean, str]]:
    was, now = ({test.op: test for test in clause.tests} for clause in (before, after))
    for op in dict.fromkeys((*was, *now)):
        if op not in now:
            yield Lean.WEAKER, f"`{op}` removed (it was {_words(was[op], before)})"
        elif op not in was:
            yield Lean.STRICTER, f"{after.fact} {_words(now[op], after)}"
        elif was[op].operand != now[op].operand:
            how = f"{after.fact} {_words(was[op], before)} -> {_words(now[op], after)}"
            yield _lean(was[op], now[op]), how.strip()


def _words(test: Test, clause: Clause) -> str:
    return operator.expectation(test, clause.kind)


def _lean(was: Test, now: Test) -> Lean:
    old, new = was.operand, now.operand
    if isinstance(old, (int, float)) and isinstance(new, (int, float)):
        if was.op in LESS:
            return Lean.WEAKER if new < old else Lean.STRICTER
        if was.op in MORE:
            return Lean.WEAKER if new > old else Lean.STRICTER
    if isinstance(old, tuple) and isinstance(new, tuple):
        grew = set(map(repr, old)) < set(map(repr, new))
        shrank = set(map(repr, old)) > set(map(repr, new))
        if grew or shrank:
            weaker = grew if was.op == "one-of" else shrank
            return Lean.WEAKER if weaker else Lean.STRICTER
    return Lean.DIFFERENT
