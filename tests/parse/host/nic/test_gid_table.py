"""GID tables: entries in their order, and tables that were cut."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.nic import gid_table

LOCAL, MAPPED = "fe80:0000:0000:0000:a288:c2ff:fe00:0041", "0000:0000:0000:0000:0000:ffff:0a00:0001"
ROWS = ("port mlx5_1/ports/1", f"0|{LOCAL}|IB/RoCE v1|eth0", f"11|{MAPPED}|RoCE v2|eth0", f"2|{MAPPED}||", "end")


def test_entries_stand_in_the_order_of_their_numbers_whatever_order_the_shell_lists_them_in() -> None:
    ((device, port, entries),) = gid_table.tables("\n".join(ROWS) + "\n")
    assert (device, port) == ("mlx5_1", "1")
    assert [entry.index for entry in entries] == ["0", "2", "11"]


def test_what_an_entry_carries_and_whose_address_it_is_are_two_things() -> None:
    ((_, _, entries),) = gid_table.tables("\n".join(ROWS) + "\n")
    assert [(entry.second, entry.ipv4) for entry in entries] == [(False, False), (False, True), (True, True)]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (ROWS[:-1], "end of a GID table is missing"),
        (ROWS[1:], "not an entry"),
        ((*ROWS[:2], ROWS[0], "end"), "not an entry"),
        ((ROWS[0], "1|fe80::1|RoCE v2|eth0", "end"), "not an entry"),
    ],
)
def test_a_table_that_was_cut_or_spoilt_is_unreadable(rows: tuple[str, ...], why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        list(gid_table.tables("".join(f"{row}\n" for row in rows)))


def test_tables_before_a_cut_one_are_returned() -> None:
    tables = gid_table.tables("".join(f"{row}\n" for row in (*ROWS, "port mlx5_2/ports/1")))
    assert next(tables)[0] == "mlx5_1"
    with pytest.raises(Unreadable):
        next(tables)


@given(
    st.text()
    | st.lists(st.sampled_from(ROWS) | st.text(), max_size=12).map(lambda rows: "".join(f"{r}\n" for r in rows))
)
def test_nonsense_is_tables_or_unreadable(answer: str) -> None:
    with suppress(Unreadable):
        list(gid_table.tables(answer))
