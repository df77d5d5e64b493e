"""Runs a burn-in on nodes and yields events: one thread per node, which starts when the schedule allows it."""

import math
import queue
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.burnin import pack
from rackcheck.burnin.gate import StartGate
from rackcheck.burnin.node_stream import Talk
from rackcheck.burnin.ramp import NodeLoad, PowerLimits
from rackcheck.burnin.watts import estimate
from rackcheck.evaluate.verdict import Outcome, worst
from rackcheck.inventory import Node
from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Plane, Reason, Unknown, clean
from rackcheck.model.secret import scrub_text
from rackcheck.model.secret_filter import Hiding
from rackcheck.model.tree import Tree
from rackcheck.parse.burnin.plan import START, START_MOST, Tier, document
from rackcheck.run.event import Answered, Burning, Event, NodeRequested, RunDone
from rackcheck.run.job import Job, now
from rackcheck.run.judging import Judging, tree_of
from rackcheck.transport.wire import ShellLimits, ShellReply

MOST = 1024
"""Maximum number of nodes that one controller puts under load together, since each node needs a thread."""

LATE = 10.0
"""Seconds between the latest expected end of a node's burn-in and the time at which the node is abandoned.

The latest expected end is the plan's deadline, plus the longest delay of the list of GPUs and of the node's turn.
"""

LEFT = 5.0
"""Time, in seconds, that nodes have to send their last records after an interrupt."""

EVERY = 5.0
"""Seconds between two readings of a BMC while its node is under load."""

Events = queue.Queue[NodeRequested | Burning | Answered]

Beside = Callable[[Node, threading.Event], Mapping[str, Any] | None]
"""A function that reads the measurements of a node's BMC once; returns None if the BMC returned nothing."""


@dataclass(frozen=True)
class Burnin:
    """The parameters of a burn-in: tier, seed, tools to run if they are installed, and whether GPUs take part.

    `limits` bound the power of all nodes together.
    """

    tier: Tier
    seed: int
    tools: tuple[str, ...] = ()
    gpus: bool = True
    scratch: str = ""
    limits: PowerLimits = field(default_factory=PowerLimits)
    beside: Beside | None = field(default=None, compare=False)


def new_seed() -> int:
    """Return a seed for one run: all nodes of the run do the same work, and other runs do different work."""
    return random.SystemRandom().randrange(1, 2**31)


def burn(job: Job, what: Burnin, stop: threading.Event) -> Iterator[Event]:
    """Run a burn-in on all nodes and judge it; `stop` ends the load within a second and keeps the records.

    Nodes start one after the other, and within the limits of power. Raises ValueError if a node can never start.
    """
    nodes = {node.name: node for node in job.nodes}
    asked = burned(job, estimate(job.nodes, job.profile).loads, what, stop)
    yield job.started()
    trees: dict[str, Tree] = {}
    for event in asked:
        yield event
        if isinstance(event, Answered):  # parse while other nodes still work: nodes begin, and end, one after the other
            trees[event.node] = tree_of(job, nodes[event.node], [event])
    judging = Judging(job)
    for node in job.nodes:
        yield from judging.take(node, trees.pop(node.name) if node.name in trees else tree_of(job, node, []))
    yield from judging.close()
    outcome = Outcome.INCOMPLETE if stop.is_set() else worst(judged.outcome for judged in judging.judged)
    yield RunDone(now(), outcome, stop.is_set())


def burned(
    job: Job, loads: Iterable[NodeLoad], what: Burnin, stop: threading.Event
) -> Iterator[NodeRequested | Burning | Answered]:
    """Run a burn-in on all nodes, and yield their records and their answers; judges nothing.

    `loads` has the power of each node. Raises ValueError if a node can never start.
    """
    return _burned(job, StartGate(loads, what.limits, stop), what, stop)


def _burned(
    job: Job, gate: StartGate, what: Burnin, stop: threading.Event
) -> Iterator[NodeRequested | Burning | Answered]:
    here = [node for node in job.nodes if node.host]
    events: Events = queue.Queue()
    gate.open()
    for node in here:
        task = _Task(node, job, what, gate, events, stop)
        threading.Thread(target=task.run, daemon=True, name=f"burn-{node.name}").start()
    left = {node.name for node in here}
    until = math.inf
    while left and time.monotonic() < until:
        if stop.is_set():  # do not wait for nodes that are still connecting
            until = min(until, time.monotonic() + LEFT)
        try:
            event = events.get(timeout=0.1)
        except queue.Empty:
            continue
        yield event
        if isinstance(event, Answered):
            left.discard(event.node)
    for node in here:
        if node.name in left:
            why = Unknown(Reason.NOT_COLLECTED, "the run was interrupted")
            yield Answered(node.name, Plane.BURNIN, now(), why)


@dataclass(frozen=True)
class _Task:
    """One node's part of a burn-in run: the load on the node, and the readings of its BMC during the load."""

    node: Node
    job: Job
    what: Burnin
    gate: StartGate
    events: Events
    stop: threading.Event

    def run(self) -> None:
        """Run the node's burn-in to its end; never raises."""
        name = self.node.name
        self.events.put(NodeRequested(name, Plane.BURNIN))
        try:
            answered = self._burn()
        except Exception as error:  # noqa: BLE001  a bug of rackcheck affects one node only
            why = Unknown(Reason.NOT_COLLECTED, f"rackcheck failed here: {clean(repr(error))}")
            answered = Answered(name, Plane.BURNIN, now(), why)
        self.gate.over(name, whole=answered.trouble is None)
        self.events.put(answered)

    def _burn(self) -> Answered:
        what, name = self.what, self.node.name
        if not self.gate.may_connect(name):
            return Answered(name, Plane.BURNIN, now(), Unknown(Reason.NOT_COLLECTED, "the run was interrupted"))
        # In step, all nodes wait for the slowest driver; otherwise a node's load begins as soon as it is ready.
        start = START if what.limits.in_step else 0.0
        plan = document(what.tier, seed=what.seed, start=start, tools=what.tools, gpus=what.gpus, scratch=what.scratch)
        text = pack.payload(plan).encode()
        talk = Talk(
            text, self.stop, lambda records: self.events.put(Burning(name, records)),
            turn=lambda: self.gate.may_start(name),
        )  # fmt: skip
        over = threading.Event()
        looker = threading.Thread(target=self._look, args=(talk, over), daemon=True, name=f"beside-{name}")
        looker.start()
        limits = ShellLimits(deadline=plan["deadline"] + START_MOST - START + LATE + self.gate.patience)
        try:
            reply = self._reach(pack.command(len(text)), limits, talk)
        finally:
            over.set()
        looker.join(EVERY)
        records = tuple(_scrubbed(record) for record in talk.records)
        trouble = None if talk.ended else reply.cut
        if any(record.get("k") == "busy" for record in records):
            why = Unknown(Reason.NOT_COLLECTED, "another burn-in is running on this node")
            return Answered(name, Plane.BURNIN, now(), why)
        if records and not _is_ours(records[0], plan):  # records of another burn-in prove nothing about this run
            message = f"the records are from another burn-in, not from tier {plan['tier']}, seed {plan['seed']}"
            return Answered(name, Plane.BURNIN, now(), Unknown(Reason.UNPARSABLE, message))
        return Answered(name, Plane.BURNIN, now(), trouble, BurnCapture(records) if records else None)

    def _reach(self, command: str, limits: ShellLimits, talk: Talk) -> ShellReply:
        if self.node.is_local:
            from rackcheck.transport import local  # noqa: PLC0415  load only the transport that is used

            return local.talk(command, limits, talk)
        from rackcheck.transport import ssh, ssh_config  # noqa: PLC0415

        target = ssh_config.resolve(self.node, self.job.secrets)
        bmc = self.node.bmc.password if self.node.bmc is not None else ""
        hiding = Hiding(target.password, self.job.secrets.get(bmc, ""))
        talk.hide, talk.clean = hiding.data, hiding.json
        return ssh.talk(target, command, limits, talk)

    def _look(self, talk: Talk, over: threading.Event) -> None:
        """Read the BMC at intervals, and add each reading to the node's records, with its time on the node's clock."""
        beside = self.what.beside
        while beside is not None and self.node.bmc is not None and not over.is_set():
            at = talk.since()
            if at is not None:
                values = beside(self.node, over)
                if values is not None:
                    talk.add({"k": "sample", "of": "bmc", "t": round(at, 3), **values})
            over.wait(EVERY if at is not None else 0.2)


def _is_ours(first: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Return false only if a `hello` record has another tier or seed than the plan."""
    return first.get("k") != "hello" or all(first.get(key) == plan[key] for key in ("tier", "seed"))


def _scrubbed(answer: Any) -> Any:
    """Return a record with secrets removed, because the output or the arguments of a tool may contain secrets."""
    if isinstance(answer, str):
        return scrub_text(answer)
    if isinstance(answer, list):
        return [_scrubbed(each) for each in answer]
    return {key: _scrubbed(value) for key, value in answer.items()} if isinstance(answer, dict) else answer
