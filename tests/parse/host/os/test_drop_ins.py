"""Main files and folders of further ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.os.drop_ins import lines

MAIN, LIB, ETC = "/etc/modules", "/usr/lib/modules-load.d/*.conf", "/etc/modules-load.d/*.conf"


def held(**contents: str) -> Files:
    places = {"main": MAIN, "lib": LIB.replace("*", "a"), "etc": ETC.replace("*", "a"), "more": ETC.replace("*", "b")}
    return Files({places[name]: content for name, content in contents.items()}, {})


def test_a_file_in_a_later_folder_hides_its_namesake_and_no_other() -> None:
    files = held(main="x\n", lib="hidden\n", etc="shown\n", more="more\n")
    assert lines(files, (MAIN, LIB, ETC)) == ["x", "shown", "more"]
    assert lines(files, (MAIN, LIB)) == ["x", "hidden"]


def test_comments_and_blanks_are_left_out() -> None:
    assert lines(held(main="# a\n\n  nvidia # b\n \n"), (MAIN, LIB)) == ["nvidia"]


def test_a_folder_that_may_not_be_listed_leaves_all_unknown() -> None:
    files = Files({MAIN: "x\n"}, {ETC: Unknown(Reason.DENIED, "Permission denied")})
    with pytest.raises(Unreadable) as caught:
        lines(files, (MAIN, ETC))
    assert caught.value.reason is Reason.DENIED


@given(st.text(), st.text())
def test_nonsense_is_lines_that_hold_something(main: str, more: str) -> None:
    assert all(row and "#" not in row for row in lines(held(main=main, more=more), (MAIN, ETC)))
