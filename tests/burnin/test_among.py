"""GPUs compared with those of their model: from two GPUs on, by default power limit, and over nodes that are silent."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from burn_racks import capture, ills, judged, tree

from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Absent, Unknown
from rackcheck.model.tree import Tree

JUDGED = ("work", "rate_far", "heat")


def changed(found: BurnCapture, gpus: Callable[[dict[str, Any]], dict[str, Any]]) -> BurnCapture:
    """The same output, in which the description of the GPUs is another."""
    return BurnCapture(tuple({**one, "gpus": gpus(one["gpus"])} if "gpus" in one else one for one in found.records))


def with_limit(found: BurnCapture, gpus: Sequence[int], limit: float | None) -> BurnCapture:
    """The same output, in which some GPUs have another default power limit, or none."""
    return changed(
        found,
        lambda about: {key: {**one, "limit_default": limit} if int(key) in gpus else one for key, one in about.items()},
    )


def only(found: BurnCapture, gpus: int) -> BurnCapture:
    """The same output of a node with fewer GPUs."""
    kept = changed(found, lambda about: {key: one for key, one in about.items() if int(key) < gpus})
    return BurnCapture(
        tuple(one for one in kept.records if all(int(n) < gpus for n in re.findall(r"gpu/(\d+)", str(one.get("of")))))
    )


def rack(*found: BurnCapture) -> list[Tree]:
    return [tree(len(found), number, each) for number, each in enumerate(found, 1)]


def test_one_node_has_peers_enough_a_gpu_that_is_far_slower_is_named_and_the_others_are_fine() -> None:
    for percent, words in (("20", {2: "slow"}), ("1", {})):
        seen = judged(rack(capture(1, 7, ills("gpu-slow", gpu="2", percent=percent))))
        assert [seen.fact("n01", f"burnin.gpu/{gpu}.among.work") for gpu in range(8)] == [
            words.get(gpu, "fine") for gpu in range(8)
        ]


def test_a_node_of_one_gpu_has_no_peers() -> None:
    seen = judged(rack(only(capture(1, 7), 1)))
    for name in JUDGED:
        found = seen.fact("n01", f"burnin.gpu/0.among.{name}")
        assert isinstance(found, Absent)
        assert "the only GPU of its model" in found.detail


def test_of_two_gpus_the_slow_one_is_named() -> None:
    seen = judged(rack(only(capture(1, 7, ills("gpu-slow", gpu="1", percent="20")), 2)))
    assert [seen.fact("n01", f"burnin.gpu/{gpu}.among.work") for gpu in range(2)] == ["fine", "slow"]


def test_gpus_of_another_default_power_limit_are_no_peers() -> None:
    alone = capture(1, 7, ills("gpu-slow", gpu="2", percent="20"))
    seen = judged(rack(with_limit(alone, range(2, 3), 400.0)))
    assert isinstance(seen.fact("n01", "burnin.gpu/2.among.work"), Absent)
    assert seen.fact("n01", "burnin.gpu/3.among.work") == "fine"


def test_a_gpu_whose_default_power_limit_is_not_known_is_neither_slow_nor_fine() -> None:
    seen = judged(rack(with_limit(capture(1, 7), range(2, 3), None)))
    assert isinstance(seen.fact("n01", "burnin.gpu/2.among.work"), Unknown)


@pytest.mark.parametrize("ill", [(), ("gpu-slow",)])
def test_where_no_gpu_has_a_default_power_limit_none_is_slow_or_fine_and_the_reason_is_stated(
    ill: Sequence[str],
) -> None:
    found = capture(1, 7, ills("gpu-slow", gpu="2", percent="20") if ill else ())
    seen = judged(rack(with_limit(found, range(8), None)))
    for name in (*JUDGED, "rate"):
        facts = [seen.fact("n01", f"burnin.gpu/{gpu}.among.{name}") for gpu in range(8)]
        assert {type(fact) for fact in facts} == {Unknown}
        assert all("default power limit" in getattr(fact, "detail", "") for fact in facts)


def test_the_only_gpu_of_a_model_has_no_peers_although_its_default_power_limit_is_not_known() -> None:
    seen = judged(rack(with_limit(only(capture(1, 7), 1), [0], None)))
    assert isinstance(seen.fact("n01", "burnin.gpu/0.among.work"), Absent)


@pytest.mark.parametrize("silent", [0, 1])
def test_a_silent_node_clears_and_blames_nobody(silent: int) -> None:
    """With half of the GPUs silent, any spread is possible."""
    found = [capture(number, 7) for number in (1, 2)]
    if silent:
        found[1] = BurnCapture(())
    seen = judged(rack(*found))
    words = {type(seen.fact("n01", f"burnin.gpu/{gpu}.among.{name}")) for gpu in range(8) for name in JUDGED}
    assert words == ({Unknown} if silent else {str})


def test_the_message_has_the_effect_and_the_limit_that_it_is_compared_with() -> None:
    seen = judged(rack(capture(1, 7, ills("gpu-slow", gpu="2", percent="20"))))
    source = seen.trees["n01"].leaves["burnin.gpu/2.among.work"].source
    assert source.startswith("work per clock against 7 GPUs of its model on 1 node: -19")
    assert " %, limit -" in source
