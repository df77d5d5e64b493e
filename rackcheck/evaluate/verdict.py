"""Judges one node's facts against a profile's rules, in three-valued logic; pure, and without a clock."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rackcheck.evaluate.consensus import Poll, agreed
from rackcheck.evaluate.fact_judge import judge_leaf
from rackcheck.evaluate.law import Conclusion, Outcome, conclude, worst
from rackcheck.evaluate.python_rule import answered
from rackcheck.evaluate.selection import looked
from rackcheck.evaluate.waiver import NOTHING, Granted, pinned, taken
from rackcheck.model import operator
from rackcheck.model.evidence import Evidence, Status, Verdict, all_hold, any_holds, clause_text, seen
from rackcheck.model.fact import Plane, Reading, Reason, Unknown
from rackcheck.model.path import Path
from rackcheck.model.profile import Phase, Profile, Rule, Severity
from rackcheck.model.tree import Tree

__all__ = [
    "Conclusion",
    "Evidence",
    "Outcome",
    "Status",
    "Verdict",
    "applies",
    "blocked",
    "conclude",
    "in_scope",
    "judge",
    "judge_one",
    "misfit",
    "needs_first",
    "over",
    "worst",
]


NO_WAIVERS: Mapping[str, Granted] = {}
NO_POLLS: Mapping[str, Poll] = {}
NO_VERDICTS: Mapping[str, Verdict] = {}


def in_scope(rule: Rule, role: str, planes: frozenset[Plane], phases: frozenset[Phase], *, again: bool = False) -> bool:
    """Whether a run with these planes and phases judges this rule on a node of this role.

    `again` is set if the run reads each node twice.
    """
    return (
        rule.phase in phases
        and (again or not rule.twice)
        and ("any" in rule.roles or role in rule.roles)
        and all(p in planes for p in rule.planes)
    )


def judge(
    rules: Sequence[Rule],
    tree: Tree,
    waived: Mapping[str, Granted] = NO_WAIVERS,
    polls: Mapping[str, Poll] = NO_POLLS,
    before: Mapping[str, Verdict] = NO_VERDICTS,
) -> tuple[Verdict, ...]:
    """Judge every rule on one node; verdicts are in the profile's order, but rules in `needs` are judged first.

    `waived` maps rules to the findings that may be waived on this node, `polls` maps rules that compare nodes to their
    votes, and `before` maps rules to existing verdicts, which are not judged again.
    """
    done: dict[str, Verdict] = dict(before)
    for rule in needs_first(rules):
        if rule.id not in done:
            done[rule.id] = judge_one(rule, tree, done, waived, polls)
    return tuple(done[rule.id] for rule in rules)


def needs_first(rules: Sequence[Rule]) -> list[Rule]:
    """Order rules so that each rule follows the rules it needs."""
    known = {rule.id: rule for rule in rules}
    done: dict[str, Rule] = {}
    todo = list(reversed(rules))
    while todo:
        rule = todo[-1]
        waiting = [known[need] for need in rule.needs if need in known and need not in done]
        if rule.id not in done and waiting:
            todo += waiting
            continue
        done.setdefault(rule.id, todo.pop())
    return list(done.values())


def judge_one(
    rule: Rule, tree: Tree, done: Mapping[str, Verdict], waived: Mapping[str, Granted], polls: Mapping[str, Poll]
) -> Verdict:
    """Judge a rule on one node; `done` must contain the verdicts of the rules that it needs."""
    gate = _not_judged(rule, tree)
    if gate is not None:
        return gate
    need = blocked(rule, done)
    if need:
        return Verdict(rule.id, Status.UNKNOWN, str(Unknown(Reason.BLOCKED, need)))
    return _rule(rule, tree, waived, polls)


def blocked(rule: Rule, done: Mapping[str, Verdict]) -> str:
    """Return the first needed rule that failed or is unknown, else an empty text; rules out of scope do not block."""
    return next((n for n in rule.needs if n in done and done[n].status in {Status.FAIL, Status.UNKNOWN}), "")


def _not_judged(rule: Rule, tree: Tree) -> Verdict | None:
    """Return the verdict of a rule that is not judged on this node; None if the rule is judged.

    The verdict is n/a if a site value is missing or `when` does not hold, and unknown if it is unknown whether `when`
    holds.
    """
    if rule.unset:
        return Verdict(rule.id, Status.NA, f"site value not set: {', '.join(rule.unset)}")
    if rule.when is None:
        return None
    gate = judge_leaf(rule.when, Path(()), tree)
    if gate.status is Status.UNKNOWN:
        return Verdict(rule.id, Status.UNKNOWN, f"it is unknown whether the rule applies: {clause_text(gate)}", (gate,))
    if gate.status is not Status.PASS:
        return Verdict(rule.id, Status.NA, f"{gate.item} is {seen(gate)}", (gate,))
    return None


def applies(rule: Rule, tree: Tree) -> bool:
    """Whether it is known that a rule applies to a node: its site values are set and its `when` passes."""
    return not rule.unset and (rule.when is None or judge_leaf(rule.when, Path(()), tree).status is Status.PASS)


def _rule(rule: Rule, tree: Tree, waived: Mapping[str, Granted], polls: Mapping[str, Poll]) -> Verdict:
    """Judge a rule without any waiver; if the verdict is fail or warn, judge the rule again with the waivers."""
    truth, pins = _judged(rule, tree, NOTHING, polls), waived.get(rule.id, NOTHING)
    if not pins or truth.status not in {Status.FAIL, Status.WARN}:
        return truth
    verdict = _judged(rule, tree, pins, polls)
    if verdict.status is Status.PASS:
        rows = tuple(e for e in verdict.evidence if e.status is Status.WAIVED)
        words = dict.fromkeys(pins[pinned(e)].words for e in rows)
        reason = "; ".join([*words, *map(clause_text, rows[:3])]) + (
            f" and {len(rows) - 3} more" if len(rows) > 3 else ""
        )
        return Verdict(rule.id, Status.WAIVED, reason, rows, truth.status)
    return verdict if verdict.status is truth.status else replace(verdict, truth=truth.status)


def _judged(rule: Rule, tree: Tree, pins: Granted, polls: Mapping[str, Poll]) -> Verdict:
    if rule.across is not None:
        verdict = agreed(rule, tree, polls[rule.id], pins)
    elif rule.called is not None:
        verdict = answered(rule.id, rule.called, tree, pins)
    else:
        verdict = _node(rule, tree, pins) if rule.look is None else looked(rule, rule.look, tree, pins)
    if verdict.status is Status.FAIL and (rule.severity is Severity.ADVISORY or rule.from_memory):
        return replace(verdict, status=Status.WARN)
    return verdict


def _node(rule: Rule, tree: Tree, pins: Granted) -> Verdict:
    found = tuple(taken(judge_leaf(clause, Path(()), tree), pins) for clause in rule.clauses)
    status = (all_hold if rule.join == "all" else any_holds)(e.status for e in found)
    telling = found if status is Status.PASS else tuple(e for e in found if e.status is status)
    reason = "" if status is Status.PASS else "; ".join(map(clause_text, telling))
    waived = () if status is Status.PASS else tuple(e for e in found if e.status is Status.WAIVED)
    return Verdict(rule.id, status, reason, (*telling, *waived))


def misfit(profile: Profile, product: Reading, role: str) -> str:
    """Return why a profile does not fit this node; empty if it fits or nothing is known."""
    wanted = profile.applies_to.get("product", ())
    if wanted and isinstance(product, str) and not any(operator.glob(each, product) for each in wanted):
        return f"profile {profile.name} is for product {', '.join(wanted)}, this is {product}"
    wanted = profile.applies_to.get("role", ())
    if wanted and role not in wanted:
        return f"profile {profile.name} is for role {', '.join(wanted)}, this is {role}"
    return ""


def over(before: Mapping[str, Verdict], now: Iterable[Verdict], *, part: bool) -> dict[str, Verdict]:
    """Merge newer verdicts over earlier ones.

    With `part`, the newer verdicts are for a part of the fleet: only failures replace verdicts of the whole fleet.
    """
    found = dict(before)
    for verdict in now:
        if not part or verdict.rule not in found or verdict.status is Status.FAIL:
            found[verdict.rule] = verdict
    return found
