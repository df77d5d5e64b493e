"""Processes by state: which hang and for how long, and unreadable answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unreadable
from rackcheck.parse.host.os.process_states import END, states

PIECES = (
    "state D 1 4634297",
    "state S 57 24",
    "hangs python3",
    "hangs ",
    "up 46346",
    END,
    "state",
    " ",
    "9" * 20,
    "\n",
)


def answer(case: str) -> str:
    (output,) = recorded(OURS / "processes" / f"{case}.json")[0].commands.values()
    assert isinstance(output, Output)
    return output.out


def test_a_recorded_process_that_hangs_is_named_with_the_seconds_since_it_began() -> None:
    found = states(answer("two-stuck"), 20)
    assert found.hanging == ("python3",)
    assert (found.counts["D"], found.counts["Z"], sum(found.counts.values())) == (1, 1, 98)
    assert found.ages["D"] == pytest.approx(46_346 - 46_342.97)


def test_a_process_that_began_after_the_uptime_was_read_is_of_no_age() -> None:
    assert states(f"state D 1 101\nup 1\n{END}\n", 20).ages == {"D": 0}


def test_more_names_than_requested_are_rejected() -> None:
    rows = "".join(f"hangs p{number}\n" for number in range(3))
    assert len(states(f"{rows}state D 3 1\nup 1\n{END}\n", 3).hanging) == 3
    with pytest.raises(Unreadable, match="neither a state nor a name: 'hangs p2'"):
        states(f"{rows}state D 3 1\nup 1\n{END}\n", 2)


def test_a_node_without_any_process_is_one_that_hides_them() -> None:
    with pytest.raises(Unreadable) as caught:
        states(f"up 1\n{END}\n", 20)
    assert caught.value.reason is Reason.NOT_COLLECTED


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join), st.booleans())
def test_nonsense_is_states_or_unreadable(text: str, ended: bool) -> None:
    try:
        found = states(f"{text}\nup 9\n{END}\n" if ended else text, 20)
    except Unreadable:
        return
    assert found.counts.keys() == found.ages.keys() != set()
    assert len(found.hanging) <= 20
    assert min(found.ages.values()) >= 0
