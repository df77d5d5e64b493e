"""What timedatectl prints for systemd-timesyncd: time spans, and a server that has not answered."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Unknown, Unreadable
from rackcheck.parse.host.os import timedatectl


def test_a_recorded_server_and_its_offset_are_read() -> None:
    status = timedatectl.status(shared_text("services/timedatectl-timesync-status.txt").splitlines())
    assert (status.server(), status.number("Stratum"), status.text("Leap")) == ("216.239.35.8", 1, "normal")
    assert status.seconds("Offset") == -0.005224
    assert status.seconds("Root distance") == 0.000091


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("8min 32s", 512.0), ("91us (max: 5s)", 0.000091), ("-5.224ms", -0.005224), ("-1min 30s", -90.0), ("+1h", 3600.0)],
)
def test_a_span_is_the_sum_of_its_parts_and_its_sign_is_that_of_all(text: str, seconds: float) -> None:
    assert timedatectl.span(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "5 s", "1d", "-", "(max: 5s)", "1s later"])
def test_what_is_no_span_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable, match="not a time"):
        timedatectl.span(text)


def test_before_a_servers_answer_only_its_name_is_known() -> None:
    status = timedatectl.status(["       Server: 10.0.0.1 (ntp.site)", " Packet count: 0"])
    assert status.server() == "10.0.0.1"
    silent = Absent("no server has answered yet")
    assert (status.number("Stratum"), status.text("Leap"), status.seconds("Offset")) == (silent, silent, silent)
    with pytest.raises(Unreadable, match="no 'Server'"):
        timedatectl.status([" Packet count: 0"])


def test_a_status_is_reported_by_all_its_leaves() -> None:
    rows = shared_text("services/timedatectl-timesync-status.txt").splitlines()
    values = dict(timedatectl.status(rows).facts())
    assert tuple(values) == timedatectl.LEAVES
    assert (values["server"], values["stratum"], values["offset"]) == ("216.239.35.8", 1, -0.005224)


@pytest.mark.parametrize(
    ("recording", "zone"), [("centos77", "America/Los_Angeles"), ("ubuntu1804", "Etc/UTC")], ids=["219", "237"]
)
def test_a_recorded_clock_is_read_in_the_words_of_each_systemd(recording: str, zone: str) -> None:
    values = dict(timedatectl.clock(shared_text(f"services/timedatectl-{recording}.txt").splitlines()))
    assert values == {"synchronized": True, "zone": zone, "rtc_local": False, "ntp_enabled": True, "rtc_ahead": 0.0}


@pytest.mark.parametrize(
    ("rtc", "local", "expected"),
    [
        ("Sat 2026-11-21 08:00:03", "no", 3.0),
        ("Wed 2026-02-18 08:00:00", "no", -276 * 86400.0),
        ("Sat 2026-11-21 03:00:01", "yes", 1.0),
        ("n/a", "no", Absent),
        ("Sat 2026-11-31 08:00:00", "no", Unknown),
        ("a day", "no", Unknown),
    ],
)
def test_the_hardware_clock_is_compared_with_the_clock_of_its_zone(rtc: str, local: str, expected: object) -> None:
    values = dict(timedatectl.clock([
        "Local time: Sat 2026-11-21 03:00:00 EST", "Universal time: Sat 2026-11-21 08:00:00 UTC", f"RTC time: {rtc}",
        "Time zone: America/New_York (EST, -0500)", "System clock synchronized: yes", f"RTC in local TZ: {local}",
    ]))  # fmt: skip
    found = values["rtc_ahead"]
    assert found == expected if isinstance(expected, float) else isinstance(found, expected)  # type: ignore[arg-type]


def test_a_clock_without_a_time_service_has_none_that_is_off() -> None:
    rows = ["Time zone: n/a", "System clock synchronized: no", "NTP service: {}"]
    for word, enabled in (("n/a", Absent("systemd has no time service")), ("inactive", False), ("active", True)):
        assert dict(timedatectl.clock([row.format(word) for row in rows]))["ntp_enabled"] == enabled


def test_what_was_read_of_a_clock_before_a_strange_word_stands() -> None:
    rows = timedatectl.clock(["Time zone: UTC", "NTP synchronized: yes", "RTC in local TZ: perhaps"])
    assert [next(rows), next(rows)] == [("synchronized", True), ("zone", "UTC")]
    with pytest.raises(Unreadable, match="perhaps"):
        next(rows)


@given(st.lists(st.text()), st.text() | st.from_regex(r"\A[-+0-9. a-zµ]{0,20}\Z"))
def test_nonsense_is_a_table_or_unreadable(rows: list[str], text: str) -> None:
    for given_rows in (rows, ["Server: x", f"Stratum: {text}", f"Offset: {text}", *rows]):
        for read in (timedatectl.NtpStatus.server, lambda s: s.number("Stratum"), lambda s: s.seconds("Offset")):
            with suppress(Unreadable):
                read(timedatectl.status(given_rows))
    with suppress(Unreadable):
        timedatectl.span(text)
    with suppress(Unreadable):
        assert dict(timedatectl.clock(["Time zone: UTC", f"NTP synchronized: {text}", f"NTP service: {text}", *rows]))
