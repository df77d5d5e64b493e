"""Crash dumps on the disk, among other files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck_probes.boot.crash_dumps import DUMPS, KEPT, left

PIECES = (f"{DUMPS}/", f"{KEPT}/", "202411211030", "127.0.0.1-2024-11-21-10:30:00", "-- end --\n", "\n")


def test_kdumps_own_files_in_a_recorded_folder_are_no_crash() -> None:
    (output,) = recorded(OURS / "crash_dumps" / "written.json")[0].commands.values()
    assert isinstance(output, Output)
    assert f"{DUMPS}/kdump_lock" in output.out
    assert left(output.out) == ()


def test_dumps_of_both_families_of_distributions_and_what_systemd_kept_are_named_in_order() -> None:
    dumps = [f"{DUMPS}/202411211030", f"{DUMPS}/127.0.0.1-2024-11-21-10:30:00", f"{KEPT}/171"]
    program = f"{DUMPS}/_usr_bin_x.1000.crash"
    assert left("".join(f"{row}\n" for row in (*dumps, program, "-- end --"))) == tuple(sorted(dumps))


@pytest.mark.parametrize("answer", ["", f"{DUMPS}/202411211030\n", "-- end --"])
def test_a_cut_answer_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        left(answer)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        assert all(path.startswith((DUMPS, KEPT)) for path in left(answer))
    except Unreadable:
        return
