"""Reads nodes and yields events: several threads read planes, a queue collects their replies, and one thread judges."""

import math
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome, worst
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.tree import Tree
from rackcheck.run.asking import Answers, Collect, PlaneQueue, start_asking, still_expected, wanted
from rackcheck.run.event import Answered, Event, Judged, NodeRequested, RunDone
from rackcheck.run.in_flight import RepliesInFlight, Reply
from rackcheck.run.job import Job, now
from rackcheck.run.judging import Judging
from rackcheck.run.look_ahead import trees
from rackcheck.run.parked import ParkingFile
from rackcheck.run.read_aside import ReadAside
from rackcheck.transport.memory import Allowance

GOODBYE = 3.0
"""Maximum seconds that a stopped run waits until open requests have ended and closed their sessions."""


def audit(job: Job, ask: Collect, stop: threading.Event, there: Sequence[Answered] = ()) -> Iterator[Event]:
    """Read every node, and judge each node as soon as the replies of its planes are complete.

    The answers in `there` are stored already, and are not asked for. If `stop` is set or the deadline of the job ends,
    the run ends: replies that arrived are kept, and all other facts are unknown.
    """
    yield job.started()
    with ParkingFile() as parking:
        yield from _audit(job, ask, stop, RepliesInFlight(job.memory, parking), there)


def _audit(
    job: Job, ask: Collect, stop: threading.Event, replies: RepliesInFlight, there: Sequence[Answered]
) -> Iterator[Event]:
    answers: Answers = queue.SimpleQueue()
    with ReadAside(job, lambda: answers.put(None)) as aside:
        run = _Reading(job, replies, aside)
        workers = start_asking(job, ask, run.without(there), answers, stop, replies)
        yield from run.without_planes()
        for answer in there:
            while aside.full and not stop.is_set():
                yield from run.judged(aside.done())
                aside.pause(0.1)
            if stop.is_set():
                break
            yield from run.take(Reply(answer, Allowance()))
        cut = late = False
        end = time.monotonic() + job.deadline if job.deadline is not None else math.inf
        while run.open and (late or not stop.is_set()):
            if time.monotonic() > end + (GOODBYE if late else 0.0):
                if late:
                    break
                late = True
                stop.set()
            yield from run.judged(aside.done())
            if aside.full:
                aside.pause(0.1)
                continue
            try:
                reply = answers.get(timeout=0.1)
            except queue.Empty:
                continue
            if reply is None:  # a worker has read a node
                continue
            # After a stop, requests return immediately: the run is interrupted even if these were the last answers.
            cut = cut or (stop.is_set() and not late)
            if isinstance(reply, NodeRequested):
                yield reply
            else:
                yield from run.take(reply)
            del reply  # a large reply must not be in memory while the next one is read
        yield from run.judged(aside.rest())
        interrupted = cut or (bool(run.open) and not late)
        stop.set()
        over = Unknown(Reason.TIMEOUT, f"the deadline of {job.deadline or 0:g} s for this run has passed")
        yield from run.rest(over if late else Unknown(Reason.NOT_COLLECTED, "the run was interrupted"))
        until = time.monotonic() + (GOODBYE if interrupted else 0.0)
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
        yield RunDone(now(), _outcome(run.judging.judged, interrupted=interrupted), interrupted)


class _Reading:
    """The nodes of an audit that are being read: `open` are those that are not judged yet, `asked` their planes."""

    def __init__(self, job: Job, replies: RepliesInFlight, aside: ReadAside) -> None:
        self._job, self._replies, self._aside = job, replies, aside
        self._nodes = {node.name: node for node in job.nodes}
        self.asked = {node.name: wanted(node, job) for node in job.nodes}
        self._came: dict[str, list[Reply]] = {name: [] for name in self._nodes}
        self.open = set(self._nodes)
        self.judging = Judging(job)

    def without(self, there: Iterable[Answered]) -> Mapping[str, frozenset[PlaneQueue]]:
        """Return the planes of each node that have no answer in `there`."""
        left = dict(self.asked)
        for answer in there:
            left[answer.node] = still_expected(left[answer.node], answer)
        return left

    def without_planes(self) -> Iterator[Event]:
        """Judge the nodes of which no plane is read."""
        for name in [name for name, planes in self.asked.items() if not planes]:
            yield from self._finish(name, [])

    def take(self, reply: Reply) -> Iterator[Event]:
        """Take the reply of a plane; judge its node, or give it to a worker, if it was the last one."""
        event = self._replies.whole(reply)
        name = event.node
        self.asked[name] = still_expected(self.asked[name], event)
        yield event
        if (stored := self._aside.stored(event)) is not None:
            event, reply = stored, self._replies.stored(reply, stored)
        came = self._came[name]
        if self.asked[name]:
            in_memory = reply.parked is None and event.capture is not None and not event.capture.file
            came.append(self._replies.waits(reply) if in_memory else reply)
            return
        del self._came[name]
        if any(each.parked for each in (*came, reply)) or not self._aside.take(
            self._nodes[name], [*(each.answered for each in came), event]
        ):
            with self._replies.judged(came, reply) as waited:
                yield from self._finish(name, [*waited, event])

    def judged(self, read: Iterable[tuple[Node, Tree]]) -> Iterator[Event]:
        """Judge nodes that workers have read."""
        for node, tree in read:
            self.open.discard(node.name)
            yield from self.judging.take(node, tree)

    def rest(self, why: Unknown) -> Iterator[Event]:
        """Judge the nodes that are left, without the planes that have not answered, and rules that compare nodes."""
        for name in sorted(self.open):
            extra = [Answered(name, plane, now(), why, reading=reading) for plane, reading in sorted(self.asked[name])]
            yield from extra
            with self._replies.judged(self._came[name]) as waited:
                yield from self._finish(name, [*waited, *extra])
        yield from self.judging.close()

    def _finish(self, name: str, came: Sequence[Answered]) -> Iterator[Event]:
        self.open.discard(name)
        began = time.thread_time()
        tree = self._aside.read(self._nodes[name], came)
        self._aside.read_here(time.thread_time() - began, tree)
        yield from self.judging.take(self._nodes[name], tree)


def _outcome(done: Iterable[Judged], *, interrupted: bool) -> Outcome:
    """Return the outcome of the worst node; a run that was stopped is INCOMPLETE in any case."""
    return Outcome.INCOMPLETE if interrupted else worst(j.outcome for j in done)


def replay(job: Job, answers: Iterable[Answered], ended: RunDone | None) -> Iterator[Event]:
    """Judge the stored replies of a run again, and yield the events; no node is contacted."""
    yield job.started()
    came: dict[str, list[Answered]] = {node.name: [] for node in job.nodes}
    seen: set[tuple[str, Plane, int]] = set()
    for answer in answers:
        if answer.node not in came:
            raise UserError(f"run {job.id} contains an answer of {answer.node}, which is not one of its nodes")
        if (answer.node, answer.plane, answer.reading) in seen:
            raise UserError(f"run {job.id} contains two answers of the {answer.plane} plane of {answer.node}")
        seen.add((answer.node, answer.plane, answer.reading))
        came[answer.node].append(answer)
        yield answer
    judging = Judging(job)
    for node, tree in trees(job, came):
        yield from judging.take(node, tree)
    yield from judging.close()
    time, interrupted = (ended.time, ended.interrupted) if ended is not None else (job.time, True)
    yield RunDone(time, _outcome(judging.judged, interrupted=interrupted), interrupted)
