"""A process's limits as the kernel prints them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.os.proc_limits import Limit, limits

HEAD = "Limit                     Soft Limit           Hard Limit           Units     \n"
PIECES = (HEAD, "Max ", "open files", "stack size", "   ", "1024", "unlimited", "bytes", "files", "\n")


def test_a_recorded_process_gives_soft_and_hard_values_of_the_requested_limits_only() -> None:
    content = recorded(OURS / "limits" / "debian-vm.json")[0].files["/proc/self/limits"]
    found = list(limits(content, {"open files", "core file size"}))
    assert {(limit.name, limit.side) for limit in found} == {
        (name, side) for name in ("open files", "core file size") for side in ("soft", "hard")
    }


def test_bytes_become_kib_and_unlimited_is_infinite() -> None:
    row = "Max stack size            8388608              unlimited            bytes     \n"
    assert list(limits(HEAD + row, {"stack size"})) == [
        Limit("stack size", "soft", 8192), Limit("stack size", "hard", math.inf),
    ]  # fmt: skip


def test_a_limit_that_is_no_number_is_unreadable_only_where_it_is_requested() -> None:
    row = "Max open files            many                 4096                 files     \n"
    assert list(limits(HEAD + row, {"processes"})) == []
    with pytest.raises(Unreadable):
        list(limits(HEAD + row, {"open files"}))


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        assert all(limit.value >= 0 for limit in limits(content, {"open files", "stack size"}))
    except Unreadable:
        return
