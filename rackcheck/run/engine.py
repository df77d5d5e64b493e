"""Reads nodes and yields events: several threads read planes, a queue collects their replies, and one thread judges."""

import math
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome, worst
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane, Reason, Unknown, clean
from rackcheck.model.tree import Tree
from rackcheck.probe import answers, script
from rackcheck.run.event import Answered, Event, Judged, NodeRequested, RunDone
from rackcheck.run.in_flight import RepliesInFlight, Reply
from rackcheck.run.job import Job, now
from rackcheck.run.judging import Judging, tree_of
from rackcheck.run.look_ahead import trees
from rackcheck.run.parked import ParkingFile
from rackcheck.run.read_aside import ReadAside
from rackcheck.run.turns import Times, Turn, Turns, widths
from rackcheck.transport import wire
from rackcheck.transport.memory import Allowance
from rackcheck.transport.wire import ShellLimits

if TYPE_CHECKING:
    from rackcheck.transport import redfish
    from rackcheck.transport.redfish.trace import Trace

GOODBYE = 3.0
"""Maximum seconds that a stopped run waits until open requests have ended and closed their sessions."""


FIRST, AGAIN = 1, 2
"""The numbers of the first and the second reading of a plane."""

PlaneQueue = tuple[Plane, int]
"""A plane, and the number of its reading: FIRST or AGAIN."""

_Answers = queue.Queue[NodeRequested | Reply | None]
"""What other threads send to the one that judges; None after a worker has read a node."""

Collect = Callable[[Node, Plane, Job, threading.Event], Answered]
"""A function that reads one plane of one node; it returns errors in its result, and raises no exception."""


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
    answers: _Answers = queue.Queue()
    with ReadAside(job, lambda: answers.put(None)) as aside:
        run = _Reading(job, replies, aside)
        workers = _start(job, ask, run.without(there), answers, stop, replies)
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
            left[answer.node] = _left(left[answer.node], answer)
        return left

    def without_planes(self) -> Iterator[Event]:
        """Judge the nodes of which no plane is read."""
        for name in [name for name, planes in self.asked.items() if not planes]:
            yield from self._finish(name, [])

    def take(self, reply: Reply) -> Iterator[Event]:
        """Take the reply of a plane; judge its node, or give it to a worker, if it was the last one."""
        event = self._replies.whole(reply)
        name = event.node
        self.asked[name] = _left(self.asked[name], event)
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

    def _finish(self, name: str, came: Iterable[Answered]) -> Iterator[Event]:
        self.open.discard(name)
        yield from self.judging.take(self._nodes[name], tree_of(self._job, self._nodes[name], came))


def _left(asked: frozenset[PlaneQueue], event: Answered) -> frozenset[PlaneQueue]:
    """Return the readings of a node that are still expected; a plane without an answer is not read again."""
    gone = {(event.plane, event.reading)} | ({(event.plane, AGAIN)} if event.capture is None else set())
    return asked - gone


def _outcome(done: Iterable[Judged], *, interrupted: bool) -> Outcome:
    """Return the outcome of the worst node; a run that was stopped is INCOMPLETE in any case."""
    return Outcome.INCOMPLETE if interrupted else worst(j.outcome for j in done)


def wanted(node: Node, job: Job) -> frozenset[PlaneQueue]:
    """Return the planes of a node that the job reads, each with the number of its reading (1 or 2)."""
    has = {Plane.OS} if node.host else set()
    has |= {Plane.BMC} if node.bmc is not None else set()
    planes = has & job.plan.planes & job.planes
    again = planes & job.again.plan.planes if job.again is not None else set()
    return frozenset({(plane, FIRST) for plane in planes} | {(plane, AGAIN) for plane in again})


def _start(
    job: Job,
    ask: Collect,
    asked: Mapping[str, frozenset[PlaneQueue]],
    answers: "_Answers",
    stop: threading.Event,
    replies: RepliesInFlight,
) -> list[threading.Thread]:
    """Start the threads that ask the planes; each thread asks planes of one kind until none is left."""
    expected = dict(asked)

    def work(turns: Turns) -> None:
        while (turn := turns.take()) is not None:
            try:
                answers.put(one(turn, turns))
            finally:
                turns.done(turn)

    def one(turn: Turn, turns: Turns) -> Reply:
        node, plane = turn.node, turn.plane
        allowance = replies.allowance(stop)
        answers.put(NodeRequested(node.name, plane))
        answered, times = _read_plane(ask, node, plane, replace(job, allowance=allowance), stop, turn.before)
        reply = replies.arrived(answered, allowance)
        read = reply.answered.capture is not None or reply.parked is not None
        if turn.before is None and read and job.again is not None and (plane, AGAIN) in expected[node.name]:
            turns.add(Turn(node, plane, time.monotonic() + job.again.seconds, times))
        return reply

    workers: list[threading.Thread] = []
    for plane, most in widths().items():
        first = [Turn(node, plane) for node in job.nodes if (plane, FIRST) in asked[node.name]]
        turns = Turns(first, job.limits, stop)
        workers += [
            threading.Thread(target=work, args=(turns,), daemon=True, name=f"{plane}-{number}")
            for number in range(min(most, len(turns)))
        ]
    for worker in workers:
        worker.start()
    return workers


def _read_plane(
    ask: Collect, node: Node, plane: Plane, job: Job, stop: threading.Event, before: Times | None
) -> tuple[Answered, Times]:
    """Read a plane; return the reply, and the start and end of the reading by the monotonic clock.

    For a second reading, `before` contains the times of the first reading.
    """
    if job.again is not None and before is not None:
        job = replace(job, plan=job.again.plan)
    began = time.monotonic()
    try:
        answered = ask(node, plane, job, stop)
    except Exception as error:  # noqa: BLE001  the boundary: an internal error costs one plane of one node
        why = Unknown(Reason.NOT_COLLECTED, f"rackcheck failed here: {clean(repr(error))}")
        answered = Answered(node.name, plane, now(), why)
    times = began, time.monotonic()
    if before is None:
        return answered, times
    # A node reads a value at some time between request and answer; the bounds are rounded outward.
    least, most = times[0] - before[1], times[1] - before[0]
    apart = math.floor(max(0.0, least) * 100) / 100, math.ceil(most * 100) / 100
    return replace(answered, reading=AGAIN, apart=apart), times


def ask_plane(node: Node, plane: Plane, job: Job, stop: threading.Event, trace: "Trace | None" = None) -> Answered:
    """Read one plane of a node; `trace` records the response headers and the duration of each GET of a BMC."""
    if plane is Plane.BMC:
        return _ask_bmc(node, job, stop, trace)
    mark = token_hex(16)
    limits = ShellLimits() if job.seconds is None else ShellLimits(deadline=job.seconds)
    questions = job.plan.questions
    text = script.compose(questions, mark, sudo=node.ssh.sudo)
    if node.is_local:
        from rackcheck.transport import local  # noqa: PLC0415  only the transport in use is loaded

        reply = local.run(text, limits, job.allowance)
    else:
        from rackcheck.transport import ssh, ssh_config  # noqa: PLC0415

        reply = ssh.run(ssh_config.resolve(node, job.secrets), text, limits, job.allowance)
    if not reply.reached:
        return Answered(node.name, plane, now(), reply.cut)
    raw, cut = reply.raw, reply.cut
    job.allowance.until = math.inf  # the node has answered: only other replies are waited for
    split = answers.split(raw, questions, mark, cut, job.allowance.add)
    capture = split.capture.scrubbed()
    job.allowance.give(split.transient + wire.COPIES * len(raw))
    return Answered(node.name, plane, now(), None if split.whole else cut, capture)


def _ask_bmc(node: Node, job: Job, stop: threading.Event, trace: "Trace | None") -> Answered:
    from rackcheck.transport import redfish  # noqa: PLC0415
    from rackcheck.transport.redfish.unclosed import left_open  # noqa: PLC0415

    if node.bmc is not None and not node.bmc.password:  # a login without a password would count as a failed login
        why = Unknown(Reason.DENIED, "no password in the inventory")
        return Answered(node.name, Plane.BMC, now(), why)
    limits = redfish.Limits()
    if node.bmc is not None:
        limits = replace(limits, width=node.bmc.width, expand=node.bmc.expand)
    if job.seconds is not None:
        limits = replace(limits, deadline=job.seconds)
    plan = job.plan
    capture, trouble = redfish.read(
        bmc_of(node, job.secrets), plan.links, limits, whole=plan.whole_links, stop=stop, trace=trace,
        allowance=job.allowance,
    )  # fmt: skip
    return Answered(node.name, Plane.BMC, now(), trouble, capture, note=left_open(capture.bodies))


def bmc_of(node: Node, known: Mapping[str, str]) -> "redfish.Bmc":
    """Return the BMC of a node with its password; raises ValueError if the URL or the fingerprint is invalid."""
    from rackcheck.transport import redfish  # noqa: PLC0415

    assert node.bmc is not None
    bmc = node.bmc
    ca = str(Path(bmc.ca).expanduser()) if bmc.ca else ""
    return redfish.Bmc(bmc.url, bmc.user, known.get(bmc.password, ""), bmc.fingerprint or None, ca or None)


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
