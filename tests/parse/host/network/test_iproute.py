"""Rows of `ip -o`: addresses that belong to one machine, and VLAN interfaces."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.network import iproute

GLOBAL = "4: eth0    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever\n"
LOCAL = "4: eth0    inet6 fe80::fc:ff:fe00:1/64 scope link \\       valid_lft forever\n"
(VLANS,) = json.loads((TESTS / "recorded/vlans/written.json").read_text())["commands"].values()


def test_only_globally_reachable_addresses_are_listed_by_family() -> None:
    assert iproute.addresses(GLOBAL + LOCAL) == {"ipv4": ("192.0.2.2/24",), "ipv6": Absent("no global address")}


def test_an_address_that_the_kernel_makes_up_anew_is_nobodys() -> None:
    row = "4: eth0    inet6 fd00::2/64 scope global{} dynamic \\       valid_lft 86400sec\n"
    assert iproute.addresses(row.format(""))["ipv6"] == ("fd00::2/64",)
    assert iproute.addresses(row.format(" temporary"))["ipv6"] == Absent("no global address")


def test_a_vlan_is_read_by_its_name_and_the_interface_below() -> None:
    assert iproute.vlan(VLANS["out"].strip("\n")) == iproute.Vlan("bond0.100", "bond0", 9000, "UP", "802.1Q", 100)


@pytest.mark.parametrize("row", ["", "16: bond0.100@bond0: <UP> mtu 9000 state UP link/ether", "Device not found"])
def test_a_row_that_is_no_vlan_is_unreadable(row: str) -> None:
    with pytest.raises(Unreadable, match="not a VLAN"):
        iproute.vlan(row)


@given(st.text() | st.lists(st.sampled_from((GLOBAL, LOCAL, VLANS["out"])) | st.text(), max_size=5).map("".join))
def test_nonsense_is_rows_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        assert tuple(iproute.addresses(text)) == iproute.FAMILIES
    with suppress(Unreadable):
        iproute.vlan(text)
