"""Keeps the facts that a probe read from an answer, so that equal answers of many nodes are parsed once.

Nodes of a rack differ in few answers: most files and most outputs of tools are the same on all of them. The facts are
kept by the whole answer, not by a digest, so that an equal answer has exactly these facts.
"""

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

from rackcheck.model.recently_used import RecentlyUsed
from rackcheck.model.tree import Collected, Leaf
from rackcheck.probe.contract import AnyProbe

BUDGET = 64 << 20
"""Maximum size of all kept answers and facts, in characters and bytes; a node with eight GPUs takes 8 MB."""

LEAF = 250
"""Size of a fact with its path and source in bytes, about."""

_LAST = "last"


@dataclass(frozen=True, slots=True)
class Last:
    """The facts that a probe read from a complete answer; the first `given` were returned by its parser, in this order.

    The others were added, since the answer does not contain them. `lists` are the collections among all facts.
    """

    facts: Collected = field(default_factory=Collected)
    given: int = 0
    lists: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    probe: AnyProbe  # kept alive, since its identity is in the key
    last: Last


def _weight(leaves: Collection[Leaf]) -> int:
    return len(leaves) + sum(len(leaf.reading) for leaf in leaves if type(leaf.reading) is tuple)


class KeptReadings:
    """The facts by probe and answer; safe for use by several threads."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._kept = RecentlyUsed[_Kept](budget)

    def facts(
        self,
        probe: AnyProbe,
        answer: Hashable,
        size: Callable[[], int],
        read: Callable[[], tuple[Collected, bool]],
    ) -> Collected:
        """Return the facts of a probe from an answer; `read` parses an answer that is not kept.

        `answer` is everything that the facts depend on, `size` returns its number of characters. `read` also returns
        whether the facts may be kept: those of a parser that failed may not, since the reason may be temporary.
        """
        key = id(probe), answer
        kept = self._kept.get(key)
        if kept is not None:
            return kept.last.facts
        facts, lasting = read()
        if lasting:
            weight = size() + LEAF * (1 + _weight(facts.leaves.values()))
            self._kept.put(key, _Kept(probe, Last(facts)), weight)
        return facts

    def last(self, probe: AnyProbe) -> Last:
        """Return the facts that a probe last read; a fact that is equal need not be checked again."""
        kept = self._kept.get((id(probe), _LAST))
        return Last() if kept is None else kept.last

    def keep_last(self, probe: AnyProbe, last: Last) -> None:
        """Keep the facts of a probe for the next answer."""
        size = LEAF * (1 + _weight(last.facts.leaves.values()))
        self._kept.put((id(probe), _LAST), _Kept(probe, last), size)

    def clear(self) -> None:
        """Forget all facts."""
        self._kept.clear()


kept_readings = KeptReadings()
"""The facts read by this process."""
