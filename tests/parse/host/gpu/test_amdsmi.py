"""`amd-smi static --json`: each GPU once, by its address; what is not reported is absent, never another value."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Unknown, Unreadable
from rackcheck.parse.host.gpu import amdsmi


def gpu(number: int, address: str, **more: object) -> dict[str, object]:
    return {"gpu": number, "bus": {"bdf": address}, **more}


def printed(*gpus: dict[str, object]) -> str:
    return f"{json.dumps(gpus)}\n"


def test_both_forms_give_the_same_gpus() -> None:
    one = gpu(0, "0000:05:00.0")
    assert amdsmi.by_address(printed(one)) == [("0000:05:00.0", one)]
    assert amdsmi.by_address(f"{json.dumps({'gpu_data': [one]})}\n") == [("0000:05:00.0", one)]


def test_of_a_divided_gpu_the_first_part_stands_for_all_of_it() -> None:
    listed = [gpu(0, "0000:05:00.0"), gpu(1, "0000:05:00.1"), gpu(2, "0000:26:00.0")]
    assert [address for address, _ in amdsmi.by_address(printed(*listed))] == ["0000:05:00.0", "0000:26:00.0"]


def test_a_part_without_a_first_one_is_not_lost() -> None:
    assert [address for address, _ in amdsmi.by_address(printed(gpu(0, "0000:05:00.1")))] == ["0000:05:00.1"]


@pytest.mark.parametrize(
    "answer",
    [printed({"gpu": 0}), printed(gpu(0, "N/A")), printed(gpu(0, "05:00.0")), printed(gpu(0, "0000:05:00.0"))[:-1]],
)
def test_a_gpu_without_its_address_and_an_answer_that_was_cut_are_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        amdsmi.by_address(answer)


def test_a_number_where_a_text_belongs_is_spelt_and_a_text_is_no_number() -> None:
    one = gpu(0, "0000:05:00.0", asic={"oam_id": "four", "asic_serial": 17}, limit={"value": 750, "unit": "W"})
    assert amdsmi.text(one, "asic", "asic_serial") == "17"
    assert isinstance(amdsmi.number(one, "asic", "oam_id"), Unknown)
    assert amdsmi.number(one, "limit") == 750
    assert isinstance(amdsmi.number(one, "asic", "none"), Absent)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just("0000:05:00.0"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["gpu", "bus", "bdf", "gpu_data", "ras", "value", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_another_shape_is_gpus_or_unreadable(found: Any) -> None:
    try:
        gpus = amdsmi.by_address(f"{json.dumps(found)}\n")
    except Unreadable as error:
        assert str(error)
        return
    for address, one in gpus:
        assert address.startswith("0000:05:00.")
        assert isinstance(amdsmi.number(one, "gpu"), int | Absent | Unknown)
        assert isinstance(amdsmi.text(one, "ras"), str | Absent | Unknown)
