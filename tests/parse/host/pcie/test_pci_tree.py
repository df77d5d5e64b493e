"""Links of /sys/bus/pci/devices: each function's parent is the one in its link, below the last host bridge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.pcie.pci_tree import BridgePath, places


def row(address: str, target: str) -> str:
    return f"lrwxrwxrwx 1 root root 0 Nov 20 21:14 {address} -> ../../../devices/{target}\n"


def test_ports_are_named_from_the_top_and_a_function_on_a_root_bus_has_none() -> None:
    answer = "total 0\n" + row("0000:15:01.0", "pci0000:15/0000:15:01.0")
    answer += row("0000:17:00.0", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0")
    assert list(places(answer)) == [
        BridgePath("0000:15:01.0", "0000:15", ()),
        BridgePath("0000:17:00.0", "0000:15", ("0000:15:01.0", "0000:16:00.0")),
    ]


def test_of_two_host_bridges_the_last_counts() -> None:
    (place,) = places(row("10000:01:00.0", "pci0000:80/0000:80:05.5/pci10000:00/10000:00:02.0/10000:01:00.0"))
    assert place == BridgePath("10000:01:00.0", "10000:00", ("10000:00:02.0",))


def test_what_stands_above_a_host_bridge_is_no_port() -> None:
    (place,) = places(row("30c3:00:00.0", "LNXSYSTM:00/ACPI0004:00/VMBUS:00/0000-30c3/pci30c3:00/30c3:00:00.0"))
    assert place == BridgePath("30c3:00:00.0", "30c3:00", ())


@pytest.mark.parametrize(
    "wrong",
    [
        row("0000:17:00.0", "pci0000:15/0000:18:00.0"),
        row("0000:17:00.0", "platform/0000:17:00.0"),
        row("0000:17:00.0", "pci0000:15/x/0000:17:00.0"),
        row("0000:17:00.0", "pci0000:15/0000:17:00.0")[:-1],
        "ls: cannot access\n",
    ],
)
def test_a_link_that_leads_elsewhere_and_a_row_that_is_none_are_unreadable(wrong: str) -> None:
    with pytest.raises(Unreadable):
        list(places(wrong))


def test_rows_before_an_invalid_one_are_returned() -> None:
    found = places(row("0000:15:01.0", "pci0000:15/0000:15:01.0") + "x\n")
    assert next(found).address == "0000:15:01.0"
    with pytest.raises(Unreadable):
        next(found)


PART = st.sampled_from(["pci0000:15", "0000:15:01.0", "0000:16:00.0", "..", "", "x"])


@given(st.text() | st.lists(PART, max_size=6).map(lambda parts: row("0000:16:00.0", "/".join(parts))))
def test_nonsense_is_places_or_unreadable(answer: str) -> None:
    try:
        found = list(places(answer))
    except Unreadable as error:
        assert str(error)
    else:
        assert all(place.bridge for place in found)
