"""Libraries that ls lists twice: where names lead, and what may not be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.gpu import shared_libraries
from rackcheck.parse.host.gpu.shared_libraries import Library

LIB = "/usr/lib64"
LINK = f"lrwxrwxrwx 1 0 0     15 Oct 16 23:04 {LIB}/libcuda.so.1 -> libcuda.so.550.90.07"
FILE = f"-rw-r--r-- 1 0 0 {3 << 20} Oct 16 23:04 {LIB}/libcuda.so.550.90.07"
LED = f"-rw-r--r-- 1 0 0 {3 << 20} Oct 16 23:04 {LIB}/libcuda.so.1"
EMPTY = f"-rw-r--r-- 1 0 0 0 Oct 16  2023 {LIB}/libnccl.so.2.21.5"


def found(names: list[str], followed: list[str]) -> list[Library]:
    return list(shared_libraries.libraries(names, followed))


def test_a_link_has_the_version_and_the_size_of_what_it_leads_to() -> None:
    link, file = found([LINK, FILE], [LED, FILE])
    assert link == Library(f"{LIB}/libcuda.so.1", "550.90.07", 3, usable=True)
    assert (file.version, file.usable) == ("550.90.07", True)


def test_a_file_of_no_bytes_and_a_link_that_leads_nowhere_are_not_usable() -> None:
    link, empty = found([LINK, EMPTY], [EMPTY])
    assert (link.size, link.usable) == (Absent("the link's target does not exist"), False)
    assert (empty.size, empty.usable, empty.version) == (0, False, "2.21.5")


def test_a_link_into_a_hidden_folder_is_not_known() -> None:
    (link,) = found([LINK, f"hidden {LIB}/libcuda.so.1"], [])
    assert link.size == link.usable == Unknown(Reason.DENIED, "this login cannot read the link's target")


def test_what_was_found_beside_a_folder_that_may_not_be_listed_stands() -> None:
    walk = shared_libraries.libraries(["hidden /usr/local/lib", FILE], [FILE])
    assert next(walk).path == f"{LIB}/libcuda.so.550.90.07"
    with pytest.raises(Unreadable, match="/usr/local/lib cannot be listed") as caught:
        next(walk)
    assert caught.value.reason is Reason.DENIED


ROWS = [
    LINK,
    FILE,
    LED,
    EMPTY,
    "hidden /x",
    f"hidden {LIB}/libcuda.so.1",
    f"{LINK}.1",
    LINK.replace("-> libcuda.so.550.90.07", "-> libcuda.so.1"),
]


@given(st.lists(st.sampled_from(ROWS) | st.text(), max_size=5), st.lists(st.sampled_from(ROWS), max_size=4))
def test_nonsense_is_read_or_unreadable(names: list[str], followed: list[str]) -> None:
    try:
        for library in shared_libraries.libraries(names, followed):
            assert isinstance(library.usable, bool | Unknown)
    except Unreadable:
        pass
