"""Switches of congestion control: which of eight priorities are on; no value where one is unknown."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.text import Files
from rackcheck_probes.nic import roce_ecn as ecn

DENIED = Unknown(Reason.DENIED, "Permission denied")


def switch(number: int, point: str = ecn.NOTIFICATION, interface: str = "eth0") -> str:
    return f"/sys/class/net/{interface}/ecn/{point}/enable/{number}"


def switches(*on: int) -> dict[str, str]:
    return {switch(number): f"{int(number in on)}\n" for number in range(8)}


def test_the_priorities_that_are_on_are_named_of_each_point_alone() -> None:
    files = Files(switches(3, 5), {})
    sourced = ecn.priorities(files, "eth0", ecn.NOTIFICATION)
    assert (sourced.reading, sourced.source) == (("3", "5"), "/sys/class/net/eth0/ecn/roce_np/enable")
    assert isinstance(ecn.priorities(files, "eth0", ecn.REACTION).reading, Absent)


def test_none_on_is_an_empty_list_and_one_that_cannot_be_read_makes_all_unknown() -> None:
    assert ecn.priorities(Files(switches(), {}), "eth0", ecn.NOTIFICATION).reading == ()
    rest = {place: text for place, text in switches(3).items() if place != switch(7)}
    assert ecn.priorities(Files(rest, {switch(7): DENIED}), "eth0", ecn.NOTIFICATION).reading == DENIED


def test_an_interface_with_a_switch_of_either_point_is_named_once_and_in_order() -> None:
    named = (("eth10", ecn.NOTIFICATION), ("eth2", ecn.REACTION), ("eth2", ecn.NOTIFICATION))
    files = Files({switch(0, point, name): "1\n" for name, point in named}, {})
    assert ecn.interfaces(files) == ["eth2", "eth10"]


@given(st.text())
def test_nonsense_is_priorities_or_unknown(text: str) -> None:
    reading = ecn.priorities(Files(switches() | {switch(4): text}, {}), "eth0", ecn.NOTIFICATION).reading
    assert isinstance(reading, tuple | Unknown)
