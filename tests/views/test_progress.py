"""Progress of a reading: steps, seconds and a rate, from events and the watcher's clock alone."""

import pytest
from desks import LATER, desk, events_of, job_of, numbered, small

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run.event import Answered, Event, FactsRead, Judged, NodeRequested, RunDone, RunStarted
from rackcheck.views.progress import Pulse, Step, progress, pulse
from rackcheck.views.state import Board

SILENT = Unknown(Reason.TIMEOUT, "silent for 30 s")
NODES = numbered(4, prefix="n")
EVENTS = events_of(job_of(NODES, small()), {"n4": SILENT})


def of(kind: type[Event], node: str) -> Event:
    return next(e for e in EVENTS if isinstance(e, kind) and getattr(e, "node", "") == node)


def at(*moments: tuple[float, Event]) -> Board:
    made = desk({}, nodes=NODES)
    found = Board(made.profile, made.nodes)
    found.take(EVENTS[0], 0.0)
    for moment, event in moments:
        found.take(event, moment)
    return found


def requested(name: str, plane: Plane = Plane.OS) -> Event:
    return NodeRequested(name, plane)


def answered(name: str, plane: Plane = Plane.OS, trouble: Unknown | None = None) -> Event:
    return Answered(name, plane, "t", trouble)


def steps(board: Board, now: float) -> dict[str, Step]:
    return {each.node: each.step for each in progress(board, now)}


def test_at_first_every_node_waits_in_the_order_of_their_numbers() -> None:
    found = progress(at(), 5.0)
    assert [(each.node, each.step, each.seconds) for each in found] == [(n.name, Step.WAITS, None) for n in NODES]


def test_the_node_waited_for_longest_is_first_with_the_seconds_by_now() -> None:
    found = progress(at((1.0, requested("n3")), (2.0, requested("n1"))), 5.0)
    assert [(each.node, each.step, each.seconds) for each in found[:2]] == [
        ("n3", Step.ASKED, 4.0), ("n1", Step.ASKED, 3.0),
    ]  # fmt: skip


def test_each_plane_shows_its_result_and_how_long_it_took() -> None:
    board = at(
        (1.0, requested("n1")), (1.5, requested("n1", Plane.BMC)), (3.0, answered("n1", Plane.BMC, SILENT)),
    )  # fmt: skip
    found = next(each for each in progress(board, 6.0) if each.node == "n1")
    assert {plane: (seconds, output) for plane, seconds, output in found.planes} == {
        Plane.OS: (5.0, "asked"), Plane.BMC: (1.5, str(SILENT)),
    }  # fmt: skip
    assert found.step is Step.ASKED, "one plane of it is still being read"


def test_a_node_goes_from_requested_over_read_to_judged() -> None:
    moments = [(1.0, requested("n1")), (2.0, of(Answered, "n1")), (2.0, of(FactsRead, "n1")), (2.5, of(Judged, "n1"))]
    assert steps(at(*moments[:1]), 3.0)["n1"] is Step.ASKED
    assert steps(at(*moments[:2]), 3.0)["n1"] is Step.READ
    assert steps(at(*moments), 3.0)["n1"] is Step.JUDGED


def test_a_node_none_of_whose_planes_answered_is_silent_and_counts_as_judged_as_in_the_head() -> None:
    board = at((1.0, requested("n4")), (2.0, of(Answered, "n4")), (2.0, of(FactsRead, "n4")), (2.0, of(Judged, "n4")))
    assert steps(board, 3.0)["n4"] is Step.SILENT
    assert pulse(progress(board, 3.0), board, 3.0).silent == 1
    assert pulse(progress(board, 3.0), board, 3.0).judged == 1


def test_what_a_node_took_stands_still_once_it_has_answered() -> None:
    board = at((1.0, requested("n1")), (3.5, of(Answered, "n1")))
    assert {each.seconds for now in (4.0, 400.0) for each in progress(board, now) if each.node == "n1"} == {2.5}


def test_a_second_reading_is_about_its_own_nodes_alone() -> None:
    again = events_of(job_of(NODES[:2], small(), run=LATER), {})
    board = at(*((1.0, event) for event in EVENTS[1:]), (2.0, again[0]), (2.5, requested("n2")))
    assert steps(board, 3.0) == {"n2": Step.ASKED, "n1": Step.WAITS}


def test_of_a_stored_run_every_node_that_answered_is_judged() -> None:
    board = at(*((0.0, event) for event in EVENTS[1:]))
    assert steps(board, 0.0) == {"n4": Step.SILENT, "n1": Step.JUDGED, "n2": Step.JUDGED, "n3": Step.JUDGED}


def test_the_pulse_counts_every_node_once() -> None:
    board = at((1.0, requested("n1")), (2.0, of(Answered, "n1")), (3.0, requested("n2")))
    found = pulse(progress(board, 4.0), board, 4.0)
    assert (found.nodes, found.judged, found.read, found.requested, found.silent) == (4, 0, 1, 1, 0)


def test_the_rate_is_of_the_last_seconds_and_falls_to_none_without_answers() -> None:
    board = at(*((float(n), requested(f"n{n}")) for n in (1, 2, 3)), *((4.0 + n, answered(f"n{n}")) for n in (1, 2)))
    assert pulse(progress(board, 7.0), board, 7.0).rate == pytest.approx(1.0)
    late = pulse(progress(board, 60.0), board, 60.0)
    assert late.rate == 0.0
    assert late.left is None, "without a rate the remaining time is unknown"


def test_before_anyone_answered_there_is_no_rate_no_rest_and_no_typical_time() -> None:
    board = at((1.0, requested("n1")))
    assert pulse(progress(board, 5.0), board, 5.0) == Pulse(4, 0, 0, 1, 0, 0.0, None, None)


def test_the_typical_time_is_the_middle_one_of_those_that_answered() -> None:
    moments: list[tuple[float, Event]] = [(0.0, requested(f"n{n}")) for n in (1, 2, 3)]
    moments += [(took, of(Answered, f"n{n}")) for n, took in ((1, 1.0), (2, 9.0), (3, 2.0))]
    board = at(*moments)
    assert pulse(progress(board, 9.0), board, 9.0).typical == 2.0


def test_of_a_run_that_is_done_no_seconds_are_left() -> None:
    board = at((1.0, requested("n1")), (2.0, of(Answered, "n1")), (3.0, RunDone("t", Outcome.PASS)))
    assert pulse(progress(board, 3.0), board, 3.0).left is None


def test_without_nodes_there_is_no_progress() -> None:
    made = desk({})
    board = Board(made.profile, made.nodes)
    assert progress(board, 1.0) == []
    board.take(RunStarted("r", "t", "1", "p", "1", "0", (), ()), 0.0)
    assert pulse(progress(board, 1.0), board, 1.0).nodes == 0
