"""Listeners of /proc/net/tcp: their ports, of both families."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck_probes.network import listening as proc_tcp

ROW = (
    "   {}: {}:{} {}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1134 1 0000000000000000 100 0 0 10 0"
)
V4, V6 = "0" * 8, "0" * 32


def table(*rows: str) -> str:
    return "".join(f"{row}\n" for row in (*rows, proc_tcp.END))


def test_a_port_of_both_families_is_one_and_ports_are_in_the_order_of_their_numbers() -> None:
    rows = (ROW.format(0, V4, "C350", V4), ROW.format(1, V4, "0016", V4), ROW.format(0, V6, "0016", V6))
    assert proc_tcp.ports(table(*rows)) == ("22", "50000")
    assert proc_tcp.ports(table()) == ()


@pytest.mark.parametrize("rows", ["", "x\n", ROW.format(0, V4, "0016", V4) + "\n"])
def test_a_table_without_its_end_was_cut(rows: str) -> None:
    with pytest.raises(Unreadable, match="the output was truncated"):
        proc_tcp.ports(rows)


def test_a_connection_is_no_listener() -> None:
    row = ROW.format(0, V4, "0016", V4)
    with pytest.raises(Unreadable, match="not a listener"):
        proc_tcp.ports(table(row.replace(" 0A ", " 01 ")))


@given(st.text() | st.lists(st.just(ROW.format(0, V4, "0016", V4)) | st.text(), max_size=4).map(lambda r: table(*r)))
def test_nonsense_is_ports_or_unreadable(answer: str) -> None:
    with suppress(Unreadable):
        assert all(0 <= int(port) <= 0xFFFF for port in proc_tcp.ports(answer))
