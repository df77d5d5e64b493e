"""chronyc's output: signs, complaints, a clock without a source."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Reason, Unreadable
from rackcheck.parse.host.os import chronyc

WORDS = (
    "Reference ID : 00000000 ()", "Stratum : 0", "Leap status : Not synchronised",
    *(f"{word} : 0.000000000 seconds" for word in chronyc.OFFSETS.values()),
)  # fmt: skip


def test_a_recorded_clock_that_is_slow_has_an_offset_below_zero() -> None:
    tracking = chronyc.tracking(shared_text("services/chronyc-tracking-aws.txt").splitlines())
    assert (tracking.reference, tracking.stratum(), tracking.leap, tracking.lost) == (
        "169.254.169.123",
        4,
        "Normal",
        False,
    )
    assert tracking.seconds("offset") == -0.000000626
    assert tracking.seconds("last_offset") == 0.002852759


def test_a_recorded_clock_on_the_machine_is_followed_by_its_name() -> None:
    assert chronyc.tracking(shared_text("services/chronyc-tracking-pps.txt").splitlines()).reference == "PPS"


def test_a_clock_that_follows_nothing_is_lost_and_names_nothing() -> None:
    tracking = chronyc.tracking(list(WORDS))
    assert tracking.lost
    assert tracking.reference == ""


@pytest.mark.parametrize("reference", ["7F7F0101 ()", "127.127.1.1 ()"])
def test_a_clock_that_follows_itself_is_named(reference: str) -> None:
    rows = [f"Reference ID : {reference}", "Stratum : 10", "Leap status : Normal", *WORDS[3:]]
    tracking = chronyc.tracking(rows)
    assert (tracking.reference, tracking.lost) == (chronyc.LOCAL, False)


def test_chronycs_own_complaint_is_no_table_in_a_strange_form() -> None:
    with pytest.raises(Unreadable, match="506 Cannot talk to daemon") as caught:
        chronyc.tracking(["506 Cannot talk to daemon"])
    assert caught.value.reason is Reason.NOT_COLLECTED


@pytest.mark.parametrize("left_out", range(len(WORDS)))
def test_a_word_that_is_left_out_is_named(left_out: int) -> None:
    word = WORDS[left_out].partition(" :")[0]
    with pytest.raises(Unreadable, match=f"not the output of chronyc: '{word}'"):
        chronyc.tracking([row for row in WORDS if row != WORDS[left_out]])


def test_words_that_are_left_out_are_each_quoted_alone() -> None:
    with pytest.raises(Unreadable, match=r"not the output of chronyc: 'Reference ID', 'Stratum', 'Leap status'$"):
        chronyc.tracking(list(WORDS[3:]))


def test_a_reference_in_a_strange_form_is_quoted_and_not_called_left_out() -> None:
    with pytest.raises(Unreadable, match=r"not the output of chronyc: '\?\?'$"):
        chronyc.tracking(["Reference ID : ??", *WORDS[1:]])


def test_a_chrony_that_follows_nothing_measures_nothing() -> None:
    lost = dict(chronyc.tracking(list(WORDS)).facts())
    assert lost.pop("leap") == "Not synchronised"
    assert set(lost.values()) == {Absent("chrony follows no source")}
    kept = dict(chronyc.tracking(shared_text("services/chronyc-tracking-aws.txt").splitlines()).facts())
    assert (kept["reference"], kept["stratum"], kept["offset"]) == ("169.254.169.123", 4, -0.000000626)
    assert set(kept) == {"leap", *lost} == set(chronyc.LEAVES)


def test_a_clock_that_is_right_is_not_slow_by_nothing() -> None:
    assert str(chronyc.seconds("0.000000000 seconds slow of NTP time")) == "0.0"


@given(st.lists(st.text()), st.text())
def test_nonsense_is_a_table_or_unreadable(rows: list[str], text: str) -> None:
    for given_rows in (rows, [*WORDS, *rows], [text, *WORDS]):
        with suppress(Unreadable):
            table = chronyc.tracking(given_rows)
            table.stratum()
            table.seconds("offset")
            assert dict(table.facts())
    with suppress(Unreadable):
        chronyc.seconds(text)
