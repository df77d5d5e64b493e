"""Deadlines: each passes on its own time, also if another one's function waits, and a cancelled one never."""

import threading
import time

from waiting import until

from rackcheck.transport.deadline import Alarms, Deadline


def test_alarms_are_called_in_the_order_of_their_times() -> None:
    alarms, called = Alarms(), list[int]()
    now = time.monotonic()
    for number in (3, 1, 2, 0):
        alarms.add(now + 0.1 * number, lambda number=number: called.append(number))  # type: ignore[misc]
    until(lambda: len(called) == 4, "an alarm is missing")
    assert called == [0, 1, 2, 3]
    assert time.monotonic() - now >= 0.3


def test_a_cancelled_alarm_is_never_called_and_takes_no_memory() -> None:
    alarms, called = Alarms(), list[int]()
    for number in range(5_000):
        alarms.cancel(alarms.add(time.monotonic() + 60, lambda number=number: called.append(number)))  # type: ignore[misc]
    alarms.add(time.monotonic() + 0.05, lambda: called.append(-1))
    until(lambda: called, "the alarm that is left is not called")
    assert called == [-1]
    assert len(alarms._waiting) + len(alarms._cancelled) < 500


def test_a_function_that_waits_delays_no_other_one() -> None:
    alarms, release, called = Alarms(), threading.Event(), list[str]()
    alarms.add(time.monotonic(), release.wait)  # type: ignore[arg-type]
    alarms.add(time.monotonic() + 0.05, lambda: called.append("next"))
    until(lambda: called, "the next alarm waits for the first one")
    release.set()


def test_an_alarm_after_a_pause_is_called_in_a_new_thread() -> None:
    alarms, called = Alarms(), list[int]()
    alarms.add(time.monotonic(), lambda: called.append(1))
    until(lambda: called == [1], "the first alarm")
    until(lambda: not alarms._runs, "the thread does not end")
    alarms.add(time.monotonic(), lambda: called.append(2))
    until(lambda: called == [1, 2], "the second alarm")


def test_the_time_within_a_pause_does_not_count() -> None:
    stopped = threading.Event()
    deadline = Deadline(0.3, stopped.set)
    with deadline.paused():
        time.sleep(0.6)
    assert not deadline.passed
    assert stopped.wait(20)
    assert deadline.passed
    late = Deadline(0.1, stopped.clear)
    late.cancel()
    time.sleep(0.3)
    assert stopped.is_set()
    assert not late.passed
