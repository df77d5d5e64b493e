"""The facts of all nodes of a stored run, in the order of the job; worker processes read the next nodes in advance.

Facts that are kept in memory or on disk are not read by workers. Whatever a worker cannot do is done in this process,
so the facts are the same for any number of workers.
"""

import os
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from rackcheck.base import program
from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.tree import Tree
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import is_own, registry
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import readings, tree_of
from rackcheck.run.kept_replies import kept_replies
from rackcheck.run.reading import parsed
from rackcheck.run.reading_pool import Here, Lost, ReadingPool, Result
from rackcheck.run.worker_forms import KindsOfMachines, plan_form, task_form

WORKERS = "RACKCHECK_WORKERS"
"""The environment variable with the number of worker processes; 0 reads all replies in this process."""

MOST = 64
"""Maximum number of workers that a user can set."""

USUAL = 4
"""Maximum number of workers if the user sets none: with more, this process, which judges, is the slowest."""

FEWEST = 48
"""Minimum number of nodes to read for which workers are started: each loads the program, and reads alone at first."""

AHEAD = 3
"""How many nodes for each worker may be read before they are judged."""

TRIED = 5
"""Number of nodes, the newest, by whose time it is decided whether workers are started."""

CLEAR = 2
"""Number of nodes, the newest, that are enough for this decision if each took at least twice the time needed."""

COST = 1.0
"""CPU time in seconds that a worker takes to load the program, and to read its first node."""

_Key = tuple[str, int]
"""A node, and the number of the reading."""


def trees(
    job: Job, came: dict[str, list[Answered]], start: Callable[[int], ReadingPool] = ReadingPool
) -> Iterator[tuple[Node, Tree]]:
    """Yield each node of a job with its facts; `came` has the answers of each node, and is emptied.

    `start` makes a pool of a number of workers.

    Raises UserError if a stored reply is damaged, or if the number of workers is invalid.
    """
    tasks = Tasks(job)
    count = tasks.workers(came)
    trial = Trial(count)
    nodes = deque(job.nodes)
    while nodes and not trial.worth(len(nodes)):
        node = nodes.popleft()
        began = time.thread_time()
        tree = tree_of(job, node, came.pop(node.name))
        trial.add(time.thread_time() - began, tree)
        yield node, tree
    if not nodes:
        return
    with start(count) as pool:
        ahead = _Ahead(ExpectedFacts(pool, trial.kinds), tasks, nodes, came, AHEAD * count)
        for node in nodes:
            ahead.fill()
            tree = tree_of(job, node, came.pop(node.name), ahead.expected.tree)
            ahead.expected.drop(node)
            yield node, tree


@dataclass(frozen=True)
class Task:
    """The replies of one reading of a node, in the form in which a worker gets them, with its plan."""

    key: _Key
    plan: Mapping[str, Any]
    doc: Mapping[str, Any]


class Trial:
    """Whether workers take less time than they save: nodes whose replies are short are read here in that time.

    `count` is the number of workers; if the user has set it, workers are always worth it. `kinds` are the kinds of
    machines that were read here.
    """

    def __init__(self, count: int) -> None:
        self._count, self._sure = count, wanted_workers() is not None
        self._seconds: deque[float] = deque(maxlen=TRIED)
        self.kinds = KindsOfMachines()

    def add(self, seconds: float, tree: Tree) -> None:
        """Add the CPU time in which a node was read, and its facts."""
        self._seconds.append(seconds)
        if self._count:
            self.kinds.add(tree)

    def worth(self, left: int) -> bool:
        """Whether so many nodes are worth workers, by the median of the newest nodes."""
        if self._count == 0 or self._sure:
            return self._count > 0
        needed = 2 * COST * self._count
        newest = [*self._seconds][-CLEAR:]
        if len(newest) == CLEAR and min(newest) * left > 2 * needed:
            return True
        return len(self._seconds) == TRIED and statistics.median(self._seconds) * left > needed


class Tasks:
    """What workers can read of a job's nodes."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._forms: dict[tuple[int, ...], Mapping[str, Any] | None] = {}

    def workers(self, came: Mapping[str, Sequence[Answered]]) -> int:
        """Return the number of workers for these answers."""
        count, fewest = workers(self._job)
        if count == 0:
            return 0
        missing = 0
        for node in self._job.nodes:
            missing += any(True for _ in self.of(node, came[node.name]))
            if missing >= max(fewest, count):
                return count
        return min(count, missing) if missing >= fewest else 0

    def of(self, node: Node, came: Sequence[Answered]) -> Iterator[Task]:
        """Yield the tasks of a node: what is not kept, and can be read from files."""
        kept = self._job.kept
        for plan, answers in readings(self._job, came):
            stored = [answer for answer in answers if answer.capture is not None]
            if not stored or not all(answer.capture is not None and answer.capture.file for answer in stored):
                continue
            if not kept_replies.read_from_store(answers) or kept_replies.has(plan, node, answers):
                continue
            if kept is not None and kept.has(plan, node, answers):
                continue
            task = self.task(plan, node, answers)
            if task is not None:
                yield task

    def task(self, plan: Plan, node: Node, answers: Sequence[Answered]) -> Task | None:
        """Return the task to read these answers; None if the plan has probes that are not rackcheck's own."""
        known = registry()
        key = tuple(map(id, (*plan.probes, *plan.joins, plan.wanted)))
        if key not in self._forms:
            self._forms[key] = plan_form(plan, known.probes, known.joins)
        form = self._forms[key]
        if form is None:
            return None
        doc = task_form(answers, host=bool(node.host), bmc=node.bmc is not None)
        return Task((node.name, answers[0].reading), form, doc)


def wanted_workers() -> int | None:
    """Return the number of workers that the user has set, if any; raises UserError if it is invalid."""
    given = os.environ.get(WORKERS, "")
    if given and not (given.isascii() and given.isdecimal() and int(given) <= MOST):
        raise UserError(f"{WORKERS} must be a number from 0 to {MOST}, not {given!r}")
    return int(given) if given else None


def workers(job: Job) -> tuple[int, int]:
    """Return the number of workers for a job, and the minimum number of nodes for which they are started."""
    count = wanted_workers()
    fewest = FEWEST if count is None else 1
    if count is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        count = min(USUAL, cores) if cores > 1 else 0
    return (count, fewest) if len(job.nodes) >= fewest and _able() else (0, fewest)


def _able() -> bool:
    """Whether a worker would run the same program, with the same probes."""
    return bool(sys.executable) and is_own(registry().catalogue) and program.digest() != ""


class ExpectedFacts:
    """The facts that workers are reading; `kinds` are the kinds of machines that this process has read itself."""

    def __init__(self, pool: ReadingPool, kinds: KindsOfMachines) -> None:
        self._pool, self._kinds = pool, kinds
        self._results: dict[_Key, Future[Result]] = {}

    def __len__(self) -> int:
        return len(self._results)

    def add(self, task: Task) -> "Future[Result]":
        """Give a task to a worker."""
        found = self._results[task.key] = self._pool.submit(task.plan, task.doc)
        return found

    def drop(self, node: Node) -> None:
        """Forget results that were not needed, because the facts were kept in the meantime."""
        for key in [key for key in self._results if key[0] == node.name]:
            del self._results[key]

    def tree(self, plan: Plan, node: Node, answers: Sequence[Answered]) -> Tree:
        """Return the facts that a worker has read; without a result, read the replies in this process.

        If the replies have ended two workers, their facts are unknown.
        """
        pending = self._results.pop((node.name, answers[0].reading), None) if answers else None
        if pending is None:
            return parsed(plan, node, answers)
        found = pending.result()
        if isinstance(found, Here):
            return parsed(plan, node, answers)
        if isinstance(found, Lost):
            return _lost(plan, node, answers, found.why)
        try:
            return found.tree(self._kinds)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return parsed(plan, node, answers)


class _Ahead:
    """Gives the next nodes to workers, until `most` readings are expected."""

    def __init__(
        self, expected: ExpectedFacts, tasks: Tasks, nodes: Iterable[Node], came: Mapping[str, Sequence[Answered]],
        most: int,
    ) -> None:  # fmt: skip
        self.expected, self._tasks, self._came, self._most = expected, tasks, came, most
        self._next = deque(nodes)

    def fill(self) -> None:
        """Give the next nodes to workers."""
        while self._next and len(self.expected) < self._most:
            node = self._next.popleft()
            for task in self._tasks.of(node, self._came[node.name]):
                self.expected.add(task)


def _lost(plan: Plan, node: Node, answers: Sequence[Answered], how: str) -> Tree:
    """Return the facts of a node whose replies have ended two workers: those of the planes in them are unknown."""
    why = Unknown(Reason.UNPARSABLE, f"two processes ended while they read the replies ({how})")
    silent = [answer if answer.capture is None else replace(answer, capture=None, trouble=why) for answer in answers]
    return replace(parsed(plan, node, silent), failed=("reading",))  # not kept: the reason may be temporary
