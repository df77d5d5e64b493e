"""Units, unit files and limits as systemctl prints them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.os import systemctl

PIECES = (
    "Id=",
    "ssh.service",
    "LoadState=",
    "not-found",
    "user@",
    "@.service",
    "a.timer ",
    " alias",
    "infinity",
    " ",
    "=",
    "\n",
)


def shown() -> list[str]:
    (output,) = recorded(OURS / "service_limits" / "written.json")[0].commands.values()
    assert isinstance(output, Output)
    return output.out.split("\n")[:-2]


def test_of_the_recorded_units_those_of_logins_and_those_that_are_gone_are_no_services() -> None:
    units = list(systemctl.units(shown()))
    assert [unit["Id"] for unit in units] == [
        "docker.service", "slurmd.service", "cron.service", "sshd@7.service", "gone.service",
    ]  # fmt: skip
    assert [systemctl.service(unit) for unit in units] == ["docker", "slurmd", "cron", None, None]


def test_a_service_without_a_file_that_still_runs_is_one() -> None:
    unit = {"Id": "old.service", "LoadState": "not-found", "ActiveState": "active"}
    assert systemctl.service(unit) == "old"
    assert systemctl.service({**unit, "Id": "old.socket"}) is None


def test_a_unit_without_a_needed_property_is_unreadable_and_earlier_ones_are_returned() -> None:
    units = systemctl.units(["Id=a.service", "Names=a.service", "", "Id=b.service"], ("Id", "Names"))
    assert next(units) == {"Id": "a.service", "Names": "a.service"}
    with pytest.raises(Unreadable, match=r"b\.service without Names"):
        next(units)


def test_templates_aliases_and_what_logins_start_are_no_files_of_a_service_of_their_own() -> None:
    rows = [
        "cron.service                enabled  enabled",
        "getty@.service              enabled  enabled",
        "dbus-org.service            alias    -",
        "user-runtime-dir@7.service  static   -",
        "nvidia-persistenced.service masked   enabled",
    ]
    assert list(systemctl.service_files(rows)) == [
        ("cron.service", "enabled"),
        ("nvidia-persistenced.service", "masked"),
    ]
    with pytest.raises(Unreadable, match="not a unit file and its state"):
        list(systemctl.service_files(["cron.service"]))


def test_a_timer_that_is_not_loaded_is_inactive_and_one_without_a_file_transient() -> None:
    loaded = [
        "\u25cf fstrim.timer loaded active waiting Discard unused blocks once a week",
        "run-u7.timer loaded active waiting /usr/bin/true",
        "gone.timer not-found inactive dead gone.timer",
    ]
    files = [
        "fstrim.timer enabled enabled",
        "mdcheck_start.timer static -",
        "backup@.timer static -",
        "old.timer alias -",
    ]
    assert systemctl.timers(loaded, files) == [
        systemctl.Timer("fstrim", "active", "enabled"),
        systemctl.Timer("mdcheck_start", "inactive", "static"),
        systemctl.Timer("run-u7", "active", "transient"),
    ]


@pytest.mark.parametrize("rows", [["ssh.service loaded active running x"], ["fstrim.timer"], ["a.timer loaded active"]])
def test_a_row_that_is_no_timer_is_unreadable(rows: list[str]) -> None:
    with pytest.raises(Unreadable):
        systemctl.timers(rows, [])


def test_both_ways_to_write_infinity_are_unlimited_and_bytes_become_kib() -> None:
    assert systemctl.limit("infinity") == systemctl.limit("18446744073709551615") == math.inf
    assert systemctl.limit_in_kib("18446744073709551615") == math.inf
    assert systemctl.limit_in_kib("67108864") == 65_536
    assert systemctl.limit("524288") == 524_288


@pytest.mark.parametrize("value", [None, ""])
def test_a_property_that_this_systemd_does_not_know_is_absent(value: str | None) -> None:
    assert isinstance(systemctl.limit(value), Absent)
    assert isinstance(systemctl.limit_in_kib(value), Absent)


@given(st.lists(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join)))
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    for unit in systemctl.units(rows):
        name = systemctl.service(unit)
        assert name is None or f"{name}.service" == unit["Id"]
    for row in rows:
        try:
            assert all(state for _, state in systemctl.service_files([row]))
            assert isinstance(systemctl.limit(row), int | float | Absent)
            assert len(systemctl.timers([row], [row])) <= 1
        except Unreadable:
            continue
    try:
        assert all("Id" in unit for unit in systemctl.units(rows, ("Id",)))
    except Unreadable as error:
        assert "without Id" in str(error)
