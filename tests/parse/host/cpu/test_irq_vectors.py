"""Interrupts of PCI functions: a vector is remote only where the CPUs that serve it and the near CPUs are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.cpu import irq_vectors

HEAD = "device 0000:18:00.0 0-55,112-167"


def test_recorded_vectors_are_their_functions_and_one_that_no_cpu_serves_is_not_remote() -> None:
    capture, _ = recorded(OURS / "irq" / "written.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    found = list(irq_vectors.devices(output.out.splitlines()[:-2]))
    assert [(one.address, len(one.vectors), one.remote()) for one in found] == [
        ("0000:18:00.0", 4, 1),
        ("0000:1b:00.0", 1, 0),
    ]


def test_what_could_not_be_read_is_not_counted_as_near() -> None:
    ((hidden), (far)) = irq_vectors.devices([HEAD, "1 ?", "2 0", "device 0000:19:00.0 ?", "3 0"])
    assert hidden.remote() == Unknown(Reason.NOT_COLLECTED, "for 1 of 2 vectors, the list of CPUs could not be read")
    assert far.remote() == Unknown(Reason.NOT_COLLECTED, "local_cpulist could not be read")


def test_a_function_that_is_near_no_cpu_has_no_remote_vectors() -> None:
    (one,) = irq_vectors.devices(["device 0000:18:00.0 ", "1 0"])
    assert one.remote() == Absent("no CPU is near the device")


@pytest.mark.parametrize("row", ["", "1 0 0", "x 0", "1", f"1 {'0,' * 3000}", "1 5-1", "device G 0"])
def test_an_invalid_row_ends_the_reading_without_a_result_for_its_function(row: str) -> None:
    walk = irq_vectors.devices([HEAD, "1 0", "device 0000:19:00.0 0", row])
    assert next(walk).address == "0000:18:00.0"
    with pytest.raises(Unreadable):
        next(walk)


def test_a_vector_before_any_function_is_nobodys() -> None:
    with pytest.raises(Unreadable, match="neither a device nor a vector: '1 0'"):
        list(irq_vectors.devices(["1 0"]))


@given(
    st.lists(st.sampled_from([HEAD, "device 0 ?", "device 0 ", "1 0", "2 ?", "3 ", "4 0-9,5"]) | st.text(), max_size=8)
)
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        for one in irq_vectors.devices(rows):
            assert isinstance(one.remote(), int | Absent | Unknown)
    except Unreadable:
        pass
