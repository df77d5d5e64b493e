"""The facts that are kept for a node while its verdict waits for other nodes; identical nodes share one tree. Pure."""

from collections.abc import Iterable, Mapping

from rackcheck.evaluate.input_numbers import OWN, Numbered, Reads, RuleReads
from rackcheck.model.fact import Plane
from rackcheck.model.path import Path
from rackcheck.model.tree import Leaf, Tree

TREES = 1024
"""Maximum number of trees that are kept so that identical nodes can share a tree."""


def read_of(facts: Iterable[Path]) -> RuleReads:
    """Return what must be kept for these facts: the facts, and the collections on their paths."""
    wanted = frozenset(facts)
    ways = frozenset(way for fact in wanted for way in fact.collections)
    return RuleReads(wanted | ways, ways, frozenset(Plane))


class TreeNarrower:
    """Reduces trees to the facts that will be read; `newest` is the time of the newest leaf so far."""

    def __init__(self, read: RuleReads, reads: Reads) -> None:
        self.newest = ""
        self._patterns = frozenset(str(fact.pattern) for fact in read.facts)
        self._places = reads.places(read)
        self._known: dict[tuple[int, ...], Tree] = {}

    def of(self, tree: Tree, numbered: Numbered) -> Tree:
        """Return a copy of the tree with only the facts that will be read, and without the times of the readings."""
        key = tuple(numbered.numbers[place] for place in self._places)
        texts = numbered.texts(self._places)
        if texts is None:
            leaves: Mapping[str, Leaf] = tree.narrowed(self._patterns).leaves
        else:
            leaves = {text: leaf for text in texts if (leaf := tree.leaves.get(text)) is not None}
        self.newest = max(
            self.newest, *(tree.times.get(plane, "") for plane in {leaf.plane for leaf in leaves.values()}), ""
        )
        known = None if OWN in key else self._known.get(key)
        if known is None:
            known = Tree(leaves, tree.silent)
            if len(self._known) >= TREES:
                self._known.clear()
            if OWN not in key:
                self._known[key] = known
        return known
