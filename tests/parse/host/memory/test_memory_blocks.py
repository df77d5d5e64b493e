"""Blocks of memory by their state: counted only where the state of every block is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.parse.host.memory import memory_blocks

ROWS = ["blocks 64", "      3 offline", "     61 online", "size 80000000", "auto online_movable"]


def test_the_rows_of_a_machine_with_blocks_offline_are_read() -> None:
    found = memory_blocks.blocks(ROWS)
    assert (found.having("online"), found.having("offline"), found.having("going-offline")) == (61, 3, 0)
    assert found.words == {"size": "80000000", "auto": "online_movable"}
    assert memory_blocks.mebibytes(found.words["size"]) == 2048


@pytest.mark.parametrize("rows", [ROWS[:2], ROWS[1:], ["blocks 0"], []])
def test_unless_every_block_reports_its_state_no_number_is_known(rows: list[str]) -> None:
    reading = memory_blocks.blocks(rows).having("online")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED


@pytest.mark.parametrize("size", ["", "0x8000000", "8000000 ", "F", "1" * 17, "-1"])
def test_a_size_that_is_not_in_the_kernels_hexadecimal_is_unreadable(size: str) -> None:
    with pytest.raises(Unreadable, match="not a size in hexadecimal"):
        memory_blocks.mebibytes(size)


@given(
    st.lists(
        st.sampled_from([*ROWS, "² online", "blocks", "blocks x", "7 blocks", "1 2 3", ""]) | st.text(), max_size=8
    )
)
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        found = memory_blocks.blocks(rows)
        assert isinstance(found.having("online"), int | Unknown)
        memory_blocks.mebibytes(found.words.get("size", "0"))
    except Unreadable:
        pass
