"""Asks the planes of nodes, with many threads; each answer is put into a queue."""

import math
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from rackcheck.inventory import Node
from rackcheck.model.fact import Plane, Reason, Unknown, clean
from rackcheck.probe import answers, script
from rackcheck.run.event import Answered, NodeRequested
from rackcheck.run.in_flight import RepliesInFlight, Reply
from rackcheck.run.job import Job, now
from rackcheck.run.turns import Times, Turn, Turns, widths
from rackcheck.transport import wire
from rackcheck.transport.wire import ShellLimits

if TYPE_CHECKING:
    from rackcheck.transport import redfish
    from rackcheck.transport.redfish.trace import Trace

FIRST, AGAIN = 1, 2
"""The numbers of the first and the second reading of a plane."""

PlaneQueue = tuple[Plane, int]
"""A plane, and the number of its reading: FIRST or AGAIN."""

Answers = queue.SimpleQueue[NodeRequested | Reply | None]
"""What other threads send to the one that judges; None after a worker has read a node."""

Collect = Callable[[Node, Plane, Job, threading.Event], Answered]
"""A function that reads one plane of one node; it returns errors in its result, and raises no exception."""


def still_expected(asked: frozenset[PlaneQueue], event: Answered) -> frozenset[PlaneQueue]:
    """Return the readings of a node that are still expected; a plane without an answer is not read again."""
    gone = {(event.plane, event.reading)} | (set() if event.has_reply else {(event.plane, AGAIN)})
    return asked - gone


def wanted(node: Node, job: Job) -> frozenset[PlaneQueue]:
    """Return the planes of a node that the job reads, each with the number of its reading (1 or 2)."""
    has = {Plane.OS} if node.host else set()
    has |= {Plane.BMC} if node.bmc is not None else set()
    planes = has & job.plan.planes & job.planes
    again = planes & job.again.plan.planes if job.again is not None else set()
    return frozenset({(plane, FIRST) for plane in planes} | {(plane, AGAIN) for plane in again})


def start_asking(
    job: Job,
    ask: Collect,
    asked: Mapping[str, frozenset[PlaneQueue]],
    answers: Answers,
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
            for number in range(min(most, turns.width))
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
    job.allowance.give(split.transient + wire.COPIES * len(raw))
    return Answered(node.name, plane, now(), None if split.whole else cut, split.capture)


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
