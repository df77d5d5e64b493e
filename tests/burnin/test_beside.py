"""The rates of GPUs, compared with those of the other GPUs of their node."""

import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry

JOINS = [join for join in registry().joins if join.name == "burnin_beside"]
KINDS = registry().catalogue.entries
LOST = Unknown(Reason.NOT_TESTED, "hang")
FACTS = ("memory.copy", "memory.verify", "link.h2d", "link.d2h", "tensor.rate", "tensor.power")
Pairs = Mapping[tuple[int, int], Reading]


def found(
    copies: Sequence[Reading],
    pairs: Pairs | None = None,
    models: Sequence[str] = (),
    of_nvlink: Reading | None = None,
    lanes: Reading = 16,
) -> Mapping[str, Reading]:
    """The comparisons of GPUs with these rates of copies within memory, and these rates between each other."""
    given_of: dict[str, Reading] = {"burnin.gpu": tuple(str(n) for n in range(len(copies)))}
    for n, copy in enumerate(copies):
        at = f"burnin.gpu/{n}"
        given_of |= {f"{at}.{fact}": 100.0 for fact in FACTS} | {f"{at}.memory.copy": copy}
        given_of |= {f"{at}.model": models[n] if models else "H100"}
        given_of |= {f"{at}.link.max_generation": 5, f"{at}.link.max_width": lanes}
        mine = {other: rate for (one, other), rate in (pairs or {}).items() if one == n}
        given_of[f"{at}.peer"] = tuple(str(other) for other in mine)
        given_of |= {f"{at}.peer/{other}.rate": rate for other, rate in mine.items()}
        given_of |= {f"{at}.peer/{other}.of_nvlink": of_nvlink for other in mine if of_nvlink is not None}
    leaves = {
        path: Leaf(reading, KINDS[re.sub(r"/[0-9]+", "/*", path)].kind, Plane.BURNIN, "")
        for path, reading in given_of.items()
    }
    return {path: leaf.reading for path, leaf in derive(JOINS, Tree(leaves)).items() if path not in given_of}


def copies_of(rates: Sequence[Reading], models: Sequence[str] = ()) -> list[Reading]:
    value = found(rates, models=models)
    return [value[f"burnin.gpu/{n}.beside.memory.copy"] for n in range(len(rates))]


def test_a_slow_gpu_is_below_the_others_and_no_other_gpu_is() -> None:
    assert copies_of([100.0] * 7 + [10.0]) == pytest.approx([0.0] * 7 + [-90.0])
    assert copies_of([100.0, 50.0]) == pytest.approx([100.0, -50.0])
    assert copies_of([100.0, 0.0, 100.0]) == pytest.approx([0.0, -100.0, 0.0])


def test_half_of_the_gpus_slow_are_below_the_other_half() -> None:
    assert copies_of([100.0] * 4 + [50.0] * 4)[4:] == pytest.approx([-50.0] * 4)


def test_a_gpu_is_compared_with_its_model_only_and_alone_it_is_not_compared() -> None:
    values = copies_of([100.0, 10.0, 11.0], ("H100", "L4", "L4"))
    assert isinstance(values[0], Absent)
    assert values[1:] == pytest.approx([(10 / 11 - 1) * 100, 10.0])


def test_with_a_gpu_without_a_measurement_nothing_is_compared() -> None:
    values = copies_of([100.0, LOST, 50.0])
    assert values[1] is LOST
    assert isinstance(values[0], Unknown)
    assert isinstance(values[2], Unknown)
    assert "hang" in values[2].detail
    assert copies_of([100.0, LOST, 50.0, 100.0], ("H100", "L4", "H100", "H100"))[2] == pytest.approx(-50.0)


def test_the_message_states_the_unit() -> None:
    values: list[dict[str, Reading]] = [{**dict.fromkeys(FACTS, rate), "model": "H100"} for rate in (50.0, 100.0)]
    leaves = {
        f"burnin.gpu/{n}.{fact}": Leaf(reading, KINDS[f"burnin.gpu/*.{fact}"].kind, Plane.BURNIN, "")
        for n, own in enumerate(values)
        for fact, reading in own.items()
    }
    leaves["burnin.gpu"] = Leaf(("0", "1"), KINDS["burnin.gpu"].kind, Plane.BURNIN, "")
    units = {"tensor.rate": "TFLOP/s", "tensor.power": "W"}
    for fact in FACTS:
        unit, source = units.get(fact, "GB/s"), derive(JOINS, Tree(leaves))[f"burnin.gpu/0.beside.{fact}"].source
        assert source == f"burn-in: 50 {unit}, compared with 100 {unit} of the other GPU"
        assert unit == getattr(KINDS[f"burnin.gpu/*.{fact}"].kind, "unit", None)


@pytest.mark.parametrize("lanes", [16, LOST])
def test_the_only_gpu_of_a_node_has_no_copies_to_compare_also_if_its_slot_could_not_be_read(lanes: Reading) -> None:
    assert isinstance(found([100.0], lanes=lanes)["burnin.gpu/0.beside.peer"], Absent)
    two = found([100.0] * 2, {(0, 1): 400.0, (1, 0): 400.0}, lanes=lanes)
    assert isinstance(two["burnin.gpu/0.beside.peer"], Unknown) is (lanes is LOST)


NVLINK = 400.0
WHOLE: Pairs = {(a, b): NVLINK for a in range(4) for b in range(4) if a != b}


def test_a_gpu_with_slow_links_is_named_and_its_pairs_do_not_stand_out() -> None:
    value = found([100.0] * 4, {pair: NVLINK / 50 if 2 in pair else rate for pair, rate in WHOLE.items()})
    assert [value[f"burnin.gpu/{n}.beside.peer"] for n in range(4)] == pytest.approx([0.0, 0.0, -98.0, 0.0])
    assert all(reading >= 0 for path, reading in value.items() if path.endswith(".beside") and reading is not None)  # type: ignore[operator]


def test_one_slow_pair_stands_out_and_neither_of_its_gpus_does() -> None:
    value = found([100.0] * 4, {**WHOLE, (1, 3): NVLINK / 2})
    assert [value[f"burnin.gpu/{n}.beside.peer"] for n in range(4)] == pytest.approx([0.0] * 4)
    assert {
        path for path, reading in value.items() if path.endswith(".beside") and reading == pytest.approx(-50.0)
    } == {"burnin.gpu/1.peer/3.beside"}


def test_copies_over_pcie_are_not_compared() -> None:
    value = found([100.0] * 4, dict.fromkeys(WHOLE, 40.0))
    assert all(isinstance(value[f"burnin.gpu/{n}.beside.peer"], Absent) for n in range(4))
    assert isinstance(value["burnin.gpu/0.peer/1.beside"], Absent)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=8), st.floats(0.001, 1000))
def test_a_comparison_does_not_depend_on_the_unit_nor_on_the_order(rates: list[float], unit: float) -> None:
    before = copies_of(rates)
    assert copies_of([rate * unit for rate in rates]) == pytest.approx(before, abs=1e-6)
    assert copies_of(rates[::-1]) == pytest.approx(before[::-1], abs=1e-9)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=8))
def test_the_fastest_gpu_is_never_below_the_others(rates: list[float]) -> None:
    value = copies_of(rates)[rates.index(max(rates))]
    assert isinstance(value, float)
    assert value >= 0


@pytest.mark.parametrize(
    ("fast", "of_nvlink", "kind"),
    [(5.0, 2.0, Unknown), (5.0, Absent("no NVLink"), Absent), (400.0, 2.0, Absent)],
    ids=["all slow", "no NVLinks", "one bridge"],
)
def test_copies_slower_than_pcie_on_every_pair_are_no_proof_of_nvlinks(
    fast: float, of_nvlink: Reading, kind: type
) -> None:
    """The slot carries 63 GB/s; two of four GPUs may have a bridge."""
    pairs = {(one, other): 5.0 for one in range(4) for other in range(4) if one != other} | {(0, 1): fast, (1, 0): fast}
    given_of = found([100.0] * 4, pairs, of_nvlink=of_nvlink)
    assert {type(given_of[f"burnin.gpu/{n}.beside.peer"]) for n in range(4)} == {kind}
