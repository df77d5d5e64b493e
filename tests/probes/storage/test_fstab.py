"""The mount points of /etc/fstab against what is mounted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck_probes.storage.fstab import unmounted

PIECES = ("no fstab\n", "fstab /raid xfs auto\n", "fstab none swap auto\n", "mounted /raid\n", "end\n", "/", " ", "\n")


def test_of_a_recorded_table_only_what_boot_should_mount_and_did_not_is_named() -> None:
    (output,) = recorded(OURS / "fstab" / "unmounted.json")[0].commands.values()
    assert isinstance(output, Output)
    assert unmounted(output.out, "auto") == ("/raid", "/scratch")


def test_a_stroke_at_a_points_end_and_octal_codes_make_no_difference() -> None:
    assert unmounted("fstab /data\\040set/ nfs4 auto\nmounted /data\\040set\nend\n", "auto") == ()


def test_a_node_without_the_file_has_none() -> None:
    assert unmounted("no fstab\nmounted /\nend\n", "auto") is None


@pytest.mark.parametrize("answer", ["", "end", "fstab / ext4 auto\n", "fstab / ext4\nend\n", "mounted x\nend\n"])
def test_a_cut_answer_and_another_row_are_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        unmounted(answer, "auto")


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        missing = unmounted(answer, "auto")
    except Unreadable:
        return
    assert missing is None or all(point.startswith("/") for point in missing)
