"""Facts of nodes in a run's events: in full for the first of similar nodes, for the others only what differs from it.

A node has over 20,000 facts, and most of them are equal on all nodes of a rack. Source and time of a fact are not
stored: whoever shows them reads the raw replies again. The reader of these events is `run/index/fact_parts`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rackcheck.model.fact import same_reading
from rackcheck.model.tree import Leaf, Tree, not_shared
from rackcheck.probe.group import is_group
from rackcheck.run.event import fact_json

BASES = 8
"""Maximum number of nodes of a run that others are compared with: one for each kind of machine."""


class FactsWriter:
    """Makes the events `facts` of one run; keeps the facts of the first node of each kind of machine."""

    def __init__(self) -> None:
        self._bases: dict[str, Mapping[str, Leaf]] = {}

    def doc(self, node: str, tree: Tree) -> dict[str, Any]:
        """Return the event with a node's facts: all of them, or what differs from an earlier node of this run."""
        leaves, event = tree.leaves, {"event": "facts", "node": node}
        for name, base in self._bases.items():
            changed = [path for path in not_shared(leaves, base) if not _same(base.get(path), leaves[path])]
            fresh = sum(path not in base for path in changed)
            gone = sorted(base.keys() - leaves.keys()) if len(base) + fresh > len(leaves) else []
            if 2 * (len(changed) + len(gone)) <= len(leaves):
                return event | {"like": name, "set": _facts(leaves, changed), "gone": gone}
        if len(self._bases) < BASES and not is_group(node):
            self._bases[node] = leaves
        return event | {"facts": _facts(leaves, leaves)}


def _facts(leaves: Mapping[str, Leaf], paths: Iterable[str]) -> dict[str, Any]:
    return {path: fact_json(leaves[path]) for path in sorted(paths)}


def _same(before: Leaf | None, now: Leaf) -> bool:
    """Whether two facts have the same stored form, which has no source."""
    if before is None or before.plane is not now.plane or not same_reading(before.reading, now.reading):
        return False
    return before.kind is now.kind or before.kind == now.kind
