"""Keeps the newest replies that were read from stored runs, with the facts read from them.

One command may evaluate a run several times: `accept add` judges it alone and then with the other runs, and a screen
judges it again after each waiver. Most of that time is for parsing the same replies. A reply is kept by its
digest and its file. The method `check` of the reply compares this file with the digest, so a kept reply never hides a
changed file, and a damaged copy of a run damages no other copy.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from rackcheck.inventory import Node
from rackcheck.model.capture import Capture
from rackcheck.model.fact import Plane
from rackcheck.model.tree import Tree
from rackcheck.probe.plan import Plan
from rackcheck.run.event import Answered

BUDGET = 16 << 20
"""Maximum size of all kept replies in bytes, in their stored form; a node with eight GPUs has 1.4 MB of replies."""

NONE: Mapping[str, str] = {}


@dataclass(slots=True)
class _Reply:
    """A reply, and the facts that were read from it and from the node's other replies of the same run."""

    capture: Capture
    size: int
    trees: dict[Hashable, tuple[Plan, Tree]] = field(default_factory=dict)


_ReplyKey = tuple[str, Plane, str]
"""The digest, the plane and the file of a reply."""


class KeptReplies:
    """The replies of stored runs, the least recently used first; safe for use by several threads."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget, self._size = budget, 0
        self._replies: OrderedDict[_ReplyKey, _Reply] = OrderedDict()
        self._alive: WeakValueDictionary[_ReplyKey, Capture] = WeakValueDictionary()
        self._lock = threading.Lock()

    def capture(self, digest: str, plane: Plane, size: int, later: Capture) -> Capture:
        """Return the reply with this digest that was read from the same file, or else `later`, and keep it."""
        key = digest, plane, later.file
        with self._lock:
            if (kept := self._replies.get(key)) is not None:
                self._replies.move_to_end(key)
                return kept.capture
            self._alive[key] = later
            if size <= self._budget:
                self._replies[key] = _Reply(later, size)
                self._size += size
            while self._size > self._budget:
                self._size -= self._replies.popitem(last=False)[1].size
            return later

    def tree(self, plan: Plan, node: Node, came: Sequence[Answered], read: Callable[[], Tree]) -> Tree:
        """Return the facts of a node: kept facts, if there are any for all of its replies, else the result of `read`.

        `read` parses the replies. Replies that are not from a stored run or are not kept are always parsed.
        """
        with self._lock:
            reply = self._first(came)
        if reply is None:
            return read()
        key = _key(plan, node, came)
        with self._lock:
            kept = reply.trees.get(key)
        if kept is not None:
            checked(came)
            return kept[1]
        tree = read()
        if tree.failed:  # the reason may be temporary
            return tree
        with self._lock:
            reply.trees[key] = plan, tree  # the plan keeps its probes alive, whose identities are in the key
            while len(reply.trees) > PLANS:
                del reply.trees[next(iter(reply.trees))]
        return tree

    def has(self, plan: Plan, node: Node, came: Sequence[Answered]) -> bool:
        """Whether the facts in these replies are kept."""
        with self._lock:
            reply = self._first(came)
            return reply is not None and _key(plan, node, came) in reply.trees

    def read_from_store(self, came: Sequence[Answered]) -> bool:
        """Whether each reply is the very object that was read for its digest: a changed copy has the same digest."""
        with self._lock:
            return all(
                answer.capture is None or self._alive.get(_reply_key(answer, answer.capture)) is answer.capture
                for answer in came
            )

    def _first(self, came: Sequence[Answered]) -> _Reply | None:
        """Return the entry of the first reply, if the captures of all answers are kept here; else None."""
        kept: list[_Reply] = []
        for answer in came:
            if answer.capture is not None:
                reply = self._replies.get(_reply_key(answer, answer.capture))
                if reply is None or reply.capture is not answer.capture:
                    return None
                kept.append(reply)
        return kept[0] if kept else None


def _reply_key(answer: Answered, capture: Capture) -> _ReplyKey:
    return answer.digest, answer.plane, capture.file


def checked(came: Sequence[Answered], seals: Mapping[str, str] = NONE) -> dict[str, str]:
    """Compare the stored replies with their digests, or their files with known seals; return the seals of the files.

    Raises UserError if a file is missing or was changed.
    """
    captures = {answer.digest: answer.capture for answer in came if answer.capture is not None}
    return {digest: capture.check(seals.get(digest, "")) for digest, capture in captures.items()}


PLANS = 2
"""Maximum number of plans for which the facts of a reply are kept: a run's own profile, and that of an acceptance."""


def _key(plan: Plan, node: Node, came: Sequence[Answered]) -> Hashable:
    """Return the key of a tree: all inputs of the tree, with the digests of the replies instead of their contents."""
    givers = tuple(map(id, (*plan.probes, *plan.joins)))
    answers = tuple((answer.plane, answer.time, answer.trouble, answer.digest) for answer in came)
    return givers, plan.wanted, bool(node.host), node.bmc is None, answers


kept_replies = KeptReplies()
"""The replies of this process."""
