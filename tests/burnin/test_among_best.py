"""Rates and power, compared with the better GPUs of the same kind on all nodes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.compare import compared
from rackcheck.probe.group import Seat
from rackcheck.probe.registry import registry
from rackcheck_probes.burnin.among_best import APART, METRICS

COMPARISONS = [each for each in registry().comparisons if each.name == "burnin_among_best"]
KINDS = registry().catalogue.entries
LOST = Unknown(Reason.NOT_TESTED, "hang")
MEASURED = tuple(metric.leaf for metric in METRICS)
NVLINK = 360.0

Facts = dict[str, Reading]
Found = Mapping[tuple[str, str], Reading]


@dataclass
class Machine:
    """A node whose GPUs all have the same values: `rates` are factors of what is measured, by fact."""

    gpus: int = 8
    rates: Mapping[str, float] = field(default_factory=dict)
    model: str = "H100"
    limit: float = 700.0
    default: float = 700.0
    slot: float = 63.0
    processor: str = "Xeon"
    nvlinks: bool = True
    direct: bool = True

    def facts(self) -> Facts:
        names = tuple(str(n) for n in range(self.gpus))
        facts: Facts = {"burnin.gpu": names, "burnin.cpu.model": self.processor}
        for name in names:
            at = f"burnin.gpu/{name}"
            facts |= {f"{at}.model": self.model, f"{at}.limit": self.limit, f"{at}.limit_default": self.default}
            facts |= {f"{at}.light.link.{way}.limit": self.slot for way in ("h2d", "d2h")}
            facts |= {f"{at}.link.max_generation": 5, f"{at}.link.max_width": 16}
            facts |= {f"{at}.{leaf}": 50.0 * self.rates.get(leaf, 1.0) for leaf in MEASURED if leaf != "peer"}
            others = tuple(other for other in names if other != name)
            facts[f"{at}.peer"] = others
            for other in others:
                rate = (NVLINK if self.nvlinks else 20.0) * self.rates.get("peer", 1.0)
                facts[f"{at}.peer/{other}.rate"] = rate
                facts[f"{at}.peer/{other}.direct"] = self.direct
                facts[f"{at}.peer/{other}.of_nvlink"] = rate / 4.5 if self.nvlinks else Absent("no NVLinks")
        return facts


def found(nodes: Sequence[Facts]) -> Found:
    """The comparisons of a fleet, by node and fact."""
    seats = [Seat(f"n{number}") for number in range(len(nodes))]
    trees = {seat.name: Tree(_leaves(facts)) for seat, facts in zip(seats, nodes, strict=True)}
    leaves = compared(COMPARISONS, seats, trees)
    return {(node, path): leaf.reading for node, own in leaves.items() for path, leaf in own.items()}


def _leaves(facts: Facts) -> dict[str, Leaf]:
    return {
        path: Leaf(reading, KINDS[re.sub(r"/[0-9]+", "/*", path)].kind, Plane.BURNIN, "")
        for path, reading in facts.items()
    }


def of(value: Found, node: int, leaf: str, gpu: int = 0) -> Reading:
    return value[f"n{node}", f"burnin.gpu/{gpu}.among.{leaf}"]


def kinds(value: Found, node: int, leaf: str) -> set[object]:
    """The outcomes of a node's GPUs: words, or the types of other readings."""
    return {
        reading if isinstance(reading, str) else type(reading)
        for (name, path), reading in value.items()
        if name == f"n{node}" and path.endswith(f".among.{leaf}")
    }


def fleet(*machines: Machine) -> Found:
    return found([machine.facts() for machine in machines])


@pytest.mark.parametrize("leaf", MEASURED)
def test_a_node_whose_gpus_are_all_slow_is_found_and_no_other_metric_of_it_and_no_other_node(leaf: str) -> None:
    value = fleet(Machine(), Machine(), Machine(), Machine(rates={leaf: 0.5}))
    slow = {place for place, reading in value.items() if reading == "slow"}
    assert slow == {("n3", f"burnin.gpu/{gpu}.among.{leaf}") for gpu in range(8)}
    assert set(value.values()) == {"slow", "fine"}


@pytest.mark.parametrize(("left", "word"), [(1 - APART - 0.01, "slow"), (1 - APART + 0.01, "fine"), (10.0, "fine")])
def test_the_bound_is_below_the_upper_quartile(left: float, word: str) -> None:
    assert kinds(fleet(*[Machine()] * 4, Machine(rates={"memory.copy": left})), 4, "memory.copy") == {word}


def test_fewer_than_three_quarters_of_the_nodes_slow_are_found_and_three_of_four_are_not() -> None:
    slow, whole = Machine(rates={"link.d2h": 0.5}), Machine()
    assert kinds(fleet(slow, whole), 0, "link.d2h") == {"slow"}
    assert kinds(fleet(slow, whole), 1, "link.d2h") == {"fine"}
    assert kinds(fleet(slow, slow, whole), 0, "link.d2h") == {"slow"}
    assert kinds(fleet(slow, slow, slow, whole), 0, "link.d2h") == {"fine"}


def test_nodes_of_one_gpu_each_are_compared() -> None:
    value = fleet(Machine(gpus=1), Machine(gpus=1, rates={"tensor.power": 0.5}))
    assert [of(value, node, "tensor.power") for node in (0, 1)] == ["fine", "slow"]
    assert isinstance(of(value, 0, "peer"), Absent)


# ---- sound machines that differ --------------------------------------------------------------------------------------

HALF_LINK = {"link.h2d": 0.5, "link.d2h": 0.5}
SOUND = {
    "slot of the generation before": (Machine(slot=31.5, rates=HALF_LINK), HALF_LINK),
    "uplink that two GPUs share": (Machine(slot=31.5, rates=HALF_LINK), HALF_LINK),
    "other processor": (Machine(processor="EPYC", rates=HALF_LINK), HALF_LINK),
    "board of four GPUs": (Machine(gpus=4, rates={"peer": 1 / 3} | HALF_LINK), {"peer", *HALF_LINK}),
    "lower limit in force": (Machine(limit=400.0, rates={"tensor.power": 0.5, "tensor.rate": 0.6}),
                             {"tensor.power", "tensor.rate"}),
    "other default limit": (Machine(default=400.0, rates=dict.fromkeys(MEASURED, 0.5)), MEASURED),
    "other model": (Machine(model="L4", rates=dict.fromkeys(MEASURED, 0.1)), MEASURED),
    "no NVLinks": (Machine(nvlinks=False), {"peer"}),
}  # fmt: skip
"""Nodes that differ from the others without a fault, and what is then not compared with these."""


@pytest.mark.parametrize("name", SOUND)
def test_a_node_of_another_kind_is_not_compared_and_two_of_it_are_compared_with_each_other(name: str) -> None:
    machine, leaves = SOUND[name]
    alone = fleet(Machine(), Machine(), machine)
    assert "slow" not in alone.values()
    assert {leaf for leaf in MEASURED if kinds(alone, 2, leaf) == {Absent}} == set(leaves)
    assert all(kinds(alone, node, leaf) == {"fine"} for node in (0, 1) for leaf in MEASURED)
    two = fleet(Machine(), Machine(), machine, machine)
    assert "slow" not in two.values()
    compared_too = set(leaves) - ({"peer"} if not machine.nvlinks else set())
    assert all(kinds(two, 3, leaf) == {"fine"} for leaf in compared_too)


@pytest.mark.parametrize("lost", ["", "burnin.cpu.model", "burnin.gpu/2.limit_default", "burnin.gpu/2.memory.copy"])
def test_in_one_node_alone_nothing_is_compared_among_nodes_whatever_is_unknown(lost: str) -> None:
    facts = Machine().facts()
    value = found([facts | {lost: LOST} if lost else facts])
    assert {type(reading) for reading in value.values()} == {Absent}


# ---- copies between GPUs ---------------------------------------------------------------------------------------------


def test_nvlinks_that_are_all_slower_than_pcie_are_found_by_the_other_nodes() -> None:
    value = fleet(Machine(), Machine(), Machine(rates={"peer": 0.02}, direct=False))
    assert kinds(value, 2, "peer") == {"slow"}
    assert kinds(value, 0, "peer") == {"fine"}


def test_the_message_states_rate_limit_peers_and_how_many_copies_are_direct() -> None:
    nodes = [Machine().facts(), Machine(rates={"peer": 0.1}, direct=False).facts()]
    seats = [Seat("n0"), Seat("n1")]
    trees = {seat.name: Tree(_leaves(facts)) for seat, facts in zip(seats, nodes, strict=True)}
    source = compared(COMPARISONS, seats, trees)["n1"]["burnin.gpu/3.among.peer"].source
    assert source == (
        "burn-in: median rate of copies to and from other GPUs over NVLink: 36 GB/s, -90.0 % against 360 GB/s of the "
        "upper quartile of 16 GPUs of its kind on 2 nodes, limit -30 %; 0 of 14 copies direct"
    )


# ---- what is not known -----------------------------------------------------------------------------------------------


def test_a_gpu_without_a_measurement_is_unknown_and_the_slow_node_is_found_all_the_same() -> None:
    nodes = [Machine().facts() for _ in range(5)] + [Machine(rates={"memory.copy": 0.5}).facts()]
    nodes[0]["burnin.gpu/3.memory.copy"] = LOST
    value = found(nodes)
    assert of(value, 0, "memory.copy", 3) is LOST
    assert {of(value, 0, "memory.copy", gpu) for gpu in range(8) if gpu != 3} == {"fine"}
    assert kinds(value, 5, "memory.copy") == {"slow"}


@pytest.mark.parametrize(("nodes", "kind"), [(2, Unknown), (3, Unknown), (4, str), (9, str)])
def test_with_a_silent_node_no_gpu_passes_unless_every_answer_of_it_leads_to_the_same(nodes: int, kind: type) -> None:
    silent: Facts = {"burnin.gpu": LOST}
    value = found([silent, *[Machine().facts() for _ in range(nodes - 1)]])
    assert {type(of(value, 1, leaf, gpu)) for leaf in MEASURED for gpu in range(8)} == {kind}


@pytest.mark.parametrize("fact", ["limit_default", "light.link.h2d.limit", "model"])
def test_a_gpu_of_an_unknown_kind_is_unknown_and_may_be_a_peer_of_all(fact: str) -> None:
    nodes = [Machine().facts() for _ in range(2)]
    for gpu in range(8):
        nodes[0][f"burnin.gpu/{gpu}.{fact}"] = LOST
    value = found(nodes)
    assert kinds(value, 0, "link.h2d") == {Unknown}
    assert kinds(value, 1, "link.h2d") == {Unknown}
    assert "hang" in getattr(of(value, 0, "link.h2d"), "detail", "")


@pytest.mark.parametrize("reading", [LOST, Absent("rackcheck cannot compute this limit")])
def test_gpus_whose_slots_could_not_be_read_are_not_of_one_kind(reading: Reading) -> None:
    """One node has slots of half the rate: nobody knows which, so it must not be found, and the other must not pass."""
    nodes = [Machine().facts(), Machine(rates={"link.h2d": 0.5}).facts()]
    for facts in nodes:
        facts |= {f"burnin.gpu/{gpu}.light.link.h2d.limit": reading for gpu in range(8)}
    value = found(nodes)
    assert {type(of(value, node, "link.h2d", gpu)) for node in (0, 1) for gpu in range(8)} == {Unknown}
    assert kinds(value, 0, "link.d2h") == {"fine"}


def test_the_only_gpu_of_a_node_has_no_copies_to_other_gpus_also_if_its_slot_could_not_be_read() -> None:
    nodes = [Machine(gpus=1).facts() for _ in range(2)]
    nodes[0] |= {f"burnin.gpu/0.link.{leaf}": LOST for leaf in ("max_generation", "max_width")}
    assert {type(of(found(nodes), node, "peer")) for node in (0, 1)} == {Absent}
    pair = [Machine(gpus=2).facts() for _ in range(2)]
    pair[0] |= {f"burnin.gpu/0.link.{leaf}": LOST for leaf in ("max_generation", "max_width")}
    assert kinds(found(pair), 0, "peer") == {Unknown}


def test_without_a_default_power_limit_of_any_gpu_no_gpu_is_compared() -> None:
    nodes = [Machine().facts(), Machine(rates=dict.fromkeys(MEASURED, 0.5)).facts()]
    for facts in nodes:
        facts |= {f"burnin.gpu/{gpu}.limit_default": LOST for gpu in range(8)}
    assert {type(reading) for reading in found(nodes).values()} == {Unknown}


def test_gpus_that_are_all_at_zero_do_not_pass() -> None:
    zero = Machine(rates={"link.h2d": 0.0})
    assert kinds(fleet(zero, zero), 0, "link.h2d") == {Unknown}


def machines(gpus: st.SearchStrategy[int]) -> st.SearchStrategy[list[Machine]]:
    each = st.builds(
        Machine,
        gpus=gpus,
        rates=st.dictionaries(st.sampled_from(MEASURED), st.sampled_from([0.02, 0.5, 0.72, 2.0]), max_size=3),
        limit=st.sampled_from([700.0, 400.0]),
        slot=st.sampled_from([63.0, 31.5]),
        processor=st.sampled_from(["Xeon", "EPYC"]),
        nvlinks=st.booleans(),
    )
    return st.lists(each, min_size=1, max_size=6)


@pytest.mark.parametrize("listed", [True, False])
@settings(deadline=None, max_examples=75)
@given(st.data())
def test_a_fact_that_becomes_unknown_turns_no_outcome_but_to_unknown(listed: bool, data: st.DataObject) -> None:
    """A node that does not list its GPUs is assumed to have no more than the others have."""
    drawn = data.draw(machines(st.integers(1, 3) if listed else st.just(2)))
    nodes = [machine.facts() for machine in drawn]
    before = found(nodes)
    places = [(n, path) for n, facts in enumerate(nodes) for path in facts if not (listed and path == "burnin.gpu")]
    for n, path in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=6)):
        nodes[n][path] = LOST
    for place, reading in found(nodes).items():
        assert isinstance(reading, Unknown) or reading == before[place], place
