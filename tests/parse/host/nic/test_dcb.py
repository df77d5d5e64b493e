"""`dcb -j`: tables of eight are complete or unreadable, and no other type is accepted as a number."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.nic import dcb

PFC = {"pfc_cap": 8, "macsec_bypass": False, "delay": 0, "prio_pfc": [False] * 3 + [True] + [False] * 4}
ETS = {
    "willing": False,
    "ets_cap": 8,
    "cbs": False,
    "tc_bw": [50, 50, 0, 0, 0, 0, 0, 0],
    "tc_tsa": ["ets", "ets", *["strict"] * 6],
    "prio_tc": [0, 0, 0, 1, 0, 0, 2, 0],
}


def test_the_priorities_that_pause_are_named_by_number() -> None:
    assert dcb.pfc(json.dumps(PFC)) == dcb.Pfc(pausing=(3,), most=8)


def test_each_priority_has_its_class_and_each_class_its_share() -> None:
    ets = dcb.ets(json.dumps(ETS))
    assert ets.classes == (0, 0, 0, 1, 0, 0, 2, 0)
    assert ets.algorithms[:3] == ("ets", "ets", "strict")
    assert (ets.shares[:3], ets.willing) == ((50, 50, 0), False)


def test_the_map_is_in_the_order_of_its_dscps_and_one_that_is_left_out_is_empty() -> None:
    assert dcb.dscp('{"dscp_prio":[[48,6],[26,3]]}\n') == ((26, 3), (48, 6))
    assert dcb.dscp("{}\n") == ()


@pytest.mark.parametrize(
    ("reader", "wrong"),
    [
        (dcb.pfc, {**PFC, "prio_pfc": [True] * 7}),
        (dcb.pfc, {**PFC, "prio_pfc": [1] * 8}),
        (dcb.pfc, {**PFC, "pfc_cap": True}),
        (dcb.ets, {**ETS, "tc_tsa": ["???", *["strict"] * 7]}),
        (dcb.ets, {**ETS, "tc_bw": [101, *[0] * 7]}),
        (dcb.ets, {**ETS, "prio_tc": [False] * 8}),
        (dcb.ets, {**ETS, "willing": 0}),
        (dcb.dscp, {"dscp_prio": [["AF31", 3]]}),
        (dcb.dscp, {"dscp_prio": [[64, 0]]}),
        (dcb.dscp, {"dscp_prio": [[1, 1]] * 513}),
        (dcb.dscp, {"dscp_prio": [[True, 1]]}),
    ],
)
def test_a_table_that_is_not_whole_or_holds_something_else_is_unreadable(
    reader: Callable[[str], object], wrong: object
) -> None:
    with pytest.raises(Unreadable):
        reader(json.dumps(wrong))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.sampled_from([*PFC, *ETS, "dscp_prio"]), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("reader", [dcb.pfc, dcb.ets, dcb.dscp])
@given(text=st.text() | ANYTHING.map(json.dumps) | st.just("[" * 100_000))
def test_nonsense_is_a_value_or_unreadable(reader: Callable[[str], Any], text: str) -> None:
    try:
        assert reader(text) is not None
    except Unreadable as error:
        assert str(error)
