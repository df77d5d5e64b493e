"""CPU sensors: every temperature belongs to its own package, and an unexpected row makes the answer unreadable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck_probes.cpu import heat as hwmon


def recorded_packages(case: str) -> list[hwmon.Package]:
    capture, _ = recorded(OURS / "cpu_heat" / f"{case}.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    return list(hwmon.packages(output.out.splitlines()[:-1]))


def test_recorded_packages_have_their_own_temperatures() -> None:
    first, second = recorded_packages("coretemp")
    assert (first.device, first.driver) == ("coretemp.0", "coretemp")
    assert (first.files["temp1_input"], first.files["temp1_crit"], first.hottest()) == (50, 93, 50)
    assert (second.files["temp1_max"], second.hottest()) == (87, 52)


def test_the_hottest_of_amds_sensors_may_be_a_die_and_not_tctl() -> None:
    assert [package.hottest() for package in recorded_packages("k10temp")] == [53.125, 48]


def test_limits_are_no_readings() -> None:
    (package,) = hwmon.packages(["sensor coretemp.0 coretemp", "temp1_crit 93000"])
    assert package.hottest() is None


@pytest.mark.parametrize("row", ["", "temp1_input hot", "temp1_label 1", "sensor x acpitz", "sensor  coretemp", "²"])
def test_a_row_that_is_neither_ends_the_reading_after_the_packages_before_it(row: str) -> None:
    walk = hwmon.packages(["sensor coretemp.0 coretemp", row])
    assert next(walk).driver == "coretemp"
    with pytest.raises(Unreadable, match="neither a sensor nor a temperature"):
        next(walk)


def test_a_temperature_before_any_sensor_is_nobodys() -> None:
    with pytest.raises(Unreadable):
        list(hwmon.packages(["temp1_input 50000"]))


@given(st.lists(st.sampled_from(["sensor a k10temp", "temp1_input 1", "temp9_crit -5"]) | st.text(), max_size=8))
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        for package in hwmon.packages(rows):
            assert isinstance(package.hottest(), float | None)
    except Unreadable:
        pass
