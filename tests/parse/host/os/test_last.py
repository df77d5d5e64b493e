"""The record of starts and shutdowns: what is known depends on how far back it reaches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.parse.host.os import last

DAY = 86_400
PIECES = (
    "reboot   system boot  5.15.0-1053-nvid ", "shutdown system down  5.15.0-1053-nvid ", "Fri Nov 20 07:11:09 2026",
    "Fri Foo 39 99:99:99 0000", "wtmp begins Mon Nov  2 09:31:20 2026", "now 1795162269 3608", "now ", last.END, "\n",
)  # fmt: skip


def answer(case: str) -> str:
    (output,) = recorded(OURS / "boots" / f"{case}.json")[0].commands.values()
    assert isinstance(output, Output)
    return output.out


def test_starts_are_counted_as_far_back_as_the_record_reaches_and_no_farther() -> None:
    found = last.wtmp(answer("written"))
    assert found.kinds == ("reboot", "shutdown", "reboot", "shutdown")
    assert (found.unclean, found.late(2 * 3600), found.late(17 * DAY)) == (0, 1, 1)
    older = found.late(19 * DAY)
    assert isinstance(older, Unknown)
    assert older.reason is Reason.NOT_READ_FURTHER


def test_a_start_that_follows_a_start_came_without_a_shutdown() -> None:
    rows = [row for row in answer("written").split("\n") if not row.startswith("shutdown ")]
    assert last.wtmp("\n".join(rows)).unclean == 1


def test_a_node_up_for_the_whole_window_did_not_start_in_it_even_without_a_record() -> None:
    found = last.wtmp(answer("debian-vm"))
    assert (found.kinds, found.up) == ((), 46_131)
    assert found.late(46_131) == 0
    assert found.late(46_132) == Unknown(Reason.NOT_COLLECTED, "wtmp has no record of the last start")


def test_a_start_in_the_future_or_at_no_time_leaves_all_counts_unknown() -> None:
    for date in ("Fri Nov 20 09:11:09 2026", "Fri Foo 20 07:11:09 2026"):
        late = last.wtmp(answer("written").replace("Fri Nov 20 07:11:09 2026   still", f"{date}   still")).late(7200)
        assert late == Unknown(Reason.UNPARSABLE, "wtmp has a start in the future, or without a time"), date


@pytest.mark.parametrize("text", ["", "now 1 1\n", f"{last.END}\n", f"now 1 x\n{last.END}\n", f"now 1 1\n{last.END}"])
def test_a_record_without_its_clock_and_its_end_was_cut(text: str) -> None:
    with pytest.raises(Unreadable, match=r"truncated|last line is incomplete"):
        last.wtmp(text)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join), st.booleans())
def test_nonsense_is_a_record_or_unreadable(text: str, ended: bool) -> None:
    try:
        found = last.wtmp(f"{text}\nnow 1795162269 3608\n{last.END}\n" if ended else text)
    except Unreadable:
        return
    assert found.unclean <= len(found.starts) == found.kinds.count("reboot")
    assert isinstance(found.late(7 * DAY), int | Unknown)
