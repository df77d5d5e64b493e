"""Causes planted in fleets of 1,024 nodes are named in spite of noise, and healthy fleets get no cause."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from random import Random

import pytest
from censuses import census
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reading
from rackcheck.views.census import Census
from rackcheck.views.chance import FALSE, cut, tail
from rackcheck.views.hints import Hint, Hints
from rackcheck.views.shared_traits import HintKind

NODES = 1024
NOISE = 0.02
"""The share of nodes that fail a rule for reasons of their own."""

NONE: frozenset[str] = frozenset()
FINDINGS = 20
"""The number of findings of a fleet that have no cause."""


@dataclass(frozen=True)
class Fleet:
    """A fleet, and the nodes of each trait by a word that its hint contains."""

    census: Census
    traits: dict[str, tuple[int, ...]]


@cache
def fleet(seed: int) -> Fleet:
    """Nodes in racks of eight, two racks on a PDU, 32 on a switch; versions and batches are in trains of all sizes."""
    draw = Random(seed)
    facts: dict[str, dict[str, Reading]] = {}
    places: dict[str, dict[str, str]] = {}
    traits: dict[str, list[int]] = {}
    odd = {  # a few nodes have another version, batch or image than the rest
        "firmware.bios": [draw.sample(range(NODES), size) for size in (5, 9, 24)],
        "gpu/0.vbios": [draw.sample(range(NODES), size) for size in (6, 12)],
        "node.product": [draw.sample(range(NODES), size) for size in (5, 8, 40)],
    }
    for number in range(NODES):
        name = f"n{number}"
        rack, pdu, switch, slot = number // 8, number // 16, number // 32, number % 8
        places[name] = {"rack": f"r{rack:03}", "pdu": f"pdu{pdu:02}", "row": f"row{rack // 16}", "slot": f"slot{slot}"}
        facts[name] = {"firmware.bios": "1.0.0", "gpu/0.vbios": "96.00", "node.product": "maker A"}
        facts[name]["nic.lldp/p0.switch"] = f"leaf{switch:02}"
        for word in (f"r{rack:03}", f"pdu{pdu:02}", f"leaf{switch:02}"):
            traits.setdefault(word, []).append(number)
    for path, sets in odd.items():
        for train, members in enumerate(sets, start=2):
            word = f"maker {'ABCDE'[train - 1]}" if path == "node.product" else f"{train}.7.{len(members)}"
            for number in members:
                facts[f"n{number}"][path] = word
            traits[word] = [n for n in range(NODES) if facts[f"n{n}"][path] == word]
    return Fleet(census(facts, "compute", places), {word: tuple(members) for word, members in traits.items()})


def failing(found: Fleet, words: Sequence[str], draw: Random) -> int:
    """The nodes that fail: those of the traits, and others by chance."""
    numbers = {number for word in words for number in found.traits[word]}
    numbers |= {number for number in range(NODES) if draw.random() < NOISE}
    return found.census.bits(f"n{number}" for number in numbers)


def hints(found: Fleet, cases: Sequence[int]) -> Iterator[Hint | None]:
    """The hints at all findings of one run."""
    every = found.census.everyone
    all_hints = Hints(found.census)
    all_hints.weigh((nodes, every, NONE, NONE) for nodes in cases)
    yield from (all_hints.of(nodes, every) for nodes in cases)


def noise(found: Fleet, draw: Random) -> list[int]:
    return [failing(found, (), draw) for _ in range(FINDINGS)]


CAUSES = ["r017", "pdu03", "leaf11", "2.7.5", "3.7.9", "4.7.24", "2.7.6", "3.7.12", "maker B", "maker C", "maker D"]


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_cause_of_five_nodes_or_more_is_named(cause: str, seed: int) -> None:
    found = fleet(seed)
    draw = Random(f"{cause} {seed}")
    first, *others = hints(found, [failing(found, (cause,), draw), *noise(found, draw)])
    assert first is not None
    assert cause in first.sentence, first.sentence
    assert sum(each is not None for each in others) <= 1


@pytest.mark.parametrize("pair", [("r017", "maker D"), ("pdu03", "4.7.24"), ("leaf11", "2.7.5"), ("r001", "r100")])
def test_two_causes_of_one_finding_are_both_named(pair: tuple[str, str]) -> None:
    found = fleet(1)
    draw = Random(str(pair))
    first, *_ = hints(found, [failing(found, pair, draw), *noise(found, draw)])
    assert first is not None
    for cause in pair:
        assert cause in first.sentence, first.sentence


def test_ten_healthy_fleets_get_at_most_one_cause() -> None:
    named = 0
    for seed in range(10):
        found = fleet(seed % 3)
        named += sum(each is not None for each in hints(found, noise(found, Random(1000 + seed))))
    assert named <= 1


def test_a_cause_is_shown_with_the_counts_of_nodes_that_fail_with_it_and_without_it() -> None:
    found = fleet(0)
    (first,) = hints(found, [failing(found, ("r017",), Random(5))])
    assert first is not None
    assert first.sort is HintKind.RACK
    assert first.sentence.startswith("8 of 8 in rack r017 fail, and ")
    assert " of 1,016 others" in first.sentence


def test_two_nodes_with_a_common_trait_are_no_cause() -> None:
    found = fleet(0)
    draw = Random(7)
    few = {*found.traits["r017"][:2], *(draw.randrange(NODES) for _ in range(12))}
    (first,) = hints(found, [found.census.bits(f"n{n}" for n in few)])
    assert first is None


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 40))
def test_the_tail_is_that_of_the_hypergeometric_distribution(nodes: int, trait: int, failing_: int) -> None:
    trait, failing_ = min(trait, nodes), min(failing_, nodes)
    least = max(0, trait + failing_ - nodes)
    tails = [tail(found, trait, failing_, nodes) for found in range(least, min(trait, failing_) + 2)]
    assert tails[0] == pytest.approx(1)
    assert tails[-1] == 0
    assert all(one >= other for one, other in pairwise(tails))
    mean = sum(tails[1:]) + least
    assert mean == pytest.approx(trait * failing_ / nodes)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_the_cut_is_that_of_benjamini_and_hochberg(chances: list[float]) -> None:
    tests = len(chances)
    ordered = sorted(chances)
    ranks = [rank for rank, chance in enumerate(ordered, start=1) if chance <= FALSE * rank / tests]
    assert cut(chances, tests) == (ordered[max(ranks) - 1] if ranks else 0)
