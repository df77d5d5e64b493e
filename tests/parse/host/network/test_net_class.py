"""Files of an interface in /sys/class/net: flags, speed, and what only a link has."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.network import net_class

PLACE = "/sys/class/net/eth0/device/net/eth0/speed"
DOWN = Unknown(Reason.NOT_COLLECTED, "Invalid argument")
DENIED = Unknown(Reason.DENIED, "Permission denied")


def has(content: str) -> Files:
    return Files({PLACE: content}, {})


@pytest.mark.parametrize(("content", "up", "promiscuous"), [("0x1003\n", True, False), ("0x1102\n", False, True)])
def test_each_flag_is_a_bit_of_its_own(content: str, up: bool, promiscuous: bool) -> None:
    assert net_class.flagged(has(content), PLACE, net_class.ADMIN_UP).reading is up
    assert net_class.flagged(has(content), PLACE, net_class.PROMISCUOUS).reading is promiscuous


@pytest.mark.parametrize(
    "content", ["1003", "0x", "0xzz", "0x100000000", "", "0x1_3", "0x٢٣", "0x-1", "0x+1", "0X1003"]
)
def test_what_is_no_flags_is_unparsable_and_not_down(content: str) -> None:
    shown = net_class.flagged(has(content + "\n"), PLACE, net_class.ADMIN_UP).reading
    assert isinstance(shown, Unknown)
    assert shown.reason is Reason.UNPARSABLE


@pytest.mark.parametrize(
    ("content", "values"),
    [("400000", 400.0), ("2500", 2.5), ("-1", Absent(net_class.NONE)), ("4294967295", Absent(net_class.NONE))],
)
def test_a_speed_is_in_gigabits_and_the_kernels_unknown_is_none(content: str, values: Reading) -> None:
    assert net_class.speed(has(content), PLACE).reading == values


@pytest.mark.parametrize(("content", "values"), [("full", "full"), ("unknown", Absent(net_class.NONE))])
def test_a_duplex_that_the_kernel_does_not_know_is_none(content: str, values: Reading) -> None:
    assert net_class.duplex(has(content), PLACE).reading == values


def test_only_the_refusal_of_an_interface_that_is_down_is_an_absence() -> None:
    for read in (net_class.speed, net_class.duplex):
        assert read(Files({}, {PLACE: DOWN}), PLACE).reading == Absent(net_class.NONE)
        assert read(Files({}, {PLACE: DENIED}), PLACE).reading == DENIED


def test_a_number_without_a_name_stays_a_number() -> None:
    assert [net_class.link_type(f"{n}\n") for n in (1, 32, 772, 65534)] == [
        "Ethernet",
        "InfiniBand",
        "loopback",
        "65534",
    ]
    assert [net_class.address_origin(f"{n}\n") for n in (0, 3, 9)] == ["permanent", "set", "9"]


def test_two_interfaces_of_one_device_are_each_named_once() -> None:
    places = [f"/sys/class/net/eth{a}/device/net/eth{b}/mtu" for a in (10, 2) for b in (10, 2)]
    files = Files(dict.fromkeys(places, "1500\n"), {})
    assert list(net_class.names(files, "/sys/class/net/*/device/net/*/mtu")) == ["eth2", "eth10"]


@given(st.text() | st.from_regex(r"\A0x[0-9a-z_]{0,12}\Z"))
def test_nonsense_is_a_reading_or_unreadable(content: str) -> None:
    for read in (net_class.speed, net_class.duplex):
        read(has(content), PLACE)
    net_class.flagged(has(content), PLACE, net_class.ADMIN_UP)
    for reader in (net_class.flags, net_class.gigabits, net_class.link_type, net_class.address_origin):
        with suppress(Unreadable):
            reader(content)
