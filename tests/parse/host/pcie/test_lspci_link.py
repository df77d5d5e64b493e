"""A link's registers as lspci shows them: its negotiated state, training and power states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lspci_texts import capable, recorded

from rackcheck.model.fact import Absent, Unknown
from rackcheck.parse.host.pcie import lspci_link
from rackcheck.parse.host.pcie.lspci import L1_SUBSTATES, SECONDARY, PciFunction

CAP = "LnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L0s L1, Exit Latency L0s <4us, L1 <32us"


def test_a_recorded_link_that_lost_speed_is_downgraded_and_keeps_its_width() -> None:
    (function,) = recorded("exp-dev2").values()
    assert (lspci_link.speed(function), lspci_link.width(function)) == ("downgraded", "ok")
    assert lspci_link.target_speed(function) == 8.0
    assert lspci_link.lane_errors(function) == ()
    assert (lspci_link.sleeps(function), lspci_link.could_sleep(function)) == ("L1", "L1")
    assert lspci_link.substates(function) == ("PCI-PM_L1.2", "PCI-PM_L1.1", "ASPM_L1.2", "ASPM_L1.1")


def test_a_recorded_link_that_may_not_sleep_does_not() -> None:
    function = next(iter(recorded("exp-lnkcap2").values()))
    assert (lspci_link.sleeps(function), lspci_link.could_sleep(function)) == ("none", "none")


@pytest.mark.parametrize(
    ("status", "speed", "width"),
    [
        ("Speed 32GT/s, Width x16", "ok", "ok"),
        ("Speed 2.5GT/s (downgraded), Width x8 (downgraded)", "downgraded", "downgraded"),
        ("Speed 64GT/s (overdriven), Width x16 (ok)", "overdriven", "ok"),
        ("Speed 2.5GT/s, Width x0", Absent("no link"), Absent("no link")),
    ],
)
def test_the_numbers_count_and_not_the_words_beside_them(status: str, speed: object, width: object) -> None:
    function = capable(CAP, f"LnkSta:\t{status}")
    assert (lspci_link.speed(function), lspci_link.width(function)) == (speed, width)


@pytest.mark.parametrize(
    ("reports", "text", "up"),
    [
        ("LLActRep+", "DLActive+", True),
        ("LLActRep+", "DLActive-", False),
        ("LLActRep-", "DLActive-", Absent("this end of the link does not report whether it is up")),
    ],
)
def test_whether_a_link_is_up_is_known_at_an_end_that_reports_it(reports: str, text: str, up: object) -> None:
    function = capable(CAP, f"\tClockPM- Surprise- {reports}", f"LnkSta:\tSpeed 32GT/s, Width x16, {text}")
    assert lspci_link.active(function) == up


@pytest.mark.parametrize(
    ("bits", "count"), [("Retimer- 2Retimers-", 0), ("Retimer+ 2Retimers-", 1), ("Retimer+ 2Retimers+", 2)]
)
def test_retimers_are_counted(bits: str, count: int) -> None:
    assert lspci_link.retimers(capable(f"LnkSta2: Current De-emphasis Level: -6dB, {bits}")) == count


def test_partly_reported_retimers_are_unknown() -> None:
    assert isinstance(lspci_link.retimers(capable("LnkSta2: EqualizationComplete+, 2Retimers+")), Unknown)


def test_lanes_with_errors_are_named() -> None:
    function = capable("LaneErrStat: LaneErr at lane: 0 1 15", title=SECONDARY)
    assert lspci_link.lane_errors(function) == ("0", "1", "15")
    assert isinstance(lspci_link.lane_errors(capable("LaneErrStat: lanes", title=SECONDARY)), Unknown)


FACTS = (
    lspci_link.width, lspci_link.speed, lspci_link.target_speed, lspci_link.active, lspci_link.retimers,
    lspci_link.sleeps, lspci_link.could_sleep,
)  # fmt: skip
WORDS = st.sampled_from(
    ["Speed", "Width", "x16", "x99", "2.5GT/s", "ASPM", "L0s", "L1", "Disabled", "Enabled", "LLActRep+", ",", "²"]
)


@given(st.lists(WORDS, max_size=8).map(" ".join) | st.text(alphabet="x0123456789GT/s.SpedWith +-²"))
def test_nonsense_in_a_register_is_a_value_or_why_not(text: str) -> None:
    registers = ("LnkCap", "LnkCtl", "LnkSta", "LnkCtl2", "LnkSta2")
    function = capable(*(f"{register}:\t{text}" for register in registers))
    for ask in FACTS:
        assert isinstance(ask(function), bool | int | float | str | Absent | Unknown)
    for ask, title, register in (
        (lspci_link.lane_errors, SECONDARY, "LaneErrStat"),
        (lspci_link.substates, L1_SUBSTATES, "L1SubCtl1"),
    ):
        one: PciFunction = capable(f"{register}: {text}", title=title)
        assert isinstance(ask(one), tuple | Unknown)
