"""/proc/meminfo: lines that a kernel omits, and lines that a cut file may have lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Unreadable
from rackcheck_probes.memory import memory as meminfo

PIECES = ("MemTotal:", "MemAvailable:", "SwapTotal:", "SwapFree:", "HugePages_Total:", " 1048576", " kB", "-1", "\n")
OLD = "MemTotal: 4194304 kB\nMemFree: 1048576 kB\nBuffers: 4 kB\nSwapTotal: 2097152 kB\nSwapFree: 1048576 kB\n"


def test_a_recorded_machine_gives_its_memory_in_gib_and_corrupted_memory_in_kib() -> None:
    values = dict(meminfo.sizes(shared_text("memory/proc-meminfo.txt")))
    assert values["total"] == pytest.approx(3997272 / 2**20)
    assert values["corrupted"] == 0
    assert values["hugepages.size"] == 2048


def test_what_a_later_line_shows_to_be_left_out_is_absent() -> None:
    values = dict(meminfo.sizes(OLD + "HugePages_Total: 7\n"))
    assert isinstance(values["available"], Absent)
    assert isinstance(values["corrupted"], Absent)
    assert (values["swap.used"], values["hugepages.total"]) == (1, 7)


def test_values_lost_in_a_cut_file_are_not_returned() -> None:
    assert dict(meminfo.sizes("MemTotal: 4194304 kB\nMemFree: 1048576 kB\n")) == {"total": 4}


def test_a_file_without_its_first_line_or_with_a_size_that_is_none_is_unreadable() -> None:
    for content in ("MemFree: 7 kB\n", "MemTotal: x kB\n", "MemTotal: 7 kB"):
        with pytest.raises(Unreadable):
            list(meminfo.sizes(content))


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        values = dict(meminfo.sizes(content))
    except Unreadable:
        return
    assert all(isinstance(size, int | float | Absent) for size in values.values())
