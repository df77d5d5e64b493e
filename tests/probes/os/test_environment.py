"""Assignments of files of the environment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck_probes.os.environment import assignments

PLACES = ("/etc/environment", "/etc/nccl.conf")
PIECES = ("== /etc/environment\n", "== /etc/x\n", "export ", "NCCL_DEBUG", "=", '"INFO"', " ", "-- end --\n", "\n")


def test_a_recorded_answer_gives_each_files_variables_without_quotes() -> None:
    (output,) = recorded(OURS / "environment" / "written.json")[0].commands.values()
    assert isinstance(output, Output)
    found = assignments(output.out, PLACES)
    assert found["/etc/environment", "NCCL_SOCKET_IFNAME"] == "bond0"
    assert [place for place, _ in found] == ["/etc/environment", "/etc/environment", "/etc/nccl.conf"]


def test_of_a_repeated_name_the_last_counts_be_it_exported_or_not() -> None:
    answer = "== /etc/environment\nNCCL_DEBUG=INFO\n export NCCL_DEBUG='WARN'\n-- end --\n"
    assert assignments(answer, PLACES) == {("/etc/environment", "NCCL_DEBUG"): "WARN"}


@pytest.mark.parametrize(
    "answer", ["", "== /etc/environment\n", "A=1\n-- end --\n", "== /etc/x\nA=1\n-- end --\n",
               "== /etc/nccl.conf\nnccl=1\n-- end --\n"],
)  # fmt: skip
def test_a_cut_answer_and_what_is_no_assignment_of_these_files_are_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        assignments(answer, PLACES)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    try:
        assert all(place in PLACES for place, _ in assignments(answer, PLACES))
    except Unreadable:
        return
