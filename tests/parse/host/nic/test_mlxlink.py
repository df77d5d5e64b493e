"""A port of mlxlink: units, and lanes that a link has or lacks."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Unknown, Unreadable
from rackcheck.parse.host.nic import mlxlink

HEAD = "State : {}\nPhysical state : LinkUp\n"
ROWS = (
    "State : Active",
    "Physical state : LinkUp",
    "X : 1.8,2 [-1..6]",
    "X : 1..2",
    "Raw Physical Errors Per Lane : 1,2",
)


def port(*rows: str, state: str = "Active") -> mlxlink.MlxlinkPort:
    return mlxlink.port(HEAD.format(state) + "".join(f"{row}\n" for row in rows))


def test_what_is_measured_is_scaled_and_so_are_its_alarms() -> None:
    found = port("Voltage [mV] : 3261.2 [2970..3630]", "Rx Power Current [dBm] : 0,-10 [-10..10]")
    assert found.measured("Voltage [mV]", mlxlink.thousandths) == (3.2612, 2.97, 3.63)
    assert found.lanes("Rx Power Current [dBm]", mlxlink.milliwatts) == ([1.0, 0.1], 0.1, 10.0)


def test_a_scale_leaves_no_dust_of_a_division() -> None:
    assert mlxlink.thousandths(8.38) == 0.00838
    assert mlxlink.rounded(54.1) == 54.1


def test_what_is_not_measured_is_not_scaled() -> None:
    assert [type(reading) for reading in port("V : N/A").measured("V", mlxlink.thousandths)] == [Absent] * 3
    assert [type(reading) for reading in port("V : low").measured("V", mlxlink.thousandths)] == [Unknown] * 3


@pytest.mark.parametrize(
    ("state", "text", "errors"),
    [
        ("Active", "3183333,242074", [3183333, 242074]),
        ("Active", "N/A", Unknown),
        ("Polling", "N/A", []),
        ("Polling", "x", Unknown),
    ],
)
def test_only_a_link_that_is_down_has_no_lanes(state: str, text: str, errors: object) -> None:
    reading = port(f"Raw Physical Errors Per Lane : {text}", state=state).errors()
    assert isinstance(reading, Unknown) if errors is Unknown else reading == errors


@given(
    st.text()
    | st.lists(st.sampled_from(ROWS) | st.text(), max_size=9).map(
        lambda rows: "\n".join((HEAD.format("Active"), *rows))
    )
)
def test_nonsense_is_a_port_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        found = mlxlink.port(text)
        found.errors()
        found.measured("X", mlxlink.thousandths)
        found.lanes("X", mlxlink.milliwatts)
