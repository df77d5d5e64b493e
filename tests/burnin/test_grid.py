"""Each fault of a load, over seeds: it is found at its place, and no other finding appears; clean racks have none.

The usual run tries every fault on two racks, `make full` on twenty; of the clean racks it tries 14 instead of 1,012, and of
the racks with a GPU that does four percent less 4 instead of 100.
"""

from collections.abc import Mapping
from functools import cache

import depth
import pytest
from burn_racks import Seen, capture, ills, judged, tree

from rackcheck.model.burn_record import Burn
from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Unknown
from rackcheck.model.tree import Tree

NODES, ODD = 16, 6
SEEDS = range(20 if depth.DEEP else 2)
ODD_NODE = f"n{ODD:02}"


@cache
def clean(seed: int) -> tuple[Tree, ...]:
    return tuple(tree(NODES, number, capture(number, 1000 + seed, chips=seed)) for number in range(1, NODES + 1))


@cache
def few() -> tuple[Tree, ...]:
    """Five nodes without a fault: enough for comparisons within a node."""
    return tuple(tree(5, number, capture(number, 1000)) for number in range(1, 6))


def with_fault(seed: int, kind: str, **words: str) -> tuple[Seen, BurnCapture]:
    """The same rack with a fault on one node."""
    found = capture(ODD, 1000 + seed, ills(kind, **words), chips=seed)
    trees = list(clean(seed))
    trees[ODD - 1] = tree(NODES, ODD, found)
    return judged(trees), found


def of_rule(seen: Seen, rule: str) -> tuple[str, ...]:
    """Where a rule fails on the node with the fault."""
    return seen.failed.get(ODD_NODE, {}).get(rule, ())


def first_finding(burn: Burn, of: str, name: str) -> Mapping[str, object]:
    """The first finding with that name on a part: its texts and its numbers."""
    found = next((fault for fault in burn.faults if fault.of == of and fault.name == name), None)
    return {} if found is None else {**found.words, **found.numbers}


RULES: Mapping[str, tuple[str, dict[str, str], str, str]] = {
    "gpu-slow": ("gpu-slow", {"gpu": "3"}, "burnin.gpu_work", "burnin.gpu/3.among.work"),
    "sm-slow": ("sm-slow", {"gpu": "2", "sm": "40"}, "burnin.gpu_work", "burnin.gpu/2.among.work"),
    "clock-stuck": ("clock-stuck", {"gpu": "1"}, "burnin.gpu_rate", "burnin.gpu/1.among.rate_far"),
    "cap-low": ("cap-low", {"gpu": "6"}, "burnin.gpu_rate", "burnin.gpu/6.among.rate_far"),
    "gpu-hot": ("gpu-hot", {"gpu": "5"}, "burnin.gpu_heat", "burnin.gpu/5.among.heat"),
    "gpu-bitflip": ("gpu-bitflip", {"gpu": "4"}, "burnin.gpu_correct", "burnin.gpu/4.mismatches"),
    "transient": ("gpu-bitflip", {"gpu": "4", "how": "transient"}, "burnin.gpu_correct", "burnin.gpu/4.mismatches"),
    "gpu-multibit": ("gpu-multibit", {"gpu": "7"}, "burnin.gpu_correct", "burnin.gpu/7.mismatches"),
    "gpu-alias": ("gpu-alias", {"gpu": "0"}, "burnin.gpu_correct", "burnin.gpu/0.mismatches"),
    "sm-wrong": ("sm-wrong", {"gpu": "3", "sm": "97"}, "burnin.gpu_correct", "burnin.gpu/3.mismatches"),
    "gpu-nan": ("gpu-nan", {"gpu": "3", "sm": "11"}, "burnin.gpu_correct", "burnin.gpu/3.mismatches"),
    "gpu-wrong": ("gpu-wrong", {"gpu": "5"}, "burnin.gpu_alike", "burnin.gpu/5.among.result"),
    "gpu-wrong-mma": ("gpu-wrong", {"gpu": "5", "unit": "mma"}, "burnin.gpu_alike", "burnin.gpu/5.among.result"),
    "xid-only": ("xid-only", {"gpu": "2"}, "burnin.no_xid", "burnin.gpu/2.moved.xids"),
    "replay-storm": ("replay-storm", {"gpu": "2"}, "burnin.no_replay", "burnin.gpu/2.moved.replays"),
    "nic-down": ("nic-down-under-load", {"nic": "mlx5_1"}, "burnin.nic_stayed_up", "burnin.nic/mlx5_1.stayed"),
    "cpu-wrong": ("cpu-wrong", {"cpu": "2"}, "burnin.cpu_alike", "burnin.cpu.odd"),
    "ram-bitflip": ("ram-bitflip", {"numa": "1"}, "burnin.cpu_correct", "burnin.cpu.mismatches"),
    "gpu-lost": ("gpu-lost-under-load", {"gpu": "1"}, "burnin.no_crash", "burnin.fault/lost.where"),
    "gpu-hang": ("gpu-hang", {"gpu": "1"}, "burnin.no_crash", "burnin.fault/hang.where"),
    "cuda-sticky": ("cuda-sticky", {"gpu": "1"}, "burnin.no_crash", "burnin.fault/cuda.where"),
    "802": ("fabric-manager-down", {}, "burnin.no_crash", "burnin.fault/cuda.where"),
    "fan-stopped": ("fan-stopped", {}, "burnin.not_throttled", "burnin.gpu/0.throttled"),
}
"""Each fault with its parameters, the rule that must fail, and a place that it must name."""


@pytest.mark.parametrize("name", RULES)
def test_each_fault_is_found_at_its_place_and_nothing_is_found_elsewhere(name: str) -> None:
    kind, words, rule, place = RULES[name]
    lost: list[object] = []
    for seed in SEEDS:
        seen, _ = with_fault(seed, kind, **words)
        if place not in of_rule(seen, rule) or set(seen.failed) != {ODD_NODE} or not _known_elsewhere(name, seen):
            lost.append((seed, seen.failed, seen.unknown))
    print(f"{name}: {len(SEEDS) - len(lost)} of {len(SEEDS)} found and placed, nothing elsewhere")
    assert not lost


SLOW: Mapping[str, tuple[str, Mapping[str, str], str, str]] = {
    "memory": ("hbm-slow", {}, "burnin.gpu_memory_rate", "burnin.gpu/{}.beside.memory.copy"),
    "host": ("pcie-slow", {}, "burnin.gpu_host_rate", "burnin.gpu/{}.beside.link.h2d"),
    "peers": ("nvlink-slow", {}, "burnin.gpu_peer_rate", "burnin.gpu/{}.beside.peer"),
    "clock": ("chip-poor", {}, "burnin.gpu_rate_alike", "burnin.gpu/{}.beside.tensor.rate"),
    "power": ("power-low", {}, "burnin.gpu_power_alike", "burnin.gpu/{}.beside.tensor.power"),
}
"""Each rate and the power of a GPU, with the fault that lowers it, the rule that must fail, and the place it must name."""


BEST = {
    "memory": "burnin.gpu_memory_best",
    "host": "burnin.gpu_host_best",
    "peers": "burnin.gpu_peer_best",
    "clock": "burnin.gpu_rate_best",
    "power": "burnin.gpu_power_best",
}
"""The rule that compares the same with the GPUs of all nodes."""


@pytest.mark.parametrize("nodes", [1, 4])
@pytest.mark.parametrize("left", [50, 10])
@pytest.mark.parametrize("name", SLOW)
def test_a_gpu_with_half_or_a_tenth_of_a_rate_is_found_and_placed_on_one_node_and_on_four(
    name: str, left: int, nodes: int
) -> None:
    kind, words, rule, place = SLOW[name]
    hurt = {number: str(number % 8) for number in range(1, 1 + nodes)}
    trees = list(few())
    for number, gpu in hurt.items():
        laid = ills(kind, gpu=gpu, percent=str(100 - left), **words)
        trees[number - 1] = tree(len(trees), number, capture(number, 1000, laid))
    seen = judged(trees)
    assert set(seen.failed) == {f"n{number:02}" for number in hurt}
    for number, gpu in hurt.items():
        failed = seen.failed[f"n{number:02}"]
        assert place.format(gpu) in failed[rule]
        assert place.format(gpu).replace(".beside.", ".among.") in failed[BEST[name]]
        assert all(of.startswith(f"burnin.gpu/{gpu}.") for found in failed.values() for of in found)


@pytest.mark.parametrize("nodes", [4, 2])
@pytest.mark.parametrize("left", [50, 10])
@pytest.mark.parametrize("name", SLOW)
def test_a_node_whose_gpus_are_all_slow_alike_is_found_among_four_nodes_and_among_two(
    name: str, left: int, nodes: int
) -> None:
    """Nothing differs within the node, so that no comparison within a node finds it."""
    kind, words, beside, place = SLOW[name]
    laid = [ill for gpu in range(8) for ill in ills(kind, gpu=str(gpu), percent=str(100 - left), **words)]
    trees = [tree(nodes, number, capture(number, 1000)) for number in range(1, nodes)]
    seen = judged((*trees, tree(nodes, nodes, capture(nodes, 1000, laid))))
    assert set(seen.failed) == {f"n{nodes:02}"}
    failed = seen.failed[f"n{nodes:02}"]
    assert beside not in failed
    expected = {place.format(gpu).replace(".beside.", ".among.") for gpu in range(8)}
    assert expected <= set(failed[BEST[name]])
    leaves = seen.trees[f"n{nodes:02}"].leaves
    assert all(f"gpu/{place[11]} (serial number " in leaves[place].source for place in expected)


def test_a_rack_whose_gpus_are_all_slow_alike_differs_nowhere() -> None:
    """A limit of the part itself must find it: `light.*.reached`, or a floor of a profile."""
    kind, words, _, place = SLOW["memory"]
    laid = [ill for gpu in range(8) for ill in ills(kind, gpu=str(gpu), **words)]
    seen = judged([tree(4, number, capture(number, 1000, laid)) for number in range(1, 5)])
    assert seen.fact("n01", place.format(3).replace(".beside.", ".among.")) == "fine"
    assert {rule for rules in seen.failed.values() for rule in rules} == {"burnin.gpu_memory_limit"}


def test_a_gpu_whose_copies_are_not_direct_is_found_in_every_pair_of_it_and_in_no_other() -> None:
    laid = ills("nvlink-slow", gpu="3", percent="98", direct="no")
    seen = judged((*few()[:4], tree(5, 5, capture(5, 1000, laid))))
    pairs = {(gpu, other) for gpu in range(8) for other in range(8) if gpu != other and 3 in (gpu, other)}
    assert set(seen.failed) == {"n05"}
    found = seen.failed["n05"]
    assert set(found["burnin.gpu_pair_direct"]) == {f"burnin.gpu/{a}.peer/{b}.direct" for a, b in pairs}
    assert found["burnin.gpu_peer_rate"] == ("burnin.gpu/3.beside.peer",)
    assert "burnin.gpu_pair_rate" not in found


SILENT = {"gpu-lost", "gpu-hang", "cuda-sticky", "802", "fan-stopped"}
"""Faults that leave GPUs without figures: a peer near a limit may then be neither slow nor fine."""


def _known_elsewhere(name: str, seen: Seen) -> bool:
    unknown = {rule for node, rules in seen.unknown.items() if node != ODD_NODE for rule in rules}
    return unknown <= ({"burnin.gpu_work", "burnin.gpu_rate", "burnin.gpu_heat"} if name in SILENT else set())


@pytest.mark.parametrize("kind", ["gpu-lost-under-load", "gpu-hang", "cuda-sticky"])
def test_of_a_gpu_that_breaks_off_the_facts_name_it_and_what_it_did_not_do_is_unknown(kind: str) -> None:
    name = {"gpu-lost-under-load": "lost", "gpu-hang": "hang", "cuda-sticky": "cuda"}[kind]
    for seed in SEEDS:
        seen, _ = with_fault(seed, kind, gpu="1")
        assert seen.fact(ODD_NODE, "burnin.gpu/1.faults") == (name,)
        assert seen.fact(ODD_NODE, f"burnin.fault/{name}.where") == "gpu/1"
        assert isinstance(seen.fact(ODD_NODE, "burnin.gpu/1.tensor.rate"), Unknown)
        assert seen.fact(ODD_NODE, "burnin.gpu/0.faults") == ()


def test_without_ready_cuda_no_gpu_was_tested_and_each_states_it() -> None:
    seen, found = with_fault(0, "fabric-manager-down")
    for index in range(8):
        assert seen.fact(ODD_NODE, f"burnin.gpu/{index}.faults") == ("cuda",)
        assert "fabric manager down" in str(seen.fact(ODD_NODE, f"burnin.gpu/{index}.mismatches"))
        assert first_finding(found.burn, f"gpu/{index}", "cuda")["code"] == 802


def test_a_link_that_narrows_is_a_fact_of_its_gpu_and_of_no_other() -> None:
    for seed in SEEDS:
        seen, _ = with_fault(seed, "link-narrow-under-load", gpu="2", lanes="8")
        widths = [seen.fact(ODD_NODE, f"burnin.gpu/{index}.link.width") for index in range(8)]
        assert widths == [8 if index == 2 else 16 for index in range(8)]
        half, whole = (seen.fact(ODD_NODE, f"burnin.gpu/{index}.link.h2d") for index in (2, 3))
        assert isinstance(half, float)
        assert isinstance(whole, float)
        assert 0.48 < half / whole < 0.52


def test_an_sm_that_computes_otherwise_is_named() -> None:
    for number, sm in enumerate((0, 17, 64, 97, 131)):
        seen, found = with_fault(SEEDS[number % len(SEEDS)], "sm-wrong", gpu="3", sm=str(sm))
        assert seen.fact(ODD_NODE, "burnin.gpu/3.odd_sms") == (str(sm),)
        assert {fault.number("sm") for fault in found.burn.faults} == {sm}
        assert {fault.of for fault in found.burn.faults} == {"gpu/3"}


def test_an_sm_that_all_wait_for_is_named() -> None:
    for number, sm in enumerate((0, 40, 131)):
        seen, _ = with_fault(SEEDS[number % len(SEEDS)], "sm-slow", gpu="2", sm=str(sm), percent="20")
        leaf = seen.trees[ODD_NODE].leaves["burnin.gpu/2.slowest_sm"]
        assert leaf.reading == pytest.approx(25.0)
        assert f"SM {sm} in " in leaf.source


def test_wrong_memory_is_named_by_its_address_and_its_bits() -> None:
    for kind, name, more in (("gpu-bitflip", "mismatch", {"bits": 1}), ("gpu-multibit", "mismatch", {"bits": 3})):
        _, found = with_fault(0, kind, gpu="4", address="0x123456780")
        first = first_finding(found.burn, "gpu/4", name)
        assert (first["address"], first["bits"]) == ("0x123456780", more["bits"])
        wrong = int(str(first["want"]), 16) ^ int(str(first["got"]), 16)
        assert wrong.bit_count() == more["bits"]
    _, found = with_fault(0, "gpu-alias", gpu="4", address="0x123456780", bit="33")
    first = first_finding(found.burn, "gpu/4", "alias")
    assert int(str(first["address"]), 16) ^ int(str(first["other"]), 16) == 1 << 33


def test_a_core_and_a_numa_node_are_named() -> None:
    for seed in SEEDS:
        seen, _ = with_fault(seed, "cpu-wrong", cpu="2")
        assert seen.fact(ODD_NODE, "burnin.cpu.odd") == ("2",)
        seen, _ = with_fault(seed, "ram-bitflip", numa="1")
        assert seen.fact(ODD_NODE, "burnin.memory/1.mismatches") == 1
        assert seen.fact(ODD_NODE, "burnin.memory/0.mismatches") == 0


def false_findings(first: int, racks: int) -> list[object]:
    """Judge clean racks, each with other chips and another seed; returns what fails or is unknown on any of them."""
    found: list[object] = []
    for seed in range(first, first + racks):
        rack = [tree(NODES, number, capture(number, 1 + seed, chips=10_000 + seed)) for number in range(1, NODES + 1)]
        seen = judged(rack)
        found += [(seed, seen.failed, seen.unknown)] if seen.failed or seen.unknown else []
    print(f"{racks} clean racks of {NODES} nodes with 8 GPUs: {len(found)} with a finding")
    return found


def test_clean_racks_have_no_finding_and_nothing_is_unknown() -> None:
    assert false_findings(0, 12 if depth.DEEP else 4) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", depth.first(1, range(10)))
def test_many_clean_racks_have_no_finding_and_nothing_is_unknown(part: int) -> None:
    assert false_findings(1000 + 100 * part, depth.cases(100)) == []


@pytest.mark.slow
def test_a_gpu_that_does_four_percent_less_in_each_clock_is_found_in_each_of_many_racks() -> None:
    seeds = depth.first(4, range(100, 200))
    lost = [seed for seed in seeds if not _only_this_slow_gpu(seed)]
    clean.cache_clear()
    print(f"{len(seeds) - len(lost)} of {len(seeds)} found and placed, nothing elsewhere")
    assert lost == []


def _only_this_slow_gpu(seed: int) -> bool:
    """Whether its work per clock is found, and nothing else but its rate, where its clock is low by chance."""
    gpu = str(seed % 8)
    seen, _ = with_fault(seed, "gpu-slow", gpu=gpu, percent="4")
    work = {"burnin.gpu_work": (f"burnin.gpu/{gpu}.among.work",)}
    rate = {"burnin.gpu_rate": (f"burnin.gpu/{gpu}.among.rate_far",)}
    return seen.failed in ({ODD_NODE: work}, {ODD_NODE: work | rate}) and not seen.unknown
