"""Power supplies that differ from the others of their node."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry

JOINS = [join for join in registry().joins if join.name == "psu_unlike"]
KINDS = registry().catalogue.entries
LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
EMPTY = Absent("an empty slot")


def found(models: tuple[Reading, ...], capacities: tuple[Reading, ...] = ()) -> Mapping[str, Reading]:
    """The items of the differences of supplies with these models."""
    given_of: dict[str, Reading] = {"psu": tuple(str(n) for n in range(len(models)))}
    for n, model in enumerate(models):
        facts = {"model": model, "capacity": capacities[n] if capacities else 3000.0, "firmware": "1.3"}
        given_of |= {f"psu/{n}.{leaf}": reading for leaf, reading in facts.items()}
    leaves = {
        path: Leaf(reading, KINDS[path.replace(f"/{path[4]}", "/*") if "/" in path else path].kind, Plane.BMC, "")
        for path, reading in given_of.items()
    }
    return {path: leaf.reading for path, leaf in derive(JOINS, Tree(leaves)).items() if leaf.reading != ()}


@pytest.mark.parametrize(
    ("models", "odd"),
    [
        (("a", "a", "a", "b"), {"psu/3.unlike": ("model",), "psu/3.unlike/model.value": "b; most: a"}),
        (("a", "a", "a", "a", "b", "b"), {}),  # as in a recorded Supermicro server
        (("a", "b"), {}),
        (("a", "a", "a", EMPTY, EMPTY), {}),
        (("a", "a", "b", "c"), {}),
    ],
)
def test_a_supply_that_is_the_only_one_of_its_model_is_named(
    models: tuple[Reading, ...], odd: Mapping[str, Reading]
) -> None:
    assert found(models) == odd


def test_capacities_are_compared_within_a_model() -> None:
    assert found(("a", "a", "a", "b", "b"), (3000.0, 3000.0, 1400.0, 900.0, 900.0)) == {
        "psu/2.capacity_unlike": ("capacity",),
        "psu/2.capacity_unlike/capacity.value": "1400; most: 3000",
    }


@given(st.lists(st.sampled_from(["a", "b", EMPTY]), min_size=1, max_size=6).map(tuple), st.data())
def test_with_less_known_a_result_stays_or_becomes_unknown(models: tuple[Reading, ...], data: st.DataObject) -> None:
    lost = data.draw(st.sets(st.sampled_from(range(len(models)))))
    before = found(models)
    for path, reading in found(tuple(LOST if n in lost else m for n, m in enumerate(models))).items():
        assert isinstance(reading, Unknown) or before[path] == reading
