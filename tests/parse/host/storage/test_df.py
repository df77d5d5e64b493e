"""df's table: every row is read completely, whatever its names contain, or the answer is unreadable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.storage import df

HEAD = "Filesystem              1024-blocks     Used Available Capacity Mounted on\n"
ROOT = "/dev/vda                  264212084 23174476  83216436      22% /\n"


def test_names_with_blanks_are_read_whole() -> None:
    (found,) = df.filesystems(f"{HEAD}10.0.0.1:/my data   100 40 60 40% /mnt/the big one\n")
    assert found == df.Filesystem("/mnt/the big one", "100", "60", "40%")


def test_what_a_filesystem_does_not_count_is_absent() -> None:
    (found,) = df.filesystems("Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/vdb - - - - /boot/efi\n")
    assert df.counted(found.size) == Absent("the filesystem does not report it")


def test_the_mounts_of_logins_are_left_out() -> None:
    login = "tmpfs 100 0 100 0% /run/user/1000\n"
    assert [row.point for row in df.filesystems(HEAD + login + ROOT)] == ["/"]


def test_a_cell_is_returned_in_the_requested_unit() -> None:
    assert (df.counted("3145728", 1 << 20), df.counted("22%")) == (3, 22)


@pytest.mark.parametrize(
    "answer", ["", "\n", "df: /mnt: Stale file handle\n", f"{HEAD}df: /mnt: x\n", HEAD + ROOT[:-1]]
)
def test_another_table_and_one_that_was_cut_are_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        list(df.filesystems(answer))


@given(st.lists(st.sampled_from(["-", "1", "9" * 40, "5%", "/", "/a b", "x y", "", "\t", "٣", "-1"]), max_size=9))
def test_nonsense_is_read_or_unreadable(words: list[str]) -> None:
    try:
        for row in df.filesystems(f"{HEAD}{' '.join(words)}\n"):
            assert row.point.startswith("/")
            for cell in (row.size, row.free, row.share):
                df.counted(cell)
    except Unreadable:
        pass
