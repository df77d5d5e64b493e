"""The law of unknowns among siblings: the less is known about an item, its siblings or what groups them, the less is
known about a rule; no verdict is reversed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product

import depth
import pytest
from hypothesis import given, settings
from law_cases import RELAXED, Audit, audits, judged, trees_of
from law_checks import check, compare
from law_facts import ALIKE, KINDS
from law_nodes import HIDDEN, NodeFacts, World, each_taken
from law_rules import ALONE, COUNTED

from rackcheck.evaluate.verdict import Status
from rackcheck.model import operator
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading
from rackcheck.model.path import Path, parse
from rackcheck.model.profile import Clause, Rule, RuleSelection
from rackcheck.model.sibling_silence import Siblings
from rackcheck.model.tree import Leaf

BOX, SHELF = ALIKE["box"], ALIKE["shelf"]
PLACES = replace(BOX, vacant=replace(BOX.by[0], fact=parse("box/*.place")))
GONE = Absent("not supported")


def leaf(reading: Reading, kind: Kind) -> Leaf:
    return Leaf(reading, kind, Plane.OS, "")


def listing(reading: Reading) -> Leaf:
    return leaf(reading, Kind(Type.COLLECTION, ""))


def clause(name: str, op: str, operand: operator.Operand, siblings: Siblings | None) -> Clause:
    return Clause(parse(name), KINDS[name], Plane.OS, (operator.Test(op, operand),), siblings=siblings)


def numbered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(replace(rule, id=f"r{n}") for n, rule in enumerate(rules))


def looks(siblings: Siblings) -> Iterable[Rule]:
    """Every look in which the absence of a flag would excuse a box."""
    tests: tuple[tuple[str, operator.Operand], ...] = (
        ("present", True),
        ("present", False),
        ("is", True),
        ("is-not", True),
    )
    box = RuleSelection("", parse("box"), Plane.OS)
    one = clause("number", "is", 1, None)
    counted = Clause(Path(()), COUNTED, Plane.DERIVED, (operator.Test("is", 1),))
    for op, operand in tests:
        where = clause("flag", op, operand, siblings)
        for mode, allow_empty, failing in product(("each", "any"), (False, True), (0, 1)):
            if mode == "each" or not failing:
                yield Rule(
                    "", (one,), replace(box, mode=mode, where=where, allow_empty=allow_empty, allow_failing=failing)
                )
        yield Rule("", (counted,), replace(box, mode="count", where=where))
        yield Rule("", (where,), replace(box, mode="no"))
        yield Rule("", (where, one), replace(box, mode="no"), join="any")
    for operand, mode, join in product((True, False), ("each", "any", "no"), ("all", "any")):
        yield Rule("", (clause("flag", "present", operand, siblings), one), replace(box, mode=mode), join=join)
    at_box = replace(clause("flag", "is", True, siblings), fact=parse("box/0.flag"))
    yield Rule("", (one,), replace(box, mode="each"), when=at_box)
    yield Rule("", (replace(at_box, tests=(operator.Test("present", False),)),))


FLAGS: tuple[Reading, ...] = (True, False, GONE, HIDDEN)
GROUPS: tuple[Reading, ...] = ("a", "b", GONE, HIDDEN)


def boxes(states: Sequence[tuple[Reading, Reading]], reading: Reading, group: str) -> NodeFacts:
    """Boxes with a group and a flag each."""
    leaves: World = {"box": listing(reading)}
    for key, (word, flag) in enumerate(states):
        leaves[f"box/{key}.{group}"] = leaf(word, KINDS["text"])
        leaves[f"box/{key}.flag"] = leaf(flag, KINDS["flag"])
        leaves[f"box/{key}.number"] = leaf(1, KINDS["number"])
    return NodeFacts(leaves)


def nothing_turns(rules: tuple[Rule, ...], whole: NodeFacts) -> None:
    before = check(rules, whole.tree())
    for taken, rest in each_taken(whole):
        compare(rules, before, rest.tree(), taken)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "partial"])
@pytest.mark.parametrize("size", depth.first(2, [1, 2, pytest.param(3, marks=pytest.mark.slow)]))
def test_no_silence_among_siblings_turns(size: int, whole: bool) -> None:
    rules = numbered(looks(BOX))
    for states in combinations_with_replacement(tuple(product(GROUPS, FLAGS)), size):
        nothing_turns(rules, boxes(states, tuple(map(str, range(size))) if whole else HIDDEN, "word"))


def test_no_silence_beside_an_empty_place_turns() -> None:
    rules = numbered(looks(replace(PLACES, by=())))
    places: tuple[Reading, ...] = ("Enabled", "Absent", GONE, HIDDEN)
    for states in combinations_with_replacement(tuple(product(places, FLAGS)), 2):
        nothing_turns(rules, boxes(states, ("0", "1"), "place"))


SLOTS: tuple[Reading, ...] = ((), ("1",), ("1", "2"), GONE, HIDDEN)


@pytest.mark.parametrize("size", depth.first(2, [1, 2, pytest.param(3, marks=pytest.mark.slow)]))
def test_no_empty_collection_among_siblings_turns(size: int) -> None:
    one, two = clause("number", "is", 1, None), clause("number", "at-most", 2, None)
    slots = RuleSelection("", parse("shelf/*.slot"), Plane.OS, siblings=SHELF)
    rules = numbered(
        Rule("", (each,), replace(slots, mode=mode, allow_empty=allow_empty, expect_count=expected, where=where))
        for each, mode, allow_empty, expected, where in product(
            (one, two), ("each", "any", "no"), (False, True), (None, 1), (None, one)
        )
    )
    for listed in combinations_with_replacement(SLOTS, size):
        leaves: World = {"shelf": listing(tuple("abc"[:size]))}
        for shelf, keys in zip("abc", listed, strict=False):
            leaves[f"shelf/{shelf}.slot"] = listing(keys)
            for key in keys if isinstance(keys, tuple) else ():
                leaves[f"shelf/{shelf}.slot/{key}.number"] = leaf(int(key), KINDS["number"])
        nothing_turns(rules, NodeFacts(leaves))


def silences(audit: Audit) -> Iterable[str]:
    """Name where an item is unknown in a case because of its siblings."""
    known = {rule.id: rule for rule in audit.rules}
    for each in judged(audit.job, trees_of(audit, audit.whole)).values():
        for verdict in each.verdicts:
            look = known[verdict.rule].look
            for evidence in verdict.evidence:
                if evidence.unknown is not None and "sibling" in evidence.unknown.detail:
                    filtered = look is not None and look.where is not None and look.where.tests
                    empty = look is not None and evidence.item == str(look.collection)
                    yield "empty" if empty else "where" if filtered else "leaf"
                    yield f"{verdict.status}"


def test_the_drawn_cases_hold_silences_of_several_sorts() -> None:
    counted: Counter[str] = Counter()

    @settings(RELAXED, max_examples=depth.cases(2000), derandomize=True, database=None)
    @given(audits(ALONE))
    def gather(audit: Audit) -> None:
        counted.update(set(silences(audit)))

    gather()
    assert counted[Status.UNKNOWN.value] > 2, counted
    assert len({"empty", "where", "leaf"} & counted.keys()) > 1, counted
