"""The sensors of Grace CPUs: each belongs to its own socket, and a meter without a value is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.gpu import grace

ZONE = ["is Thermal Zone Skt0 TJMax", "temp 43900", "trip_point_0_type critical", "trip_point_0_temp 104500"]
METER = ["is CPU Power Socket 1", "power1_average 125500000"]


def recorded_rows() -> list[str]:
    capture, _ = recorded(OURS / "cpu_grace" / "two-sockets.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    return output.out.splitlines()[:-1]


def test_recorded_sensors_stand_below_their_sockets_and_those_of_other_names_nowhere() -> None:
    found = grace.sockets(recorded_rows())
    assert {socket: list(sensors) for socket, sensors in found.items()} == {
        "0": [grace.ZONE, "CPU", "Grace", "SysIO", "Module"],
        "1": [grace.ZONE, "CPU"],
    }
    assert found["1"]["CPU"] == {"power1_average": "98000000"}  # not the 7 of the sensor behind it


def test_a_trip_point_is_found_by_its_kind_whatever_its_number() -> None:
    zone = grace.sockets(recorded_rows())["0"][grace.ZONE]
    assert (grace.trip(zone, "critical"), grace.trip(zone, "passive")) == (104.5, 101.5)
    assert grace.trip(zone, "hot") == Absent("no hot trip point")


def test_a_meter_without_a_value_is_unknown_and_a_missing_meter_is_absent() -> None:
    assert grace.watts({"power1_average": "125500000"}, "power1_average") == 125.5
    assert grace.watts({}, "power1_average") == Unknown(Reason.NOT_COLLECTED, "power1_average has no value")
    assert grace.watts({}, "power1_cap") == Absent("the power meter has no limit")
    assert grace.watts(None, "power1_average") == Absent("no such power meter")


def test_a_temperature_that_is_no_number_is_unreadable() -> None:
    assert grace.celsius("43900") == 43.9
    with pytest.raises(Unreadable):
        grace.trip({"trip_point_0_type": "critical", "trip_point_0_temp": "hot"}, "critical")


@given(
    st.lists(
        st.sampled_from([*ZONE, *METER, "is ", "temp", "temp x", "is Thermal Zone Skt1 TJMax"]) | st.text(), max_size=9
    )
)
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    for sensors in grace.sockets(rows).values():
        for sensor in sensors.values():
            try:
                grace.trip(sensor, "critical")
                grace.watts(sensor, "power1_average")
            except Unreadable:
                pass
