"""lscpu's table, in the old and the new form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Unknown, Unreadable
from rackcheck.parse.host.cpu import lscpu

PIECES = ("CPU(s):", "Socket(s):", "Core(s) per socket:", "L1d cache: 1 MiB\n", " 64", " -", "  ", "\n")


@pytest.mark.parametrize("recording", ["epyc-7302p", "epyc-7742", "xeon-8171m", "xeon-8280", "new-format"])
def test_threads_of_a_recorded_machine_are_its_cores_times_those_of_each(recording: str) -> None:
    values = lscpu.table(shared_text(f"cpu/lscpu-{recording}.txt"))
    cores, threads, each = lscpu.cores(values), lscpu.count(values, "CPU(s)"), lscpu.count(values, "Thread(s) per core")
    assert isinstance(cores, int)
    assert isinstance(each, int)
    assert cores * each == threads


def test_a_dash_is_not_known_and_a_line_that_is_not_there_none() -> None:
    values = {"Socket(s)": "-", "Core(s) per socket": "64"}
    assert isinstance(lscpu.count(values, "Socket(s)"), Unknown)
    assert lscpu.count(values, "NUMA node(s)") is None
    assert lscpu.cores(values) is None


@pytest.mark.parametrize(
    "answer", ["", "Architecture: x86_64\n", "CPU(s): 8\nSocket(s): 1\n", "CPU(s): 8\nL1d cache: 1"]
)
def test_a_table_without_its_cpus_or_its_end_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        lscpu.table(answer)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        values = lscpu.table(answer)
        assert isinstance(lscpu.cores(values), int | None)
        assert isinstance(lscpu.count(values, "CPU(s)"), int | Unknown)
    except Unreadable:
        return
