"""Swap areas, and compressed memory disks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Unreadable
from rackcheck_probes.memory import swap as proc_swaps

HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
PIECES = (HEAD, "/dev/zram0 ", "partition\t8388604", " 7", "\n")


def test_a_recorded_machine_gives_its_areas_and_the_size_used_in_zram() -> None:
    files = recorded(OURS / "swap" / "zram.json")[0].files
    assert proc_swaps.areas(files["/proc/swaps"]) == ("/dev/zram0", "/swap\\040file")
    assert proc_swaps.zram_used(files["/sys/block/zram0/mm_stat"]) == 729_088


def test_a_head_alone_is_no_area_and_another_head_unreadable() -> None:
    assert proc_swaps.areas(HEAD) == ()
    for content in ("", "/dev/zram0 partition 7 0 -2\n"):
        with pytest.raises(Unreadable):
            proc_swaps.areas(content)


@pytest.mark.parametrize("content", ["", "1 2\n", "1 2 x\n"])
def test_a_disk_without_a_third_number_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        proc_swaps.zram_used(content)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    for reader in (proc_swaps.areas, proc_swaps.zram_used):
        try:
            assert isinstance(reader(content), tuple | int)
        except Unreadable:
            continue
