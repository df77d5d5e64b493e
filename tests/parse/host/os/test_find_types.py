"""Paths with the types of their file systems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.os.find_types import types

PIECES = ("sysfs", "/sys/fs", "pstore", "/sys/fs/pstore", "proc", "/proc/version", " ", "\n")


def test_a_recorded_answer_distinguishes_a_mounted_store_from_its_empty_folder() -> None:
    (output,) = recorded(OURS / "pstore" / "written.json")[0].commands.values()
    assert isinstance(output, Output)
    found = types(output.out, ("/sys/fs", "/proc/version"))
    assert (found["/sys/fs/pstore"], found["/sys/fs/ext4"]) == ("pstore", "sysfs")


@pytest.mark.parametrize(
    "answer", ["", "sysfs/sys/fs\n", "sysfs/sys/fs\nproc/proc/version", "/sys/fs\nproc/proc/version\n"]
)
def test_an_answer_without_its_first_and_last_path_or_with_another_row_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        types(answer, ("/sys/fs", "/proc/version"))


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        assert all(path.startswith("/") and kind for path, kind in types(answer, ()).items())
    except Unreadable:
        return
