"""Whether a run is that of a simulated rack: its nodes and BMCs mark themselves on both planes. Pure."""

from rackcheck.model.tree import Tree

SIMULATED = "No machine was read: all values are made up, to show what such a document contains."

MARKS = ("node.simulator", "bmc.simulator")
"""The facts that only a simulated node, or its BMC, has; they are read in every audit, and stored with the replies."""


def of_targets(targets: str) -> bool:
    """Whether a run's targets name a simulated rack; so do those of runs from before there were marks."""
    return " sim:" in f" {targets}"


def is_simulated(tree: Tree) -> bool:
    """Whether a node, or its BMC, marks itself as simulated."""
    leaves = (tree.leaves.get(path) for path in MARKS)
    return any(leaf is not None and isinstance(leaf.reading, str) for leaf in leaves)
