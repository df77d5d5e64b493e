"""Numbers of the SMBIOS table that the kernel exposes: each has a word, or is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unreadable
from rackcheck_probes.os import dmi_more as smbios


@pytest.mark.parametrize(
    ("number", "word"), [(1, "Other"), (17, "Main Server Chassis"), (23, "Rack Mount Chassis"), (36, "Stick PC")]
)
def test_a_chassis_has_the_word_that_the_specification_counts_to(number: int, word: str) -> None:
    assert smbios.chassis(f"{number}\n") == word


@pytest.mark.parametrize("number", [-1, 0, 2, 37, 151])
def test_a_chassis_that_the_table_calls_unknown_or_that_has_no_word_is_not_collected(number: int) -> None:
    with pytest.raises(Unreadable, match=f"chassis type {number} is undefined or means unknown") as caught:
        smbios.chassis(f"{number}\n")
    assert caught.value.reason is Reason.NOT_COLLECTED


@given(st.text() | st.integers().map(str))
def test_nonsense_is_a_word_or_unreadable(content: str) -> None:
    try:
        assert smbios.chassis(content) in smbios.CHASSIS[1:]
    except Unreadable:
        pass
