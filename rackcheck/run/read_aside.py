"""Worker processes that read the replies of an audit as soon as the replies are stored, while other nodes are read.

Replies that were not stored are read in this process, so the facts are the same for any number of workers.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.tree import Tree
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import Parse, readings, tree_of
from rackcheck.run.look_ahead import AHEAD, ExpectedFacts, Tasks, Trial, workers
from rackcheck.run.reading import parsed
from rackcheck.run.reading_pool import ReadingPool, Result

REST = 10.0
"""Maximum seconds to wait for workers at the end of a run; replies that are left are read in this process."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A node whose replies are being read."""

    node: Node
    answers: Sequence[Answered]
    results: Sequence["Future[Result]"]

    @property
    def done(self) -> bool:
        return all(result.done() for result in self.results)


class ReadAside:
    """The nodes of an audit whose replies workers are reading; `wake` is called, in other threads, after each result.

    Without workers, no reply is taken: the caller reads all of them. Raises UserError if the number of workers that the
    user has set is invalid.
    """

    def __init__(self, job: Job, wake: Callable[[], None], start: Callable[[int], ReadingPool] = ReadingPool) -> None:
        self._job, self._wake = job, wake
        self._stored = job.stored
        self._count = workers(job)[0] if self._stored is not None else 0
        self._start = start
        self._trial, self._left = Trial(self._count), len(job.nodes)
        self._pool: ReadingPool | None = None
        self._expected: ExpectedFacts | None = None
        self._tasks = Tasks(job)
        self._pending: list[_Pending] = []

    def __enter__(self) -> Self:
        self._begin()
        return self

    def _begin(self) -> None:
        """Start the workers, if they are worth it."""
        if self._pool is None and self._trial.worth(self._left):
            self._pool = self._start(self._count)
            self._pool.__enter__()
            self._expected = ExpectedFacts(self._pool, self._trial.kinds)

    def read_here(self, seconds: float, tree: Tree) -> None:
        """Take note that the facts of a node were read in this process, in so much CPU time."""
        self._left -= 1
        if self._pool is None:
            self._trial.add(seconds, tree)
        self._begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close()

    @property
    def full(self) -> bool:
        """Return whether no more replies should be taken until one of the pending nodes has been read."""
        return (
            bool(self._pending)
            and len(self._pending) >= AHEAD * self._count
            and not any(each.done for each in self._pending)
        )

    def stored(self, answered: Answered) -> Answered | None:
        """Return the answer with its stored reply, if workers can read it."""
        if self._stored is None:
            return None
        found = self._stored.take(answered)
        return found if self._pool is not None else None

    def take(self, node: Node, answers: Sequence[Answered]) -> bool:
        """Give the complete replies of a node to workers; False if they must be read in this process."""
        if self._expected is None:
            return False
        tasks = []
        for plan, mine in readings(self._job, answers):
            captures = [answer.capture for answer in mine if answer.capture is not None]
            if captures:
                task = self._tasks.task(plan, node, mine) if all(each.file for each in captures) else None
                if task is None:
                    return False
                tasks.append(task)
        if not tasks:
            return False
        results = [self._expected.add(task) for task in tasks]
        self._pending.append(_Pending(node, answers, results))
        for result in results:
            result.add_done_callback(lambda _: self._wake())
        return True

    def done(self) -> Iterator[tuple[Node, Tree]]:
        """Yield the nodes that have been read, with their facts."""
        for each in [each for each in self._pending if each.done]:
            self._pending.remove(each)
            yield each.node, self._tree(each)

    def rest(self) -> Iterator[tuple[Node, Tree]]:
        """Wait for the pending nodes, and yield them with their facts."""
        results = [result for each in self._pending for result in each.results]
        if wait(results, timeout=REST).not_done and self._pool is not None:
            self._pool.close()
        yield from self.done()

    def pause(self, seconds: float) -> None:
        """Wait until a result arrives, at most `seconds`."""
        wait([r for each in self._pending for r in each.results if not r.done()], seconds, FIRST_COMPLETED)

    def _tree(self, each: _Pending) -> Tree:
        assert self._expected is not None
        tree = self.read(each.node, each.answers, self._expected.tree)
        self._expected.drop(each.node)
        return tree

    def read(self, node: Node, answers: Sequence[Answered], parse: Parse = parsed) -> Tree:
        """Return the facts of a node; a stored reply that was damaged or removed costs the facts of its plane."""
        try:
            return tree_of(self._job, node, answers, parse)
        except UserError:
            return tree_of(self._job, node, map(_readable, answers))


def _readable(answer: Answered) -> Answered:
    """Return an answer; without its reply, and with the reason, if the stored reply cannot be read."""
    try:
        if answer.capture is not None:
            answer.capture.load()
    except UserError as error:
        why = Unknown(Reason.NOT_COLLECTED, f"the stored reply could not be read: {clean(str(error), 200)}")
        return replace(answer, capture=None, trouble=why)
    return answer
