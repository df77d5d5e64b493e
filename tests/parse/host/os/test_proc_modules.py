"""The loaded modules, and a kernel that has none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.os.proc_modules import ALWAYS, MODPROBE, built_without, modules

PIECES = ("nvidia ", "56713216 ", "0 ", "- ", "Live ", "Loading ", "0x0000000000000000", " (POE)", "\n")


def test_every_module_of_a_recorded_machine_is_read() -> None:
    content = shared_text("os/proc-modules.txt")
    assert [name for name, _ in modules(content)] == [row.split()[0] for row in content.splitlines()]


def test_a_module_that_loads_is_not_live_and_a_row_that_is_none_is_unreadable_after_it() -> None:
    found = modules("nvidia 56713216 0 - Loading 0x0 (POE)\nMemTotal: 7 kB\n")
    assert next(found) == ("nvidia", False)
    with pytest.raises(Unreadable, match="not a module"):
        next(found)


def test_a_kernel_can_have_no_modules_only_where_it_shows_that_it_cannot_load_any() -> None:
    built_without(Files({ALWAYS: "6.1.0\n"}, {}))
    for files in ({}, {ALWAYS: "6.1.0\n", MODPROBE: "/sbin/modprobe\n"}):
        with pytest.raises(Unreadable):
            built_without(Files(files, {}))


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        assert all(name for name, _ in modules(content))
    except Unreadable:
        return
