"""Free memory by the size of its pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.memory import buddyinfo
from rackcheck.parse.host.memory.buddyinfo import Free

PIECES = ("Node 0, zone ", "DMA ", "Normal ", " 1", " 0 0", "9" * 15, " ", "\n")


def test_zones_of_a_recorded_machine_are_added_up_by_node() -> None:
    content = recorded(OURS / "buddyinfo" / "broken.json")[0].files["/proc/buddyinfo"]
    assert buddyinfo.nodes(content) == {"0": Free(1024 + 1024 + 1024, 1024), "1": Free(0, 0)}


def test_a_piece_of_order_n_is_two_to_the_n_pages() -> None:
    assert buddyinfo.nodes("Node 3, zone   Normal      1      1      1 \n") == {"3": Free(1 + 2 + 4, 4)}


def test_a_share_of_nothing_is_none_and_that_of_all_is_not_the_mean_of_shares() -> None:
    assert Free().unbroken() is None
    assert buddyinfo.together([Free(100, 100), Free(300, 0)]).unbroken() == 25


@pytest.mark.parametrize("content", ["Node 0, zone DMA\n", "zone DMA 1 2 3\n", "Node 0, zone DMA 1 2 x\n"])
def test_a_row_that_is_no_zone_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        buddyinfo.nodes(content)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        found = buddyinfo.nodes(content)
    except Unreadable:
        return
    assert all(0 <= (free.unbroken() or 0) <= 100 for free in found.values())
