"""EFI variables, byte by byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.os import efivars

PIECES = ("SecureBoot", "SetupMode", " 6 0 0 0", " 1", " 0", "legacy", "-- end --\n", "\n")


def test_a_recorded_machine_gives_each_variable_by_its_fifth_byte() -> None:
    (output,) = recorded(OURS / "secure_boot" / "written.json")[0].commands.values()
    assert isinstance(output, Output)
    shown = efivars.variables(output.out)
    assert shown is not None
    assert (efivars.yes("SecureBoot", shown), efivars.yes("SetupMode", shown)) == (False, True)


def test_a_system_without_uefi_has_no_variables_and_one_that_firmware_lacks_is_absent() -> None:
    assert efivars.variables("legacy\n") is None
    assert efivars.yes("SetupMode", {}) == Absent("firmware has no SetupMode")


@pytest.mark.parametrize("octets", ["", "6 0 0 0", "6 0 0 0 2", "6 0 0 0 1 1"])
def test_other_bytes_than_a_flags_are_unreadable(octets: str) -> None:
    with pytest.raises(Unreadable):
        efivars.yes("SecureBoot", {"SecureBoot": octets})


def test_a_cut_answer_is_unreadable() -> None:
    for answer in ("", "SecureBoot 6 0 0 0 1\n", "SecureBoot 6 0"):
        with pytest.raises(Unreadable):
            efivars.variables(answer)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        shown = efivars.variables(answer)
        assert shown is None or isinstance(efivars.yes("SecureBoot", shown), bool | Absent)
    except Unreadable:
        return


def test_entries_are_pairs_of_bytes_the_low_one_first() -> None:
    (output,) = recorded(OURS / "boot_order" / "written.json")[0].commands.values()
    assert isinstance(output, Output)
    shown = efivars.variables(output.out)
    assert shown is not None
    assert efivars.entries("BootOrder", shown) == ("Boot0003", "Boot0000", "Boot000A", "Boot01FF")
    assert efivars.entries("BootNext", shown) == Absent("firmware has no BootNext")


@pytest.mark.parametrize(
    "octets", ["", "7 0 0 0", "7 0 0 0 3", "7 0 0 0 3 256", "7 0 0 0 3 -1", "7 0 0 0 3 x", "1 " * 3000]
)
def test_bytes_that_are_no_entries_are_unreadable(octets: str) -> None:
    with pytest.raises(Unreadable):
        efivars.entries("BootOrder", {"BootOrder": octets})
