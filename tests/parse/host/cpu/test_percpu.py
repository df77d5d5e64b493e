"""The values of all CPUs, folded: no CPU with a different value is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text import Files, numbers
from rackcheck.parse.host.cpu import percpu

GLOB = "/sys/devices/system/cpu/cpu*/power/energy_perf_bias"


def place(cpu: object) -> str:
    return GLOB.replace("*", str(cpu))


@given(st.sets(st.integers(0, 500)))
def test_ranges_are_what_the_kernel_would_read_back(cpus: set[int]) -> None:
    assert numbers(percpu.ranges(cpus)) == cpus


def test_ranges_join_neighbours_and_leave_a_pair_as_a_range() -> None:
    assert percpu.ranges([3, 1, 2, 8, 10, 11]) == "1-3,8,10-11"
    assert percpu.ranges([]) == ""


def test_a_list_of_ranges_names_them_one_by_one_and_none_of_no_cpu() -> None:
    assert percpu.listed([3, 1, 2, 8]) == ("1-3", "8")
    assert percpu.listed([]) == ()


@given(st.dictionaries(st.integers(0, 99), st.sampled_from(["0", "6", "15"])))
def test_every_cpu_either_has_the_majority_value_or_is_named_with_its_own(values: dict[int, str]) -> None:
    named = {
        cpu: output
        for entry in percpu.odd(values)
        for cpus, _, output in [entry.partition(": ")]
        for cpu in numbers(cpus)
    }
    assert all(values[cpu] == output for cpu, output in named.items())
    assert len({output for cpu, output in values.items() if cpu not in named}) <= 1
    assert len(named) <= len(values) / 2 or len(percpu.distinct(values)) > 2


def test_of_two_halves_the_lower_value_is_the_common_one() -> None:
    assert percpu.odd({0: "6", 1: "0", 2: "6", 3: "0"}) == ("0,2: 6",)


def test_values_are_in_the_order_of_their_numbers() -> None:
    assert percpu.distinct({0: "15", 1: "6", 2: "6"}) == ("6", "15")


def test_a_cpu_that_cannot_be_read_is_not_left_out() -> None:
    files = Files({place(0): "0\n"}, {place(1): Unknown(Reason.DENIED, "Permission denied")})
    with pytest.raises(Unreadable, match=r"cpu1.*Permission denied") as caught:
        percpu.by_cpu(files, GLOB)
    assert caught.value.reason is Reason.DENIED


def test_what_is_no_number_is_no_cpu() -> None:
    files = Files({place("0"): "0\n", place("idle"): "1\n", place("²"): "2\n", place("9" * 30): "3\n"}, {})
    assert percpu.by_cpu(files, GLOB) == {0: "0"}


def test_a_number_that_is_none_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        percpu.numbers({0: "1", 1: "x"})
