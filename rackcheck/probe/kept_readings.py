"""Keeps the facts that a probe read from an answer, so that equal answers of many nodes are parsed once.

Nodes of a rack differ in few answers: most files and most outputs of tools are the same on all of them. The facts are
kept by the whole answer, not by a digest, so that an equal answer has exactly these facts.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from rackcheck.model.tree import Collected, Leaf
from rackcheck.probe.contract import AnyProbe

BUDGET = 64 << 20
"""Maximum size of all kept answers and facts, in characters and bytes; a node with eight GPUs takes 8 MB."""

LEAF = 250
"""Size of a fact with its path and source in bytes, about."""

_LAST = "last"

LARGEST = 8
"""One answer may take at most this part of the budget."""


Fact = tuple[Leaf, tuple[tuple[str, str], ...]]
"""A fact that was checked, and the items in its path."""


@dataclass(frozen=True, slots=True)
class _Kept:
    probe: AnyProbe  # kept alive, since its identity is in the key
    facts: Collected
    size: int
    last: Mapping[str, Fact] = field(default_factory=dict)


def _weight(leaf: Leaf) -> int:
    return 1 + len(leaf.reading) if isinstance(leaf.reading, tuple) else 1


class KeptReadings:
    """The facts by probe and answer, the least recently used first; safe for use by several threads."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget, self._size = budget, 0
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def facts(
        self,
        probe: AnyProbe,
        answer: Hashable,
        size: int,
        read: Callable[[], tuple[Collected, bool]],
    ) -> Collected:
        """Return the facts of a probe from an answer; `read` parses an answer that is not kept.

        `answer` is everything that the facts depend on, `size` its number of characters. `read` also returns whether
        the facts may be kept: those of a parser that failed may not, since the reason may be temporary.
        """
        key = id(probe), answer
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is not None:
            return kept.facts
        facts, lasting = read()
        if lasting:
            self._keep(key, _Kept(probe, facts, size + LEAF * (1 + sum(map(_weight, facts.leaves.values())))))
        return facts

    def last(self, probe: AnyProbe) -> Mapping[str, Fact]:
        """Return the facts that a probe last parsed, by path; a fact that is equal need not be checked again."""
        with self._lock:
            kept = self._kept.get((id(probe), _LAST))
        return {} if kept is None else kept.last

    def keep_last(self, probe: AnyProbe, facts: Mapping[str, Fact]) -> None:
        """Keep the facts of a probe for the next answer."""
        size = LEAF * (1 + sum(_weight(leaf) for leaf, _ in facts.values()))
        self._keep((id(probe), _LAST), _Kept(probe, Collected(), size, facts))

    def _keep(self, key: Hashable, new: _Kept) -> None:
        if new.size > self._budget // LARGEST:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = new
            self._size += new.size - (before.size if before is not None else 0)
            while self._size > self._budget:
                self._size -= self._kept.popitem(last=False)[1].size


kept_readings = KeptReadings()
"""The facts read by this process."""
