"""Judging: one node's facts against a profile's rules, in three-valued logic; pure, and without a clock."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rackcheck.core import operator
from rackcheck.core.catalogue import Type
from rackcheck.core.fact import Absent, Plane, Reading, Reason, Unknown, Value
from rackcheck.core.operator import SIBLINGS, WARNING, Test
from rackcheck.core.path import Path
from rackcheck.core.profile import Clause, Look, Phase, Profile, Rule, Severity
from rackcheck.core.tree import Tree


class Status(StrEnum):
    """The six verdicts."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    WAIVED = "waived"
    UNKNOWN = "unknown"
    NA = "n/a"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One leaf as judged: which item, what was seen, what was wanted, and where it was read."""

    status: Status
    item: str
    observed: str
    expected: str
    source: str = ""
    unknown: Unknown | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule's verdict on one node, with what it rests on."""

    rule: str
    status: Status
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


SHOWN = 256
"""Pieces of evidence kept for one verdict."""

_EACH = (Status.FAIL, Status.UNKNOWN, Status.WARN)
_ANY = (Status.PASS, Status.UNKNOWN, Status.WARN, Status.FAIL)


def _all(found: Iterable[Status]) -> Status:
    statuses = set(found)
    return next((s for s in _EACH if s in statuses), Status.PASS)


def _some(found: Iterable[Status]) -> Status:
    statuses = set(found)
    return next((s for s in _ANY if s in statuses), Status.FAIL)


def in_scope(rule: Rule, role: str, planes: frozenset[Plane], phases: frozenset[Phase]) -> bool:
    """Whether a command judges this rule on a node of this role at all."""
    return (
        rule.phase in phases and ("any" in rule.roles or role in rule.roles) and all(p in planes for p in rule.planes)
    )


def judge(rules: Sequence[Rule], tree: Tree) -> tuple[Verdict, ...]:
    """Judge every rule on one node, in the profile's order; `needs` are judged first, wherever they stand."""
    known = {rule.id: rule for rule in rules}
    done: dict[str, Verdict] = {}
    todo = list(reversed(rules))
    while todo:
        rule = todo[-1]
        waiting = [known[need] for need in rule.needs if need in known and need not in done]
        if rule.id not in done and waiting:
            todo += waiting
            continue
        todo.pop()
        if rule.id not in done:
            done[rule.id] = _not_judged(rule, tree) or _blocked(rule, done) or _rule(rule, tree)
    return tuple(done[rule.id] for rule in rules)


def _blocked(rule: Rule, done: Mapping[str, Verdict]) -> Verdict | None:
    """Give unknown where a needed rule failed or is not known; one that is not in scope does not block."""
    for need in rule.needs:
        if need in done and done[need].status in {Status.FAIL, Status.UNKNOWN}:
            return Verdict(rule.id, Status.UNKNOWN, str(Unknown(Reason.BLOCKED, need)))
    return None


def _not_judged(rule: Rule, tree: Tree) -> Verdict | None:
    """Give n/a where a site value is missing or `when` is false, unknown where nobody knows if it applies."""
    if rule.unset:
        return Verdict(rule.id, Status.NA, f"site value not set: {', '.join(rule.unset)}")
    if rule.when is None:
        return None
    gate = _leaf(rule.when, Path(()), tree)
    if gate.status is Status.UNKNOWN:
        return Verdict(rule.id, Status.UNKNOWN, f"whether it applies: {_said(gate)}", (gate,))
    if gate.status is not Status.PASS:
        return Verdict(rule.id, Status.NA, f"{gate.item} is {gate.observed}", (gate,))
    return None


def _rule(rule: Rule, tree: Tree) -> Verdict:
    verdict = _node(rule, tree) if rule.look is None else _looked(rule, rule.look, tree)
    if verdict.status is Status.FAIL and (rule.severity is Severity.ADVISORY or rule.from_memory):
        return Verdict(rule.id, Status.WARN, verdict.reason, verdict.evidence)
    return verdict


def _node(rule: Rule, tree: Tree) -> Verdict:
    found = tuple(_leaf(clause, Path(()), tree) for clause in rule.clauses)
    status = (_all if rule.join == "all" else _some)(e.status for e in found)
    telling = found if status is Status.PASS else tuple(e for e in found if e.status is status)
    return Verdict(rule.id, status, "" if status is Status.PASS else "; ".join(map(_said, telling)), telling)


def _said(evidence: Evidence) -> str:
    if evidence.status is Status.UNKNOWN:
        return f"{evidence.item} unknown ({evidence.unknown})" if evidence.unknown else f"{evidence.item} unknown"
    return f"{evidence.item} is {evidence.observed}, {evidence.expected}"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The items a look judges; `doubtful` ones may or may not belong, `more` there may be that nobody saw."""

    sure: tuple[Path, ...]
    doubtful: tuple[Evidence, ...]
    more: Unknown | None

    @property
    def least(self) -> int:
        return len(self.sure)

    @property
    def most(self) -> float:
        return float("inf") if self.more is not None else len(self.sure) + len(self.doubtful)


def _choose(look: Look, tree: Tree) -> _Chosen:
    selection = tree.select(look.collection, look.plane)
    if look.where is None:
        return _Chosen(selection.items, (), selection.unknown)
    sure: list[Path] = []
    doubtful: list[Evidence] = []
    for item in selection.items:
        found = _leaf(look.where, item, tree)
        if found.status is Status.PASS:
            sure.append(item)
        elif found.status is Status.UNKNOWN:
            doubtful.append(found)
    return _Chosen(tuple(sure), tuple(doubtful), selection.unknown)


def _looked(rule: Rule, look: Look, tree: Tree) -> Verdict:
    chosen = _choose(look, tree)
    if chosen.more is not None and not chosen.sure:
        return Verdict(
            rule.id,
            Status.UNKNOWN,
            f"{look.collection} unknown ({chosen.more})",
            (_hidden(look, chosen.more), *chosen.doubtful[: SHOWN - 1]),
        )
    if look.mode == "count":
        return _counted(rule, look, chosen)
    if look.mode in {"each", "any"} and look.allow_empty and not chosen.sure:
        if not chosen.doubtful:
            return Verdict(rule.id, Status.NA, f"no {_what(look)} here")
        look = replace(look, expect_count=None)  # perhaps there is none, and then nothing is to be counted
    found = [_item(rule, item, tree) for item in chosen.sure]
    found += chosen.doubtful
    if chosen.more is not None:
        found.append(_hidden(look, chosen.more))
    status, found = _combined(rule, look, found, chosen, tree)
    return _with_count(rule, look, chosen, status, found)


def _what(look: Look) -> str:
    if look.where is None:
        return str(look.collection)
    tests = " and ".join(operator.expectation(t, look.where.kind) for t in look.where.tests)
    return f"{look.collection} whose {look.where.fact} {tests}"


def _hidden(look: Look, more: Unknown) -> Evidence:
    return Evidence(Status.UNKNOWN, str(look.collection), "", "must be read whole", "", more)


def _item(rule: Rule, item: Path, tree: Tree) -> Evidence:
    """Judge one item: its clauses as one; the telling one speaks for it."""
    found = [_leaf(clause, item, tree) for clause in rule.clauses]
    status = (_all if rule.join == "all" else _some)(e.status for e in found)
    return next(e for e in found if e.status is status)


def _combined(
    rule: Rule, look: Look, found: list[Evidence], chosen: _Chosen, tree: Tree
) -> tuple[Status, list[Evidence]]:
    statuses = [e.status for e in found]
    if look.mode == "no":
        status = {Status.PASS: Status.FAIL, Status.UNKNOWN: Status.UNKNOWN}.get(_some(statuses), Status.PASS)
        wrong = [_turned(e) for e in found if e.status is (Status.PASS if status is Status.FAIL else Status.UNKNOWN)]
        return status, wrong
    if not found:
        return Status.FAIL, [Evidence(Status.FAIL, str(look.collection), "empty", f"must hold a {_what(look)}")]
    if look.mode == "any":
        return _some(statuses), found
    for clause in rule.clauses:
        siblings = [t for t in clause.tests if t.op in SIBLINGS]
        for test in siblings:
            judged = _siblings(test, clause, chosen, tree)
            found.append(judged)
            statuses.append(judged.status)
    return _each(rule, look, statuses, chosen), found


def _each(rule: Rule, look: Look, statuses: list[Status], chosen: _Chosen) -> Status:
    fails, unknowns = statuses.count(Status.FAIL), float(statuses.count(Status.UNKNOWN))
    if chosen.more is not None:
        unknowns = float("inf")
    if fails > look.allow_failing:
        return Status.FAIL
    if fails + unknowns > look.allow_failing:
        return Status.UNKNOWN
    if Status.WARN in statuses:
        return Status.WARN
    # An unknown item that may fail can still be the one that warns, or, as the only one, no item at all.
    may_turn = not chosen.sure or any(t.op in WARNING for clause in rule.clauses for t in clause.tests)
    return Status.UNKNOWN if unknowns and may_turn else Status.PASS


def _turned(evidence: Evidence) -> Evidence:
    if evidence.status is not Status.PASS:
        return evidence
    expected = evidence.expected.replace("must be", "must not be", 1).replace("must look", "must not look", 1)
    return Evidence(Status.FAIL, evidence.item, evidence.observed, expected, evidence.source)


def _with_count(rule: Rule, look: Look, chosen: _Chosen, status: Status, found: list[Evidence]) -> Verdict:
    if look.expect_count is not None:
        counted = _interval(chosen.least, chosen.most, look.expect_count)
        status = _all((status, counted))
        if counted is not Status.PASS:
            seen = str(chosen.least) if chosen.least == chosen.most else f"{chosen.least} or more"
            found.insert(0, Evidence(counted, str(look.collection), seen, f"must count {look.expect_count}"))
    telling = tuple(e for e in found if e.status is status)[:SHOWN]
    if status is Status.PASS:
        allowed = sum(e.status is Status.FAIL for e in found)
        reason = f"{allowed} of {len(found)} may fail and do" if allowed else ""
        return Verdict(rule.id, status, reason, telling)
    if status is Status.WARN:
        telling = tuple(e for e in found if e.status is Status.WARN)[:SHOWN]
    more = f" and {len(telling) - 3} more" if len(telling) > 3 else ""
    return Verdict(rule.id, status, "; ".join(map(_said, telling[:3])) + more, telling)


def _interval(least: int, most: float, wanted: int) -> Status:
    if least == most == wanted:
        return Status.PASS
    return Status.UNKNOWN if least <= wanted <= most else Status.FAIL


def _counted(rule: Rule, look: Look, chosen: _Chosen) -> Verdict:
    (clause,) = rule.clauses
    # Every count of the interval must agree. An answer changes only beside a number that a test names.
    named = {n + d for t in clause.tests for n in _numbers(t) for d in (-1, 0, 1)}
    top = chosen.most if chosen.most != float("inf") else max(named) + chosen.least
    counts = {chosen.least, int(top)} | {n for n in named if chosen.least <= n <= chosen.most}
    answers = {all(operator.holds(t, n, clause.kind) is True for t in clause.tests) for n in counts}
    status = Status.UNKNOWN if len(answers) > 1 else Status.PASS if answers == {True} else Status.FAIL
    seen = str(chosen.least) if chosen.least == chosen.most else f"{chosen.least} or more"
    expected = " and ".join(operator.expectation(t, clause.kind) for t in clause.tests)
    evidence = Evidence(status, f"count of {_what(look)}", seen, expected, "", chosen.more)
    reason = "" if status is Status.PASS else _said(evidence)
    if status is Status.UNKNOWN and chosen.doubtful:
        reason = f"{reason}; doubtful: {_said(chosen.doubtful[0])}"
    return Verdict(rule.id, status, reason, (evidence,))


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


def _leaf(clause: Clause, at: Path, tree: Tree) -> Evidence:
    """Judge one clause at the node (empty path) or at an item."""
    path = at + clause.fact
    leaf = tree.leaf(path)
    reading = tree.reading(path, clause.plane)
    source = leaf.source if leaf is not None else ""
    expected = " and ".join(operator.expectation(t, clause.kind) for t in clause.tests)
    name = str(path)
    if isinstance(reading, Unknown):
        return Evidence(Status.UNKNOWN, name, "", expected, source, reading)
    statuses = [_test(test, reading, clause, at, tree) for test in clause.tests if test.op not in SIBLINGS]
    if isinstance(reading, Absent) and len(statuses) < len(clause.tests):
        statuses.append(Status.FAIL)
    seen = str(reading) if isinstance(reading, Absent) else operator.spell(reading, clause.kind)
    doubt = next((s for s in statuses if isinstance(s, Unknown)), None)
    status = _all(Status.UNKNOWN if isinstance(s, Unknown) else s for s in statuses)
    return Evidence(status, name, seen, expected, source, doubt)


def _test(test: Test, reading: Value | Absent, clause: Clause, at: Path, tree: Tree) -> Status | Unknown:
    if test.op == "present":
        return Status.PASS if (test.operand is False) == isinstance(reading, Absent) else Status.FAIL
    if isinstance(reading, Absent):
        return Status.FAIL
    if test.op == "same-as":
        return _same(reading, clause, at, tree)
    answer = operator.holds(test, reading, clause.kind)
    if isinstance(answer, Unknown):
        return answer
    if answer:
        return Status.PASS
    return Status.WARN if test.op in WARNING else Status.FAIL


def _same(reading: Value, clause: Clause, at: Path, tree: Tree) -> Status | Unknown:
    assert clause.other is not None
    path = at + clause.other if clause.other_at_item else clause.other
    other: Reading = tree.reading(path, clause.other_plane)
    if isinstance(other, Unknown):
        return Unknown(other.reason, f"{path}: {other.detail}")
    if isinstance(other, Absent):
        return Status.FAIL
    return Status.PASS if operator.equal(reading, other, clause.kind) else Status.FAIL


def _siblings(test: Test, clause: Clause, chosen: _Chosen, tree: Tree) -> Evidence:
    """Judge `equal` and `spread`: known items that differ fail, whatever the unknown ones are."""
    readings = [tree.reading(item + clause.fact, clause.plane) for item in chosen.sure]
    known = [r for r in readings if not isinstance(r, (Unknown, Absent))]
    expected = operator.expectation(test, clause.kind)
    name = f"{chosen.sure[0].segments[-1].word}/*.{clause.fact}" if chosen.sure else str(clause.fact)
    if test.op == "equal":
        # Nearly equal quantities run in no chain: it is the least and the most of them that must be equal.
        measured = clause.kind.type is Type.QUANTITY
        ends = sorted(r for r in known if isinstance(r, (int, float))) if measured else known
        apart = any(not operator.equal(ends[0], r, clause.kind) for r in ends[1:])
        seen = ", ".join(sorted({operator.spell(r, clause.kind) for r in known}))
    else:
        numbers = [float(n) for n in known if isinstance(n, (int, float))]
        assert isinstance(test.operand, (int, float))
        share = _spread(numbers)
        apart, seen = share > test.operand, f"{share:.3g} %"
    if apart:
        return Evidence(Status.FAIL, name, seen, expected)
    doubt = next((r for r in readings if isinstance(r, Unknown)), None) or chosen.more
    if doubt is not None or chosen.doubtful:
        return Evidence(Status.UNKNOWN, name, seen, expected, "", doubt)
    return Evidence(Status.PASS, name, seen, expected)


def _spread(numbers: list[float]) -> float:
    """Give (max - min) in % of max. Below zero there is no such share: items that differ there differ without bound.

    Known items alone must never seem further apart than all of them: so the law of unknowns holds.
    """
    if not numbers or max(numbers) == min(numbers):
        return 0.0
    if max(numbers) == float("inf"):
        return 100.0 if min(numbers) >= 0 else float("inf")
    return (max(numbers) - min(numbers)) / max(numbers) * 100 if min(numbers) >= 0 else float("inf")


class Outcome(StrEnum):
    """What a node, or a run, comes to."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"


def node_outcome(verdicts: Iterable[Verdict], rules: Mapping[str, Rule]) -> Outcome:
    """FAIL if a blocker or major fails; else INCOMPLETE if one is unknown, or nothing was judged at all; else PASS."""
    verdicts = tuple(verdicts)
    if not verdicts:
        return Outcome.INCOMPLETE
    statuses = {v.status for v in verdicts if rules[v.rule].severity.decides}
    if Status.FAIL in statuses:
        return Outcome.FAIL
    return Outcome.INCOMPLETE if Status.UNKNOWN in statuses else Outcome.PASS


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Give the worst of several outcomes; of none, INCOMPLETE: nothing was looked at."""
    found = set(outcomes)
    if Outcome.FAIL in found:
        return Outcome.FAIL
    return Outcome.INCOMPLETE if Outcome.INCOMPLETE in found or not found else Outcome.PASS


def misfit(profile: Profile, product: Reading, role: str) -> str:
    """Say why a profile seems not made for this node; empty where it fits or nothing is known."""
    wanted = profile.applies_to.get("product")
    if wanted and isinstance(product, str) and not operator.glob(wanted, product):
        return f"profile {profile.name} is for product {wanted}, this is {product}"
    wanted = profile.applies_to.get("role")
    if wanted and role != wanted:
        return f"profile {profile.name} is for role {wanted}, this is {role}"
    return ""
