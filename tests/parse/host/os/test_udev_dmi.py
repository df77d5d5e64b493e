"""udev's record of the memory modules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.parse.host.os.udev_dmi import memory

PLACE = "/run/udev/data/+dmi:id"
PIECES = ("E:MEMORY_ARRAY_NUM_DEVICES=1\n", "E:MEMORY_DEVICE_0_", "SIZE=", "PRESENT=0", "LOCATOR=A1", "7", "\n")


def test_a_recorded_udev_database_lists_modules_and_the_empty_slot() -> None:
    found = memory(recorded(OURS / "udev_memory" / "one-small.json")[0].files[PLACE], PLACE)
    assert (found.empty, found.sizes(), found.correction) == (("DIMM_A2",), [32, 16], "Multi-bit ECC")
    assert found.each("PART_NUMBER") == ("M393A4K40EB3-CWE",)


def test_a_value_missing_for_one_module_is_unknown_for_all() -> None:
    note = "E:MEMORY_DEVICE_0_SIZE=7\nE:MEMORY_DEVICE_1_PART_NUMBER=X\nE:MEMORY_ARRAY_NUM_DEVICES=2\n"
    found = memory(note, PLACE)
    assert isinstance(found.sizes(), Unknown)
    assert isinstance(found.each("PART_NUMBER"), Unknown)


def test_a_note_that_lacks_a_slot_or_has_none_is_unreadable_and_not_a_machine_without_memory() -> None:
    for note in ("", "E:ID_VENDOR=x\n", "E:MEMORY_DEVICE_0_SIZE=7\nE:MEMORY_ARRAY_NUM_DEVICES=2\n"):
        with pytest.raises(Unreadable) as caught:
            memory(note, PLACE)
        assert caught.value.reason is Reason.NOT_COLLECTED


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(note: str) -> None:
    try:
        found = memory(note, PLACE)
        sizes = found.sizes()
    except Unreadable:
        return
    assert isinstance(sizes, Unknown) or len(sizes) == len(found.modules)
