"""Derives the facts of joins; nodes with the same inputs of a join share the facts that it derives.

Most joins compare the parts of one node, which are equal on all nodes of a rack. The inputs of a join have numbers
(see `evaluate/input_numbers`), and a join is computed only for numbers that no earlier node had.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from rackcheck.evaluate.input_numbers import OWN, Reads, RuleReads
from rackcheck.evaluate.narrowed import read_of
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import Join, derive

HELD = 32
"""Maximum number of different inputs for which the facts of one join are kept."""

PLANS = 4
"""Maximum number of sets of joins for which facts are kept: those of the profiles that one process uses."""


class DerivedFacts:
    """The facts that a set of joins derived from earlier nodes, by the numbers of their inputs."""

    def __init__(self, joins: tuple[Join, ...]) -> None:
        reads = [_read_by(each) for each in joins]
        self.joins = joins
        self._reads = Reads(reads)
        self._places = [self._reads.places(read) for read in reads]
        self._known: list[dict[tuple[int, ...], Mapping[str, Leaf]]] = [{} for _ in joins]
        self._lock = threading.Lock()

    def of(self, tree: Tree, failures: list[str]) -> dict[str, Leaf]:
        """Return the facts that the joins derive from a node's facts; joins that failed are appended to `failures`."""
        found: dict[str, Leaf] = {}
        with self._lock:
            numbers = self._reads.of(tree).numbers
            for join, places, known in zip(self.joins, self._places, self._known, strict=True):
                key = tuple(numbers[place] for place in places)
                leaves = None if OWN in key else known.get(key)
                if leaves is None:
                    failed: list[str] = []
                    leaves = derive((join,), tree, failed)
                    failures += failed
                    if not failed and OWN not in key:
                        if len(known) >= HELD:
                            known.clear()
                        known[key] = leaves
                found |= leaves
        return found


def _read_by(join: Join) -> RuleReads:
    """Return what decides the facts of a join: the facts that it may read, and the items whose facts it derives."""
    read = read_of(map(paths.parse, join.reads))
    ways = frozenset(way for given in join.gives for way in paths.parse(given).collections)
    return RuleReads(read.facts | ways, read.collections | ways, frozenset(Plane))


_kept: OrderedDict[tuple[int, ...], DerivedFacts] = OrderedDict()
"""The facts derived by this process, by the identities of the joins, which the values keep alive."""

_lock = threading.Lock()


def derived_facts(joins: Iterable[Join]) -> DerivedFacts:
    """Return the kept facts of a set of joins."""
    mine = tuple(joins)
    key = tuple(map(id, mine))
    with _lock:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = DerivedFacts(mine)
        _kept.move_to_end(key)
        while len(_kept) > PLANS:
            _kept.popitem(last=False)
    return found
