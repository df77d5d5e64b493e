"""Cached judging: the verdicts are those of judging each node separately, and few are kept."""

from collections.abc import Iterable, Mapping
from itertools import islice

import depth
import pytest
from hypothesis import given, settings
from law_cases import RELAXED, Audit, audits, judged, trees_of
from law_nodes import each_taken

from rackcheck.evaluate.consensus import poll
from rackcheck.evaluate.input_numbers import FEWEST, OWN, PATIENCE, ContentNumbers, Reads, read_by
from rackcheck.evaluate.verdict import Verdict, applies, in_scope, judge
from rackcheck.evaluate.verdict_cache import Memo
from rackcheck.evaluate.waiver import granted
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.operator import Test as Operator
from rackcheck.model.path import parse
from rackcheck.model.profile import Clause, Rule, RuleSelection, Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run.job import Job

AT_ONCE = 12
"""A node of a case with its facts removed one by one."""


def alone(job: Job, role: str) -> list[Rule]:
    """The rules that judge a node of a role by itself; built-in ones are in scope by the planes read from the node."""
    assert job.profile is not None
    planes = job.planes | {Plane.DERIVED}
    rules = [rule for rule in job.profile.own if rule.scope is Scope.NODE and rule.across is None]
    return [rule for rule in rules if in_scope(rule, role, planes, job.phases, again=job.again is not None)]


def remembering(audit: Audit) -> None:
    """Judge all trees of a case with one cache, twice, and compare with judging each one separately."""
    trees = [(name, tree) for value in (audit.whole, audit.less) for name, tree in trees_of(audit, value).items()]
    for name, value in audit.whole.items():
        trees += [(name, less.tree(audit.job.plan.joins)) for _, less in islice(each_taken(value), AT_ONCE)]
    rules = alone(audit.job, "compute")
    reads = Reads(map(read_by, rules))
    memo = Memo(rules, reads)
    for name, tree in trees * 2:
        waived = granted(audit.job.waivers, rules, name, audit.job.day)
        assert memo.judge(tree, reads.of(tree), waived) == judge(rules, tree, waived)


@settings(RELAXED, max_examples=100)
@given(audits())
def test_what_is_remembered_is_what_each_node_by_itself_comes_to(audit: Audit) -> None:
    remembering(audit)


@pytest.mark.slow
@settings(RELAXED, max_examples=depth.cases(1000))
@given(audits())
def test_what_is_remembered_is_what_each_node_by_itself_comes_to_many_times(audit: Audit) -> None:
    remembering(audit)


@settings(RELAXED, max_examples=100)
@given(audits())
def test_an_audit_comes_to_what_its_nodes_come_to_by_themselves_and_among_their_siblings(audit: Audit) -> None:
    job, trees = audit.job, trees_of(audit, audit.whole)
    found = judged(job, trees)
    for node in job.nodes:
        assert job.profile is not None
        seen = {verdict.rule for verdict in found[node.name].verdicts}
        across = [rule for rule in job.profile.rules if rule.across is not None and rule.id in seen]
        rules = alone(job, node.role)
        known = by_rule(judge(rules, trees[node.name], granted(job.waivers, rules, node.name, job.day)))
        if across:
            known |= by_rule(among(job, across, node.name, node.role, trees, known))
        built_in = {rule.id for rule in job.profile.rules if rule.built_in}
        assert {v.rule: v for v in found[node.name].verdicts if v.rule not in built_in} == known


def by_rule(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    return {verdict.rule: verdict for verdict in verdicts}


def among(
    job: Job, across: list[Rule], name: str, role: str, trees: Mapping[str, Tree], known: Mapping[str, Verdict]
) -> tuple[Verdict, ...]:
    """Judge a node by its siblings' values, with all of them narrowed to these facts."""
    paths = {each for rule in across for fact in rule.facts() for each in (fact, *fact.collections)}
    patterns = frozenset(str(path.pattern) for path in paths)
    narrow = {node.name: trees[node.name].narrowed(patterns) for node in job.nodes if node.role == role}
    expected = sum(seat.role == role for seat in job.seats)
    polls = {
        rule.id: poll(rule.across, {n: tree for n, tree in narrow.items() if applies(rule, tree)}, expected)
        for rule in across
        if rule.across is not None
    }
    return judge(across, narrow[name], granted(job.waivers, across, name, job.day), polls, known)


POWER = Kind(Type.QUANTITY, "", unit="W")
BOX = Kind(Type.COLLECTION, "")
HERE = Rule("here", (Clause(parse("here"), POWER, Plane.OS, (Operator("at-most", 1.0),)),))
EACH = Rule("each", (Clause(parse("power"), POWER, Plane.OS, (Operator("at-most", 1.0),)),), RuleSelection("each", parse("box"), Plane.OS))  # fmt: skip
COUNT = Rule("count", (Clause(parse("here"), Kind(Type.INTEGER, ""), Plane.OS, (Operator("is", 1),)),), RuleSelection("count", parse("box"), Plane.OS))  # fmt: skip
RULES = (HERE, EACH, COUNT)


def leaf(reading: Reading, kind: Kind = POWER, source: str = "cat /x", time: str = "t") -> Leaf:
    return Leaf(reading, kind, Plane.OS, source)


FIRST = {"here": leaf(0.0), "box": leaf(("a",), BOX), "box/a.power": leaf(1.0)}
OTHERS: Mapping[str, Tree] = {
    "a zero below zero": Tree({**FIRST, "here": leaf(-0.0)}),
    "a whole number for a broken one": Tree({**FIRST, "box/a.power": leaf(1)}),
    "another reading": Tree({**FIRST, "box/a.power": leaf(2.0)}),
    "another place it was read": Tree({**FIRST, "box/a.power": leaf(1.0, source="cat /y")}),
    "an absent fact": Tree({**FIRST, "here": leaf(Absent("gone"))}),
    "an absent fact, otherwise": Tree({**FIRST, "here": leaf(Absent("never there"))}),
    "an unknown fact": Tree({**FIRST, "here": leaf(Unknown(Reason.DENIED))}),
    "a fact that no source reports": Tree({path: each for path, each in FIRST.items() if path != "here"}),
    "an item more": Tree({**FIRST, "box": leaf(("a", "b"), BOX), "box/b.power": leaf(1.0)}),
    "an item that another fact names": Tree({**FIRST, "box/b.colour": leaf("red", Kind(Type.TEXT, ""))}),
    "why no item has it": Tree({**FIRST, "box": leaf(("a", "b"), BOX), "box/*.power": leaf(Unknown(Reason.DENIED))}),
    "a silent plane": Tree({}, {Plane.OS: Unknown(Reason.TIMEOUT)}),
    "a plane that is silent for another reason": Tree({}, {Plane.OS: Unknown(Reason.DENIED)}),
    "an unknown listing": Tree({**FIRST, "box": leaf(Unknown(Reason.DENIED), BOX)}),
}  # fmt: skip


@pytest.mark.parametrize("other", OTHERS)
def test_a_node_that_differs_is_judged_by_its_own_facts(other: str) -> None:
    reads = Reads(map(read_by, RULES))
    memo, first = Memo(RULES, reads), Tree(FIRST)
    for tree in (first, OTHERS[other], first, OTHERS[other]):
        found = memo.judge(tree, reads.of(tree))
        assert repr(found) == repr(judge(RULES, tree))
    differ = [tuple(reads.of(tree).numbers) for tree in (first, OTHERS[other])]
    assert differ[0] != differ[1]


def test_nodes_with_equal_facts_at_other_times_share_their_verdicts() -> None:
    reads = Reads(map(read_by, RULES))
    memo = Memo(RULES, reads)
    trees = [Tree(dict(FIRST), times=dict.fromkeys(Plane, time)) for time in "ab"]
    one, two = (memo.judge(tree, reads.of(tree)) for tree in trees)
    assert all(a is b for a, b in zip(one, two, strict=True))


def test_facts_unique_to_each_node_are_dropped_from_the_cache() -> None:
    part = ContentNumbers()
    numbers = [part.number(f"serial {n}", 1) for n in range(10 * PATIENCE)]
    assert part.given_up
    assert numbers[-1] == OWN
    assert len(set(numbers[:PATIENCE])) == PATIENCE


def test_a_part_holds_few_contents_and_gives_no_number_twice() -> None:
    part = ContentNumbers()
    seen: dict[int, int] = {}
    for content in [n for each in range(20 * FEWEST) for n in (each, each)]:
        assert seen.setdefault(part.number(content, 10**6), content) == content
    assert len(part._known) <= FEWEST
