"""Asks nodes, and judges nothing: the part of an audit that can be done on another machine."""

import math
import queue
import threading
import time
from collections.abc import Iterator, Sequence

from rackcheck.run.asking import Answers, Collect, start_asking, still_expected, wanted
from rackcheck.run.event import Answered, NodeRequested
from rackcheck.run.in_flight import RepliesInFlight
from rackcheck.run.job import Job
from rackcheck.run.parked import ParkingFile

GOODBYE = 3.0
"""Maximum seconds that a stopped collection waits for answers that arrive: sessions of BMCs are closed meanwhile."""


def collect(
    job: Job, ask: Collect, stop: threading.Event, there: Sequence[Answered] = ()
) -> Iterator[NodeRequested | Answered]:
    """Ask every plane that has no answer in `there`, and yield the answers; an answer is released with the next one.

    If `stop` is set or the deadline of the job passes, the collection ends: planes that have not answered have no
    answer.
    """
    left = {node.name: wanted(node, job) for node in job.nodes}
    for answer in there:
        left[answer.node] = still_expected(left[answer.node], answer)
    with ParkingFile() as parking:
        replies = RepliesInFlight(job.memory, parking)
        answers: Answers = queue.SimpleQueue()
        ended = threading.Event()
        start_asking(job, ask, left, answers, ended, replies)
        end = time.monotonic() + job.deadline if job.deadline is not None else math.inf
        expected = sum(map(bool, left.values()))
        while expected:
            if stop.is_set() or time.monotonic() > end:
                ended.set()
                end = min(end, time.monotonic())
                if time.monotonic() > end + GOODBYE:
                    return
            try:
                reply = answers.get(timeout=0.1)
            except queue.Empty:
                continue
            if isinstance(reply, NodeRequested):
                yield reply
            elif reply is not None:
                with replies.judged([], reply):
                    event = replies.whole(reply)
                    before = left[event.node]
                    left[event.node] = still_expected(before, event)
                    expected -= bool(before) and not left[event.node]
                    yield event
        ended.set()
