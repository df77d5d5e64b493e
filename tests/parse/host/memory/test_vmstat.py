"""The kernel's counters of memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded, shared_text

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.memory import vmstat

PIECES = ("pgfault", "oom_kill", "allocstall", "_normal", " ", "7", "x", "\n")


def test_a_recorded_counter_is_read_by_the_kernels_name() -> None:
    content = shared_text("memory/proc-vmstat.txt")
    values = dict(row.split() for row in content.splitlines())
    assert vmstat.count(vmstat.counters(content), "pswpout") == int(values["pswpout"])


def test_counters_of_zones_are_added_up_and_an_older_kernels_one_counts_alone() -> None:
    zones = vmstat.counters("pgfault 1\nallocstall_dma 2\nallocstall_normal 3\n")
    assert vmstat.count(zones, "allocstall") == 5
    old = vmstat.counters(recorded(OURS / "vmstat" / "old-kernel.json")[0].files["/proc/vmstat"])
    assert vmstat.count(old, "allocstall") == 12


def test_what_this_kernel_does_not_count_is_absent_and_another_file_unreadable() -> None:
    assert isinstance(vmstat.count({"pgfault": "1"}, "oom_kill"), Absent)
    with pytest.raises(Unreadable, match="no pgfault"):
        vmstat.counters("nr_free_pages 55\n")


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        table = vmstat.counters(content)
        assert all(isinstance(vmstat.count(table, name), int | Absent) for name in ("oom_kill", "allocstall"))
    except Unreadable:
        return
