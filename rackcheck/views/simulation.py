"""Whether a run is that of a simulated rack: its nodes and BMCs mark themselves on both planes. Pure."""

from collections.abc import Mapping

from rackcheck.model.capture import BmcCapture, Capture
from rackcheck.model.resource import ROOT
from rackcheck.model.tree import Tree
from rackcheck.run.simulated_run import MARKS, NODE_MARK, of_targets

__all__ = ["MARKS", "NODE_MARK", "SIMULATED", "bmc_is_simulated", "is_simulated", "of_targets"]

SIMULATED = "No machine was read: all values are made up, to show what such a document contains."


def is_simulated(tree: Tree) -> bool:
    """Whether a node, or its BMC, marks itself as simulated."""
    leaves = (tree.leaves.get(path) for path in MARKS)
    return any(leaf is not None and isinstance(leaf.reading, str) for leaf in leaves)


def bmc_is_simulated(capture: Capture) -> bool:
    """Whether the replies of a BMC have its mark, which is in the service root, whatever else was read."""
    body = capture.bodies.get(ROOT) if isinstance(capture, BmcCapture) else None
    for word in ("Oem", "Rackcheck", "Simulator"):
        body = body.get(word) if isinstance(body, Mapping) else None
    return isinstance(body, str)
