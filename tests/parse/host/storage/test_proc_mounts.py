"""What is mounted where: escapes, mounts on mounts, and a /proc that hides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.parse.host.storage import proc_mounts
from rackcheck.parse.host.storage.proc_mounts import Mount

PIECES = ("/dev/sda1 ", "/ ", "/run/user/7 ", "ext4 ", "rw,relatime ", "0 0", "\\040", " ", "hidepid=2 ", "\n")


def test_every_mount_of_a_recorded_machine_is_read() -> None:
    content = shared_text("os/proc-mounts-rhel.txt")
    found = proc_mounts.mounts(content)
    points = {row.split(" ")[1] for row in content.splitlines()}
    assert set(found) == {point for point in points if not point.startswith("/run/user/")}


def test_octal_codes_stand_for_blanks_and_backslashes() -> None:
    assert proc_mounts.mounts("srv:/a\\134b /data\\040set nfs4 rw,hard 0 0\n") == {
        "/data set": Mount("srv:/a\\b", "nfs4", "rw,hard")
    }


def test_of_several_mounts_on_one_point_the_last_hides_the_others_and_those_of_logins_are_left_out() -> None:
    content = "a /mnt ext4 rw 0 0\nb /mnt xfs ro 0 0\ntmpfs /run/user/7 tmpfs rw 0 0\n"
    assert proc_mounts.mounts(content) == {"/mnt": Mount("b", "xfs", "ro")}


@pytest.mark.parametrize("content", ["", "a / ext4 rw 0\n", "a mnt ext4 rw 0 0\n", "a / ext4 rw 0 0"])
def test_what_is_no_table_of_mounts_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        proc_mounts.mounts(content)


def test_a_proc_that_hides_processes_is_distinguished_from_one_without_process_1() -> None:
    hiding = proc_mounts.why_hidden("proc /proc proc rw,nosuid,hidepid=invisible 0 0\n", "/proc/1/comm")
    assert (hiding.reason, "hidepid=invisible" in hiding.detail) == (Reason.DENIED, True)
    assert proc_mounts.why_hidden("proc /proc proc rw 0 0\n", "/proc/1/comm").reason is Reason.NOT_COLLECTED


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    assert proc_mounts.why_hidden(content, "/proc/1/comm").detail.startswith("no /proc/1/comm")
    try:
        assert all(point.startswith("/") for point in proc_mounts.mounts(content))
    except Unreadable:
        return
