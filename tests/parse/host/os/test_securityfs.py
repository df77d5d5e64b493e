"""The security file system: there, mounted and without a file, or not mounted."""

from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.text import Files, line
from rackcheck.parse.host.os import securityfs

PLACE = f"{securityfs.FOLDER}/lockdown"
PIECES = ("securityfs ", "/sys/kernel/security ", "securityfs", " rw 0 0", "\n")


def test_a_recorded_file_is_read() -> None:
    capture, _ = recorded(OURS / "lsm" / "written.json")
    assert securityfs.read(Files(capture.files, {}), f"{securityfs.FOLDER}/lsm", line).reading == line(
        capture.files[f"{securityfs.FOLDER}/lsm"]
    )


def test_a_file_that_is_not_there_is_absent_only_where_the_file_system_is_mounted() -> None:
    mounted = Files({securityfs.MOUNTS: f"securityfs {securityfs.FOLDER} securityfs rw 0 0\n"}, {})
    assert isinstance(securityfs.read(mounted, PLACE, line).reading, Absent)
    bare = securityfs.read(Files({securityfs.MOUNTS: "proc /proc proc rw 0 0\n"}, {}), PLACE, line)
    assert bare.reading == Unknown(Reason.NOT_COLLECTED, f"no securityfs is mounted on {securityfs.FOLDER}")


def test_where_the_mounts_are_unreadable_their_reason_is_reported() -> None:
    hidden = Files({}, {securityfs.MOUNTS: Unknown(Reason.DENIED, "Permission denied")})
    reading = securityfs.read(hidden, PLACE, line).reading
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.DENIED


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_for_mounts_gives_no_value(mounts: str) -> None:
    reading = securityfs.read(Files({securityfs.MOUNTS: mounts}, {}), PLACE, line).reading
    assert isinstance(reading, Absent | Unknown)
