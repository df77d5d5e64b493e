"""ntpd's variables, and the words for no value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.os import ntpq

PIECES = ("leap=", "00", "11", ", ", "stratum=5", 'version="ntpd 4.2.8p12"', "refused", "no ntpq", "=", '"', "\n")


def out(case: str) -> str:
    (output,) = recorded(OURS / "ntpd" / f"{case}.json")[0].commands.values()
    assert isinstance(output, Output)
    return output.out


@pytest.mark.parametrize("case", ["ntp-4.2.8", "ntpsec"])
def test_both_kinds_of_ntpd_report_the_variables_that_are_needed(case: str) -> None:
    assert ntpq.lacking(out(case)) is None
    table = ntpq.variables(out(case), ("refid", "stratum", "leap", "offset", "sys_jitter", "rootdelay", "rootdisp"))
    assert ntpq.leap(table["leap"]) in ntpq.LEAP.values()


def test_a_time_is_milliseconds_and_a_quoted_value_may_hold_blanks() -> None:
    table = ntpq.variables(out("ntp-4.2.8"), ())
    assert ntpq.seconds(table["offset"]) == -0.000408622
    assert table["version"] == '"ntpd 4.2.8p12"'


def test_a_missing_ntpd_is_distinguished_from_a_stopped_one() -> None:
    assert ntpq.lacking("no ntpq\n") == "ntpd is not installed"
    assert ntpq.lacking(out("not-running")) == "ntpd does not run"


def test_a_variable_that_is_missing_is_named_and_a_leap_of_other_than_two_bits_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="stratum, leap"):
        ntpq.variables("refid=10.1.5.8\n", ("refid", "stratum", "leap"))
    for bits in ("", "2", "011", "x"):
        with pytest.raises(Unreadable):
            ntpq.leap(bits)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        ntpq.lacking(answer)
        table = ntpq.variables(answer, ("leap", "stratum"))
        assert ntpq.leap(table["leap"]) in ntpq.LEAP.values()
        ntpq.seconds(table["stratum"])
    except Unreadable:
        return


def test_only_a_refused_connection_proves_that_no_ntpd_runs() -> None:
    assert ntpq.lacking("ntpq: read: Connection refused\n") == "ntpd does not run"
    assert ntpq.lacking("leap=00, stratum=5, refid=refused\n") is None
    assert ntpq.lacking("server 10.1.5.8 refused us\n") is None
