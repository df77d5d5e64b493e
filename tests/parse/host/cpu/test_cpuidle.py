"""Idle states: each state once, under a unique name, with the CPUs that may not use it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.cpu import cpuidle

FOLDER = "/sys/devices/system/cpu/cpu{}/cpuidle/state{}"


def machine(names: Mapping[object, str], switches: Mapping[tuple[object, object], str]) -> Files:
    files = {f"{FOLDER.format(0, number)}/name": f"{name}\n" for number, name in names.items()}
    files |= {f"{FOLDER.format(cpu, number)}/disable": f"{text}\n" for (cpu, number), text in switches.items()}
    return Files(files, {})


def test_a_state_that_one_cpu_may_not_use_is_reported_with_that_cpu() -> None:
    files = machine({0: "POLL", 3: "C6"}, {(0, 3): "1", (1, 3): "0", (0, 0): "0", (1, 0): "0"})
    assert list(cpuidle.states(files)) == [
        cpuidle.IdleState("0", "POLL", (0, 1), ()),
        cpuidle.IdleState("3", "C6", (0, 1), (0,)),
    ]


def test_states_are_in_the_order_of_their_numbers() -> None:
    files = machine({}, {(0, number): "0" for number in (10, 2, 0)})
    assert [state.number for state in cpuidle.states(files)] == ["0", "2", "10"]


def test_a_second_state_of_one_name_and_one_without_a_name_have_names_of_their_own() -> None:
    files = machine({0: "C1", 1: "C1"}, {(0, number): "0" for number in (0, 1, 2)})
    assert [state.name for state in cpuidle.states(files)] == ["C1", "C1 state1", "state2"]


def test_a_switch_that_cannot_be_read_is_not_left_out() -> None:
    refused = {f"{FOLDER.format(1, 0)}/disable": Unknown(Reason.DENIED, "Permission denied")}
    with pytest.raises(Unreadable, match="Permission denied"):
        list(cpuidle.states(Files(machine({}, {(0, 0): "0"}).contents, refused)))


def test_states_before_one_with_an_invalid_name_are_returned() -> None:
    found = cpuidle.states(machine({0: "POLL", 1: "two\nlines"}, {(0, 0): "0", (0, 1): "0"}))
    assert next(found).name == "POLL"
    with pytest.raises(Unreadable):
        next(found)


NUMBER = st.sampled_from(["0", "1", "07", "x", "²", "-1", "9" * 30])


@given(st.dictionaries(NUMBER, st.text(max_size=5)), st.dictionaries(st.tuples(NUMBER, NUMBER), st.sampled_from("01x")))
def test_nonsense_is_states_or_unreadable(names: dict[object, str], switches: dict[tuple[object, object], str]) -> None:
    try:
        found = list(cpuidle.states(machine(names, switches)))
    except Unreadable as error:
        assert str(error)
    else:
        assert all(set(state.off) <= set(state.cpus) for state in found)
