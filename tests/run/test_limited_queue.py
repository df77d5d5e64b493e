"""Jobs begin in their order, never more than limits allow, and none is lost; a full limit does not cost more."""

import math
from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fact import Plane
from rackcheck.run.limited_queue import LimitedQueue, Limits, limits_of

LIMITS = st.dictionaries(st.integers(0, 4), st.integers(1, 3), max_size=5)
JOBS = st.lists(st.frozensets(st.integers(0, 4), max_size=3), max_size=40)


@given(LIMITS, JOBS, st.randoms(use_true_random=False))
def test_every_job_runs_once_and_no_limit_is_exceeded(
    most: dict[int, int], jobs: list[frozenset[int]], choice: Random
) -> None:
    held = [tuple((number, most[number]) for number in sorted(job) if number in most) for job in jobs]
    queue = LimitedQueue[int](held.__getitem__)
    for job in range(len(jobs)):
        queue.add(job)
    running, begun = list[int](), list[int]()
    while queue or running:
        taken = queue.take()
        counts = Counter(number for job in running for number, _ in held[job])
        waiting = [job for job in range(len(jobs)) if job not in begun]
        may = [job for job in waiting if all(counts[number] < most for number, most in held[job])]
        assert taken == (may[0] if may else None)
        if taken is None:
            queue.done(running.pop(choice.randrange(len(running))))
        else:
            running.append(taken)
            begun.append(taken)
    assert sorted(begun) == list(range(len(jobs)))


def test_the_time_to_take_a_job_does_not_depend_on_how_many_wait_for_a_full_limit() -> None:
    asked = Counter[str]()

    def limits(job: int) -> Limits:
        asked["limits"] += 1
        return ((0, 2),)

    queue = LimitedQueue[int](limits)
    for job in range(1000):
        queue.add(job)
    assert [queue.take() for _ in range(100)] == [0, 1, *[None] * 98]
    assert asked["limits"] == 1000


def test_the_number_of_jobs_that_can_run_at_the_same_time_is_known_before_any_runs() -> None:
    held: list[Limits] = [((0, 3), (1, 2)), ((0, 3),), ((0, 3),), ()]
    queue = LimitedQueue[int](held.__getitem__)
    assert queue.most == 0
    for job in range(3):
        queue.add(job)
    assert queue.most == 5  # an upper bound: the first limit holds for both kinds
    queue.add(3)
    assert queue.most == math.inf


def test_only_limits_of_the_plane_and_the_node_hold() -> None:
    limits = (
        AskLimit("rack-1", frozenset({"a"}), {Plane.OS: 8}),
        AskLimit("rack-2", frozenset({"b"}), {Plane.OS: 4}),
        AskLimit("10.0.0.0/8", frozenset({"a", "b"}), {Plane.OS: 3, Plane.BMC: 2}),
    )
    assert limits_of(limits, Node("a"), Plane.OS) == ((0, 8), (2, 3))
    assert limits_of(limits, Node("b"), Plane.BMC) == ((2, 2),)
    assert limits_of(limits, Node("c"), Plane.OS) == ()
