"""The numbers of NFS mounts in mountstats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded, shared_text

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.storage import mountstats
from rackcheck.parse.host.storage.mountstats import Mount

HEAD = "device srv:/a mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n"
PIECES = (
    HEAD,
    "device x mounted on / with fstype ext4\n",
    "\tage:\t77\n",
    "\t  READ: 5 5 2 0 0\n",
    "9" * 30,
    " ",
    "\n",
)


def test_the_timeouts_of_all_operations_of_a_recorded_mount_are_added_up() -> None:
    content = shared_text("storage/proc-mountstats-nfs-procfs.txt")
    found = list(mountstats.nfs_mounts(content))
    assert len(found) == content.count(" with fstype nfs")
    assert all(mount.age > 0 and mount.point.startswith("/") for mount in found)


def test_a_machine_without_nfs_has_no_such_mounts() -> None:
    files = recorded(OURS / "nfs_timeouts" / "debian-vm.json")[0].files
    assert list(mountstats.nfs_mounts(files["/proc/self/mountstats"])) == []


def test_the_third_number_of_each_operation_counts() -> None:
    content = f"{HEAD}\tage:\t77\n\tREAD: 5 6 2 0\n\tWRITE: 1 1 3 0\ndevice x mounted on / with fstype ext4\n"
    assert list(mountstats.nfs_mounts(content)) == [Mount("/mnt/a b", 5, 77.0)]


def test_a_cut_mount_is_unreadable_and_those_before_it_are_returned() -> None:
    mounts = mountstats.nfs_mounts(f"{HEAD}\tage:\t77\n\tREAD: 5 6 2 0\n{HEAD}\tage:\t77\n")
    assert next(mounts).timeouts == 2
    with pytest.raises(Unreadable, match="no operations"):
        next(mounts)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        assert all(mount.timeouts >= 0 for mount in mountstats.nfs_mounts(content))
    except Unreadable:
        return
