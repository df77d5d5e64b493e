"""Hints: exactly what failing nodes have in common and others lack is named, with its counts."""

import time
from collections.abc import Iterable, Mapping
from random import Random

from censuses import DENIED, Facts, census, tree
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.views.census import Census
from rackcheck.views.hints import Hint, Hints
from rackcheck.views.shared_traits import CELLS, HintKind

NONE: frozenset[str] = frozenset()


def fleet(nodes: int, facts: Mapping[int, Facts] | None = None, racks: int = 4, role: str = "compute") -> Census:
    """Nodes n0, n1, …, the first of which stand in rack r0, the next in r1, and so on."""
    names = {f"n{number}": (facts or {}).get(number, {}) for number in range(nodes)}
    places = {f"n{number}": {"rack": f"r{number * racks // nodes}"} for number in range(nodes)}
    return census(names, role, places)


def hint(found: Census, nodes: Iterable[int], facts: frozenset[str] = NONE, **words: bool) -> Hint | None:
    """The hint at these nodes among all."""
    bits = found.bits(f"n{number}" for number in nodes)
    return Hints(found).of(bits, found.everyone, facts, unknown=words.get("unknown", False))


def hint_tuple(found: Hint | None) -> tuple[HintKind, str, str] | None:
    return None if found is None else (found.sort, found.words, found.sentence)


def test_more_than_half_of_the_fleet_puts_the_profile_in_question() -> None:
    asked = "62 % of the fleet (10 of 16): is the profile right?"
    assert hint_tuple(hint(fleet(16), range(10))) == (HintKind.PROFILE, "profile?", asked)
    assert hint_tuple(hint(fleet(16), range(16))) == (
        HintKind.PROFILE,
        "profile?",
        asked.replace("62", "100").replace("10 of", "16 of"),
    )


def test_half_of_the_fleet_or_two_nodes_do_not() -> None:
    assert hint(fleet(16, racks=16), range(8)) is None
    assert hint(fleet(3, racks=3), range(2)) is None


def test_a_value_unknown_on_most_nodes_gives_no_hint() -> None:
    assert hint(fleet(16, racks=16), range(10), unknown=True) is None


def test_a_rack_whose_nodes_fail_is_named_with_the_others_in_it() -> None:
    assert hint_tuple(hint(fleet(16), range(4))) == (
        HintKind.RACK, "rack r0", "all 4 are in rack r0; none of 12 others is",
    )  # fmt: skip
    assert hint_tuple(hint(fleet(40), range(9))) == (
        HintKind.RACK, "rack r0", "all 9 are in rack r0; 1 of 31 others is",
    )  # fmt: skip


def test_nodes_of_two_racks_have_no_rack_in_common() -> None:
    assert hint(fleet(16), [0, 1, 4, 5]) is None


def test_one_node_of_several_is_alone_and_one_of_one_is_nothing() -> None:
    assert hint_tuple(hint(fleet(16), [3])) == (HintKind.ALONE, "only this node", "only n3, of 16 nodes")
    assert hint(fleet(1), [0]) is None


def bios(old: Iterable[int], nodes: int = 16, unknown: Iterable[int] = ()) -> dict[int, Facts]:
    """Facts of a fleet on which some nodes have an older BIOS, and some do not report it."""
    values: dict[int, Facts] = {
        number: {"firmware.bios": "1.5" if number not in set(old) else "1.4"} for number in range(nodes)
    }
    return values | {number: {"firmware.bios": DENIED} for number in unknown}


def test_a_version_that_others_have_not_is_named() -> None:
    found = hint(fleet(16, bios([1, 5, 9])), [1, 5, 9])
    assert hint_tuple(found) == (
        HintKind.VERSION,
        "firmware.bios 1.4",
        "all 3 have firmware.bios 1.4; none of 13 others has",
    )


def test_the_fact_that_a_rule_reads_is_no_hint_at_itself() -> None:
    assert hint(fleet(16, bios([1, 5, 9])), [1, 5, 9], frozenset({"firmware.bios"})) is None


def test_a_fact_that_restates_the_finding_is_no_hint_either() -> None:
    found = fleet(16, bios([1, 5, 9]))
    nodes = found.bits(["n1", "n5", "n9"])
    assert Hints(found).of(nodes, found.everyone, NONE, frozenset({"1.4"})) is None


def test_of_a_rack_and_a_version_that_tie_the_rack_is_in_the_column_and_both_are_named() -> None:
    found = hint(fleet(16, bios(range(4))), range(4))
    sentence = "all 4 are in rack r0 and have firmware.bios 1.4; none of 12 others is"
    assert hint_tuple(found) == (HintKind.RACK, "rack r0", sentence)


def test_what_fits_better_is_named_before_what_is_preferred() -> None:
    found = hint(fleet(40, bios(range(9), 40)), range(9))
    assert found is not None
    assert (found.sort, found.share) == (HintKind.VERSION, 1.0)


def test_unknown_is_not_what_nodes_have_in_common() -> None:
    assert hint(fleet(16, bios([], unknown=[1, 5, 9])), [1, 5, 9]) is None


def test_a_fact_that_more_than_a_fifth_do_not_report_is_no_hint_and_fewer_are_counted() -> None:
    assert hint(fleet(16, bios([1, 5, 9], unknown=[2, 3, 4, 6])), [1, 5, 9]) is None
    found = hint(fleet(16, bios([1, 5, 9], unknown=[2, 3])), [1, 5, 9])
    assert found is not None
    assert found.sentence == "all 3 have firmware.bios 1.4; none of 13 others has, and 2 are unknown"


def test_the_switch_that_ports_are_cabled_to_is_named_whichever_port_it_is() -> None:
    facts: dict[int, Facts] = {
        number: {f"nic.lldp/eth{number % 2}.switch": "leaf1" if number in {2, 5, 11} else "leaf2"}
        for number in range(16)
    }
    found = hint(fleet(16, facts), [2, 5, 11])
    assert hint_tuple(found) == (
        HintKind.SWITCH, "switch leaf1", "all 3 are cabled to switch leaf1; none of 13 others is",
    )  # fmt: skip


def test_a_make_that_failing_nodes_share_is_a_batch_and_a_serial_is_not() -> None:
    facts: dict[int, Facts] = {
        number: {"node.product": "R760" if number in {2, 7} else "R750", "node.serial": f"s{number}"}
        for number in range(16)
    }
    assert hint_tuple(hint(fleet(16, facts), [2, 7])) == (
        HintKind.BATCH, "batch R760", "all 2 have node.product R760; none of 14 others has",
    )  # fmt: skip


def test_nodes_that_the_rule_is_not_for_do_not_count() -> None:
    found = fleet(16)
    for name in ("s0", "s1"):
        found.take(name, "switch", tree({}), {"rack": "r0"})
    compute = found.role("compute")
    asked = Hints(found).of(found.bits(["n0", "n1", "n2", "n3"]), compute)
    assert asked is not None
    assert asked.sentence == "all 4 are in rack r0; none of 12 others is"


@given(st.text(max_size=80))
def test_the_words_of_a_hint_have_room_in_a_column_and_move_no_terminal(value: str) -> None:
    facts: dict[int, Facts] = {n: {"node.product": value if n in {2, 7} else f"{value}x"} for n in range(16)}
    found = hint(fleet(16, facts), [2, 7])
    assert found is None or (len(found.words) <= CELLS and (found.words + found.sentence).isprintable())


def test_300_findings_over_1024_nodes_get_their_hints_in_a_second() -> None:
    rng = Random(1)
    names = [f"gpu/{number}.vbios" for number in range(300)]
    facts: dict[int, Facts] = {node: {name: str(rng.randrange(9)) for name in names} for node in range(1024)}
    found = fleet(1024, facts, racks=32)
    began = time.process_time()
    hints = Hints(found)
    for number in range(300):
        hints.of(
            rng.getrandbits(1024) & rng.getrandbits(1024) & rng.getrandbits(1024),
            found.everyone,
            frozenset({str(number)}),
        )
    assert time.process_time() - began < 1
