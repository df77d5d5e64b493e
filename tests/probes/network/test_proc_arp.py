"""The table of neighbours: whether a router's entry is complete."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck_probes.network import default_router as proc_arp

HEAD = "IP address       HW type     Flags       HW address            Mask     Device\n"
ROW = "{:<16} 0x1         {:<11} 02:fc:00:00:00:05     *        {}\n"


@pytest.mark.parametrize(("flags", "complete"), [("0x2", True), ("0x6", True), ("0x0", False), ("0x4", False)])
def test_an_entry_is_complete_by_its_flag(flags: str, complete: bool) -> None:
    assert proc_arp.answered(HEAD + ROW.format("192.0.2.1", flags, "eth0"), "192.0.2.1", "eth0") is complete


def test_the_same_address_on_another_interface_is_another_neighbour() -> None:
    table = HEAD + ROW.format("192.0.2.1", "0x0", "eth1") + ROW.format("192.0.2.1", "0x2", "eth0")
    assert proc_arp.answered(table, "192.0.2.1", "eth0") is True
    assert proc_arp.answered(table, "192.0.2.9", "eth0") is None


@pytest.mark.parametrize("table", ["", "Iface\n", HEAD + "192.0.2.1 0x1 0xzz a * eth0\n", HEAD + "short\n"])
def test_another_table_is_unreadable_and_gives_no_router(table: str) -> None:
    with pytest.raises(Unreadable):
        proc_arp.answered(table, "192.0.2.1", "eth0")


@given(st.text() | st.text().map(lambda text: HEAD + text + "\n"), st.text())
def test_nonsense_is_an_answer_or_unreadable(table: str, address: str) -> None:
    with suppress(Unreadable):
        assert proc_arp.answered(table, address, "eth0") in {True, False, None}
