"""The counted lines of /proc/cpuinfo: values common to all CPUs, and where they differ."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.cpu import cpuinfo

CPU = "      1 processor\t: 0\n"


def counted(text: str) -> str:
    """Count a whole cpuinfo's lines as `sort | uniq -c` does, with the end below."""
    return "".join(f"{n:7} {row}\n" for row, n in sorted(Counter(text.splitlines()).items())) + "end\n"


def table(*rows: str) -> cpuinfo.Counted:
    return cpuinfo.counted(CPU + "".join(f"      1 {row}\n" for row in rows) + "end\n")


@pytest.mark.parametrize("name", ["cpuinfo-checkbox-amd64", "proc-cpuinfo-procfs", "ne-proc-cpuinfo"])
def test_every_cpu_of_a_recorded_machine_is_counted(name: str) -> None:
    text = shared_text(f"cpu/{name}.txt")
    found = cpuinfo.counted(counted(text))
    assert len(found["processor"]) == text.count("processor\t:")
    flags = cpuinfo.flags(found)
    assert flags is not None
    assert {"fpu", "sse2"} <= flags[0]


def test_cpus_that_differ_in_what_should_be_one_are_unreadable() -> None:
    assert cpuinfo.only(table("model\t\t: 85"), "model") == "85"
    assert cpuinfo.only(table(), "model") is None
    with pytest.raises(Unreadable, match="CPUs differ in model: 106, 85"):
        cpuinfo.only(table("model\t\t: 85", "model\t\t: 106"), "model")


def test_flags_that_only_some_cpus_have_are_kept_apart() -> None:
    some, all_alike = table("flags\t\t: fpu vmx", "flags\t\t: fpu sse2"), table("Features\t: fp asimd")
    assert cpuinfo.flags(some) == (frozenset({"fpu"}), frozenset({"vmx", "sse2"}))
    assert cpuinfo.flags(all_alike) == (frozenset({"fp", "asimd"}), frozenset[str]())
    assert cpuinfo.flags(table()) is None


def test_the_mean_clock_weighs_each_value_by_how_many_cpus_run_at_it() -> None:
    found = cpuinfo.counted(f"{CPU}      3 cpu MHz\t\t: 1000.000\n      1 cpu MHz\t\t: 3000.000\nend\n")
    assert cpuinfo.clocks(found) == cpuinfo.Clocks(1000, 1500, 3000)
    assert cpuinfo.clocks(table()) is None


@pytest.mark.parametrize("answer", ["", "end\n", CPU, f"{CPU}end", "      1 flags\t: fpu\nend\n"])
def test_an_answer_that_was_cut_or_lists_no_cpu_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        cpuinfo.counted(answer)


ROWS = ["0 cpu MHz: 1", "1 cpu MHz: x", "2 cpu MHz : 2.5", "1 flags:", "1 Features: a b", "1 model: 1", "1 :", "x y: z"]


@given(st.lists(st.sampled_from(ROWS) | st.text(), max_size=8))
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        found = cpuinfo.counted(CPU + "\n".join([*rows, "end"]) + "\n")
        cpuinfo.only(found, "model")
        cpuinfo.flags(found)
        clocks = cpuinfo.clocks(found)
        assert clocks is None or clocks.least <= clocks.most
    except Unreadable:
        pass
