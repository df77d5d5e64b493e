"""The files of pam_limits: which users' lines count, and which of two lines takes precedence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.os import pam_limits

PIECES = ("* ", "- ", "soft ", "hard ", "nofile ", "1048576", "unlimited", "-1", "#", "@ops ", "٣", "\n")


def recorded_files(case: str) -> list[str]:
    files = recorded(OURS / "limits_configured" / f"{case}.json")[0].files
    return [files[name] for name in sorted(files)]


def test_of_the_recorded_files_only_the_lines_for_everybody_count_and_a_dash_is_both_sides() -> None:
    assert pam_limits.for_everybody(recorded_files("written")) == {
        ("memlock", "soft"): "unlimited",
        ("memlock", "hard"): "unlimited",
        ("nofile", "soft"): "1048576",
        ("nofile", "hard"): "1048576",
        ("stack", "soft"): "unlimited",
        ("stack", "hard"): "unlimited",
        ("nproc", "soft"): "unlimited",
        ("nproc", "hard"): "unlimited",
    }


def test_a_distributions_file_of_comments_sets_nothing() -> None:
    assert pam_limits.for_everybody(recorded_files("debian-vm")) == {}


def test_a_line_for_a_single_user_or_a_group_sets_nothing_for_everybody() -> None:
    assert pam_limits.for_everybody(["@ops - nproc 4096\nroot hard nofile 5\n% - maxlogins 1\n"]) == {}


def test_a_later_line_wins_be_it_of_the_same_file_or_of_the_next() -> None:
    first = "* soft nofile 1\n* soft nofile 2\n* hard nofile 3 # was 9\n"
    assert pam_limits.for_everybody([first]) == {("nofile", "soft"): "2", ("nofile", "hard"): "3"}
    assert pam_limits.for_everybody([first, "* - nofile 4\n"]) == {("nofile", "soft"): "4", ("nofile", "hard"): "4"}


def test_every_word_for_no_limit_is_unlimited_and_another_word_is_unreadable() -> None:
    assert {pam_limits.limit(word) for word in ("unlimited", "infinity", "-1")} == {math.inf}
    assert pam_limits.limit("65536") == 65_536
    for word in ("64k", "-2", "", "٣", "9" * 31):
        with pytest.raises(Unreadable):
            pam_limits.limit(word)


def test_a_word_that_is_no_limit_is_unknown_of_its_own_item_and_a_line_that_is_not_there_absent() -> None:
    assert pam_limits.reading("64k", "no line") == Unknown(Reason.UNPARSABLE, "not a limit: '64k'")
    assert pam_limits.reading(None, "no line") == Absent("no line")
    assert pam_limits.reading("-1", "no line") == math.inf


def test_the_main_file_is_read_first_and_those_of_the_folder_in_the_order_of_their_names() -> None:
    more = [pam_limits.MORE.replace("*", name) for name in ("10-b", "2-a", "90-c")]
    assert list(pam_limits.places(Files(dict.fromkeys([*reversed(more), pam_limits.MAIN], ""), {}))) == [
        pam_limits.MAIN, *more,
    ]  # fmt: skip


@given(st.lists(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join)))
def test_nonsense_sets_limits_that_are_numbers_or_unreadable(texts: list[str]) -> None:
    for value in pam_limits.for_everybody(texts).values():
        try:
            assert pam_limits.limit(value) >= 0
        except Unreadable:
            continue
