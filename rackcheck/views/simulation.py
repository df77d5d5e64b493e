"""Whether a run is that of a simulated rack: its nodes and BMCs mark themselves on both planes. Pure."""

from rackcheck.model.tree import Tree
from rackcheck.run.simulated_run import MARKS, of_targets

__all__ = ["MARKS", "SIMULATED", "is_simulated", "of_targets"]

SIMULATED = "No machine was read: all values are made up, to show what such a document contains."


def is_simulated(tree: Tree) -> bool:
    """Whether a node, or its BMC, marks itself as simulated."""
    leaves = (tree.leaves.get(path) for path in MARKS)
    return any(leaf is not None and isinstance(leaf.reading, str) for leaf in leaves)
