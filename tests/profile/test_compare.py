"""The effect of an overlay on a rule: not called stricter where it passes what its parent failed; none listed twice."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_cases import RELAXED
from law_checks import compiled
from law_nodes import worlds
from law_rules import Few, asserted, clauses, judged_rules

from rackcheck.evaluate.verdict import Status, judge
from rackcheck.model import operator
from rackcheck.model.profile import Clause, Phase, Rule, RuleSelection, Severity
from rackcheck.model.tree import Tree
from rackcheck.profile.compare import Lean, differences

OTHER = {Lean.WEAKER: Lean.STRICTER, Lean.STRICTER: Lean.WEAKER, Lean.DIFFERENT: Lean.DIFFERENT}


def lean(old: Rule, new: Rule) -> Lean:
    """Compare two rules with different digests."""
    before, after = replace(old, digest="0"), replace(new, digest="1")
    (found,) = differences({"r": before}, {"r": after})
    assert found.how
    return found.lean


@st.composite
def _clause(draw: st.DrawFn, clause: Clause) -> Clause:
    """The same fact with other operands, or with fewer or more tests."""
    tests: list[operator.Test] = []
    names = {"flag", "number", "limit", "power", "text", "word", "version", "build", "list", "setting"}
    name = clause.fact.segments[-1].word if clause.fact.segments else "number"
    for test in clause.tests:
        change = draw(st.integers(0, 3))
        if change == 0 and len(clause.tests) > 1:
            continue
        again = change == 1 and name in names and test.op not in {"same-as", "equal"}
        tests.append(draw(asserted(name, test.op)).value if again else test)
    return replace(clause, tests=tuple(tests) or clause.tests)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Rule, Rule]:
    """A rule, and an edited version of it."""
    rule = replace(draw(judged_rules())[0], needs=())
    other = rule
    for _ in range(draw(st.integers(1, 2))):
        match draw(st.sampled_from(["tests", "tests", "tests", "look", "when", "severity", "memory", "unset", "join"])):
            case "tests":
                other = replace(other, clauses=tuple(draw(_clause(clause)) for clause in other.clauses))
            case "look" if other.look is not None and other.look.mode in {"each", "any"}:
                look = replace(
                    other.look,
                    expect_count=draw(st.sampled_from([None, 1, 2])), allow_empty=draw(st.booleans()),
                    allow_failing=draw(st.integers(0, 2)) if other.look.mode == "each" else 0,
                )  # fmt: skip
                other = replace(other, look=look)
            case "when":
                when = draw(st.one_of(st.none(), clauses(Few(("number",), ("is",)), None)))
                other = replace(other, when=when.value if when is not None else None)
            case "severity":
                other = replace(other, severity=draw(st.sampled_from(list(Severity))))
            case "memory":
                other = replace(other, from_memory=not other.from_memory)
            case "unset":
                other = replace(other, unset=draw(st.sampled_from([(), ("x",), ("y",), ("x", "y")])))
            case "join":
                other = replace(other, join="any" if other.join == "all" else "all")
    return rule, other


@settings(RELAXED, max_examples=300)
@given(judged_rules())
def test_a_rule_is_not_different_from_itself(rules: tuple[Rule, ...]) -> None:
    known = {rule.id: replace(rule, digest=rule.id) for rule in rules}
    assert list(differences(known, known)) == []


@settings(RELAXED, max_examples=300)
@given(pairs())
def test_what_is_stricter_one_way_is_weaker_the_other(pair: tuple[Rule, Rule]) -> None:
    assert lean(*pair) is OTHER[lean(*reversed(pair))]


def passes(rule: Rule, tree: Tree) -> bool:
    (verdict,) = judge([rule], tree)
    return verdict.status in {Status.PASS, Status.NA}


@settings(RELAXED, max_examples=500)
@given(pairs(), st.data())
def test_what_is_called_stricter_lets_nothing_through_that_failed(pair: tuple[Rule, Rule], data: st.DataObject) -> None:
    old, new = pair
    if lean(old, new) is not Lean.STRICTER:
        old, new = new, old
        if lean(old, new) is not Lean.STRICTER:
            return
    tree = Tree(data.draw(worlds((old, new))))
    (was,), (now) = judge([old], tree), judge([new], tree)[0]
    assert was.status is not Status.FAIL or now.status is not Status.PASS, (was, now)
    if new.when is None and old.when is None and not new.unset and not old.unset:
        assert passes(old, tree) or not passes(new, tree) or was.status is Status.UNKNOWN, (was, now)


@pytest.mark.parametrize(
    ("old", "new", "wanted", "how"),
    [
        ({"at-least": "2"}, {"at-least": "3"}, Lean.STRICTER, "at least 2 -> must be at least 3"),
        ({"at-least": "3"}, {"at-least": "2"}, Lean.WEAKER, "here.number"),
        ({"at-most": "2"}, {"at-most": "3"}, Lean.WEAKER, "here.number"),
        ({"one-of": ["1", "2"]}, {"one-of": ["1"]}, Lean.STRICTER, "here.number"),
        ({"none-of": ["1", "2"]}, {"none-of": ["1"]}, Lean.WEAKER, "here.number"),
        ({"one-of": ["1", "2"]}, {"one-of": ["1", "0"]}, Lean.DIFFERENT, "here.number"),
        ({"is": "1"}, {"is": "2"}, Lean.DIFFERENT, "here.number"),
        ({"is": "1"}, {"at-least": "1"}, Lean.DIFFERENT, "`is` removed (it was must be 1)"),
        ({"at-least": "1"}, {"at-least": "1", "at-most": "2"}, Lean.STRICTER, "must be at most 2"),
        ({"is": "1"}, {"is": "1", "severity": "minor"}, Lean.WEAKER, "severity: major -> minor"),
        ({"is": "1"}, {"is": "1", "severity": "blocker"}, Lean.STRICTER, "severity"),
        ({"is": "1"}, {"is": "1", "when": {"fact": "here.flag", "is": "true"}}, Lean.WEAKER, "under a condition"),
        ({"is": "1", "when": {"fact": "here.flag", "is": "true"}}, {"is": "1"}, Lean.STRICTER, "applies always"),
        ({"is": "1"}, {"is": "1", "role": "any"}, Lean.DIFFERENT, "role: compute -> any"),
        ({"is": "1", "severity": "blocker"}, {"is": "2", "severity": "minor"}, Lean.DIFFERENT, "; "),
    ],
)  # fmt: skip
def test_a_sites_change_of_a_rule_is_described(
    tmp_path: FilePath, old: Mapping[str, Any], new: Mapping[str, Any], wanted: Lean, how: str
) -> None:
    def rule(words: Mapping[str, Any]) -> Rule:
        (found,) = compiled(tmp_path, {"r": {"fact": "here.number", **words}}).rules
        return found

    (found,) = differences({"r": rule(old)}, {"r": rule(new)})
    assert (found.rule, found.lean) == ("r", wanted)
    assert how in found.how


def test_asking_for_more_of_what_may_not_be_forbids_less(tmp_path: FilePath) -> None:
    def rule(least: str) -> Rule:
        (found,) = compiled(tmp_path, {"r": {"no": "box", "fact": "number", "at-least": least}}).rules
        return found

    assert lean(rule("2"), rule("3")) is Lean.WEAKER
    assert lean(rule("3"), rule("2")) is Lean.STRICTER


def test_another_phase_other_needs_and_another_look_are_different(tmp_path: FilePath) -> None:
    (rule,) = compiled(tmp_path, {"r": {"each": "box", "fact": "number", "is": "1"}}).rules
    assert isinstance(rule.look, RuleSelection)
    assert lean(rule, replace(rule, phase=Phase.BURN_IN)) is Lean.DIFFERENT
    assert lean(rule, replace(rule, needs=("other",))) is Lean.DIFFERENT
    assert lean(rule, replace(rule, needs=("other",), severity=Severity.BLOCKER)) is Lean.DIFFERENT
    assert lean(rule, replace(rule, look=replace(rule.look, mode="any"))) is Lean.DIFFERENT
    assert lean(rule, replace(rule, look=None)) is Lean.DIFFERENT


def test_waiting_for_another_site_value_is_neither_more_nor_less(tmp_path: FilePath) -> None:
    (rule,) = compiled(tmp_path, {"r": {"fact": "here.number", "is": "1"}}).rules
    waiting = replace(rule, unset=("driver",))
    assert lean(rule, waiting) is Lean.WEAKER
    assert lean(waiting, rule) is Lean.STRICTER
    assert lean(waiting, replace(rule, unset=("other",))) is Lean.DIFFERENT


def test_a_rule_that_only_one_of_them_has_is_no_difference(tmp_path: FilePath) -> None:
    (rule,) = compiled(tmp_path, {"r": {"fact": "here.number", "is": "1"}}).rules
    assert list(differences({}, {"r": rule})) == list(differences({"r": rule}, {})) == []
