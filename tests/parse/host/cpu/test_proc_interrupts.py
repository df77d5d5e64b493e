"""Interrupts of each CPU: sums, and which CPUs had one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.cpu.proc_interrupts import interrupts

PIECES = (" CPU0", " CPU1", " CPU3", " MCE:", " 0", " 7", " Machine check exceptions", "\n", "end\n")


def test_on_a_recorded_machine_with_a_cpu_offline_counts_belong_to_the_cpus_of_the_head() -> None:
    (output,) = recorded(OURS / "cpu_mce" / "exceptions.json")[0].commands.values()
    assert isinstance(output, Output)
    found = interrupts(output.out)
    assert (found.total("MCE"), found.hit("MCE")) == (1, ("3",))
    assert (found.total("THR"), found.hit("THR")) == (7, ("1",))
    assert (found.total("DFR"), found.hit("DFR")) == (0, ())


def test_a_kind_without_a_row_is_absent() -> None:
    found = interrupts(" CPU0 CPU1 \nend\n")
    assert isinstance(found.total("MCE"), Absent)
    assert isinstance(found.hit("MCE"), Absent)


@pytest.mark.parametrize(
    "answer",
    ["", " CPU0 \n", " CPU1 \nend\n", " CPU0 CPU1 \n MCE: 1 Machine check exceptions\nend\n", " CPU0 x\nend\n"],
)
def test_a_cut_answer_and_a_row_without_a_count_for_each_cpu_are_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        interrupts(answer)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        found = interrupts(answer)
    except Unreadable:
        return
    total, hit = found.total("MCE"), found.hit("MCE")
    assert isinstance(total, Absent) == isinstance(hit, Absent)
    assert isinstance(hit, Absent) or bool(total) == bool(hit)
