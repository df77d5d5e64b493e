"""Equal work, different bits: which part is odd, which is only disputed, and when neither can be decided."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.parse.burnin.votes import Count, Name, VoteFinding, VoteOutcome, VotePlace, count

AGREES, ODD, DISPUTED, NOT_TESTED = VoteOutcome.AGREES, VoteOutcome.ODD, VoteOutcome.DISPUTED, VoteOutcome.NOT_TESTED


def nodes(words: str) -> dict[VotePlace, str | None]:
    """One letter for each node; a dot is no vote."""
    return {(f"n{n}",): None if word == "." else word for n, word in enumerate(words)}


def gpus(*words: str) -> dict[VotePlace, str | None]:
    """One word for each node, with one letter for each of its GPUs."""
    return {
        (f"n{n}", f"gpu/{g}"): None if letter == "." else letter
        for n, word in enumerate(words)
        for g, letter in enumerate(word)
    }


def letters(found: Count) -> str:
    """The result for each voter, as its first letter."""
    return "".join(
        {AGREES: "a", ODD: "O", DISPUTED: "d", NOT_TESTED: "."}[outcome] for outcome in found.outcomes.values()
    )


@pytest.mark.parametrize(
    ("words", "golden", "text", "names"),
    [
        ("aaaa", None, "aaaa", []),
        ("aaab", None, "aaaO", [Name.ODD]),
        ("aab", None, "aaO", [Name.ODD]),
        ("aabb", None, "dddd", [Name.DISPUTED]),
        ("ab", None, "dd", [Name.DISPUTED]),
        ("aa", None, "aa", []),
        ("a", None, ".", []),
        ("aa.", None, "aa.", []),
        ("a..", None, "...", []),
        ("ab.", None, "dd.", [Name.DISPUTED]),
        ("", None, "", []),
        ("...", None, "...", []),
        ("a", "a", "a", []),
        ("a", "g", "O", [Name.ODD]),
        ("ag", "g", "Oa", [Name.ODD]),
        ("aabb", "a", "aaOO", [Name.ODD, Name.ODD]),
        ("aa", "g", "dd", [Name.CONTRADICTED]),
        ("aaag", "g", "dddd", [Name.CONTRADICTED]),
        ("aaax", "g", "dddO", [Name.CONTRADICTED, Name.ODD]),
        ("gggx", "g", "aaaO", [Name.ODD]),
        ("a..", "g", "d..", [Name.DISPUTED]),
        ("g..", "g", "a..", []),
        ("...", "g", "...", []),
    ],
)
def test_each_vote_of_nodes_ends_as_its_rule_states(
    words: str, golden: str | None, text: str, names: list[Name]
) -> None:
    found = count(nodes(words), golden)
    assert letters(found) == text
    assert [finding.name for finding in found.findings] == names


def test_the_odd_sm_of_132_is_named_with_what_it_got_and_what_it_should_have() -> None:
    results: dict[VotePlace, str | None] = {("n1", "gpu/0", f"sm/{n}"): "good" for n in range(132)}
    results["n1", "gpu/0", "sm/17"] = "bad"
    found = count(results)
    assert found.findings == (VoteFinding(Name.ODD, ("n1", "gpu/0", "sm/17"), "bad", "good", 131, 132),)


def test_a_gpu_whose_every_sm_errs_alike_is_named_by_its_peers_once() -> None:
    results: dict[VotePlace, str | None] = {
        ("n1", f"gpu/{g}", f"sm/{s}"): "bad" if g == 2 else "good" for g in range(8) for s in range(16)
    }
    found = count(results)
    assert [(f.name, f.at) for f in found.findings] == [(Name.ODD, ("n1", "gpu/2"))]
    assert sum(outcome is ODD for outcome in found.outcomes.values()) == 16


def test_where_most_of_a_node_errs_the_fleet_names_the_node_and_clears_its_right_gpus() -> None:
    found = count(gpus("bbbbbaaa", "aaaaaaaa", "aaaaaaaa"))
    assert [(f.name, f.at) for f in found.findings] == [(Name.ODD, ("n0",))]
    assert letters(found)[:8] == "OOOOOaaa"


def test_a_node_alone_names_its_odd_gpu_while_the_rest_of_the_fleet_is_silent() -> None:
    found = count(gpus("aaaaaaab", "........"))
    assert [(f.name, f.at) for f in found.findings] == [(Name.ODD, ("n0", "gpu/7"))]
    assert letters(found) == "aaaaaaaO........"


def test_two_nodes_that_differ_are_disputed_and_the_odd_gpu_in_one_is_still_named() -> None:
    found = count(gpus("aax", "bbb"))
    assert [(f.name, f.at) for f in found.findings] == [(Name.DISPUTED, ()), (Name.ODD, ("n0", "gpu/2"))]
    assert letters(found) == "ddOddd"


def test_a_fleet_against_the_golden_is_one_finding_that_blames_no_part() -> None:
    found = count(gpus("aaaa", "aaaa", "aaag"), "g")
    assert found.findings == (VoteFinding(Name.CONTRADICTED, (), "a", "g", 3, 3),)
    assert ODD not in found.outcomes.values()


def test_two_differing_gpus_of_one_node_are_distinguished_by_the_golden() -> None:
    assert letters(count(gpus("ab"), "a")) == "aO"


@pytest.mark.parametrize("results", [{("n1",): "a", ("n1", "gpu/0"): "a"}, {(): "a"}])
def test_voters_of_two_levels_or_of_none_are_refused(results: dict[VotePlace, str | None]) -> None:
    with pytest.raises(ValueError, match="all voters must be nodes, all GPUs or all SMs"):
        count(results)


WORDS = st.lists(st.sampled_from("aaaab."), min_size=1, max_size=9).map("".join)


@given(st.lists(WORDS, min_size=1, max_size=5), st.sampled_from([None, "a", "b"]), st.randoms(use_true_random=False))
def test_the_order_of_the_voters_changes_nothing(words: list[str], golden: str | None, rng: random.Random) -> None:
    results = gpus(*words)
    turned = [*results.items()]
    rng.shuffle(turned)
    one, other = count(results, golden), count(dict(turned), golden)
    assert one.outcomes == other.outcomes
    assert set(one.findings) == set(other.findings)


@settings(max_examples=400)
@given(st.text("aaabc.", min_size=1, max_size=9), st.sampled_from([None, "a", "b", "g"]), st.data())
def test_a_voter_that_falls_silent_never_makes_another_odd_nor_clears_one(
    words: str, golden: str | None, data: st.DataObject
) -> None:
    which = data.draw(st.integers(0, len(words) - 1))
    before = count(nodes(words), golden).outcomes
    after = count(nodes(words[:which] + "." + words[which + 1 :]), golden).outcomes
    for place, new in after.items():
        assert new is not ODD or before[place] is ODD
        assert not (new is AGREES and before[place] is ODD)


@given(st.lists(WORDS, min_size=1, max_size=5), st.sampled_from([None, "a", "b"]))
def test_a_silent_part_never_counts_as_agreeing_and_an_odd_one_is_reported(
    words: list[str], golden: str | None
) -> None:
    results = gpus(*words)
    found = count(results, golden)
    assert list(found.outcomes) == list(results)
    for place, outcome in found.outcomes.items():
        assert (outcome is NOT_TESTED) >= (results[place] is None)
        if outcome is ODD:
            assert any(f.name is Name.ODD and place[: len(f.at)] == f.at for f in found.findings)
