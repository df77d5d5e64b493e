"""Whether a stored run is of simulated nodes, without evaluating it: by its targets, or by the marks of its nodes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rackcheck.base import safe_read

if TYPE_CHECKING:
    from rackcheck.run.store import Stored

MARKED_FILE = "/run/rackcheck/simulator"
"""The file by which a simulated node marks itself, which the probe of `node.simulator` reads; it has one line."""

NODE_MARK = "node.simulator"

MARKS = (NODE_MARK, "bmc.simulator")
"""The facts that only a simulated node, or its BMC, has; they are read in every audit, and stored with the replies."""

# In a text of a node, each of these quotes has a backslash before it.
_STORED = tuple(f'"{mark}":{{"value":'.encode() for mark in MARKS)


def of_targets(targets: str) -> bool:
    """Whether a run's targets name a simulated rack; so do those of runs from before there were marks."""
    return " sim:" in f" {targets}"


def has_mark(facts: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether stored facts, by path, contain the mark of a simulated node."""
    return any("value" in facts.get(mark, {}) for mark in MARKS)


def is_simulated(runs: Iterable["Stored"]) -> bool:
    """Whether any node of these stored runs is simulated."""
    return any(of_targets(str(run.head.get("targets", ""))) or _marked(run) for run in runs)


def _marked(run: "Stored") -> bool:
    with safe_read.opened(run.folder / "events.jsonl") as file:
        return any(mark in line for line in file for mark in _STORED)
