"""Reads the events of a run as validated rows for the index."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.change import STEADY, reading
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Class, Plane, clean, visible
from rackcheck.probe.group import is_group
from rackcheck.run import stored_forms
from rackcheck.run.event import RunDone, RunStarted
from rackcheck.run.index.fact_parts import FactsReader
from rackcheck.run.index.parts import IndexPart, canonical
from rackcheck.run.store import Stored

CUT_OFF = "CUT OFF"
"""The outcome of a run without an event `run done`."""

NODES = 200_000
"""Maximum number of nodes of a run, and of the rules or facts of a node."""

NAME = 4096
"""Maximum number of characters of the name of a node or a rule."""

REASON = 500
"""Maximum number of characters of a reason in the index; the run's folder contains the whole text."""


@dataclass(frozen=True, slots=True)
class Vector:
    """All verdicts of a node as tuples of rule, verdict and reason, sorted by rule."""

    digest: bytes
    verdicts: tuple[tuple[str, str, str], ...]
    fails: int
    unknowns: int


@dataclass(frozen=True, slots=True)
class Snap:
    """One node in one run; `vector` and `outcome` are None if the node was not judged."""

    node: str
    parts: Mapping[Class, IndexPart]
    vector: Vector | None = None
    outcome: Outcome | None = None


def vector_of(verdicts: list[tuple[str, str, str]]) -> Vector:
    """Return the verdicts of a node as a vector with its digest."""
    ordered = tuple(sorted(verdicts))
    fails, unknowns = (sum(status == wanted for _, status, _ in ordered) for wanted in (Status.FAIL, Status.UNKNOWN))
    return Vector(hashlib.sha256(canonical(ordered)).digest(), ordered, fails, unknowns)


IndexedEvent = RunStarted | RunDone | Snap


def indexed_events(
    stored: Stored, classes: tuple[Class, ...] = STEADY, wanted: Collection[str] = ()
) -> Iterator[IndexedEvent]:
    """Yield the start, the nodes and the end of a run from its stored events; nodes have only facts of `classes`.

    With `wanted`, the events of other nodes are not parsed; some of these nodes may be yielded nevertheless.

    If rules compare a node with other nodes, the run contains the verdicts of the node after the facts of all nodes. A
    node whose verdicts are stored after the facts of all nodes is yielded twice: first with its facts, then with its
    verdicts, so that the facts of all nodes need not be in memory. The function `laid` merges the two states of a node
    that is yielded twice.

    Raises UserError with the line number if an event is damaged.
    """
    silent: dict[str, dict[str, dict[str, Any]]] = {}
    reader = FactsReader(classes)
    nodes: frozenset[str] = frozenset()
    waiting: Snap | None = None
    for number, doc in stored.documents(nodes=wanted):
        if is_group(str(doc.get("node", ""))):  # racks and the fleet are not compared from run to run
            continue
        try:
            match doc["event"]:
                case "run started":
                    started = _started(doc)
                    nodes = frozenset(started.nodes)
                    yield started
                case "answered" if doc.get("reading", 1) == 1:
                    silent.setdefault(_node(doc, nodes), {}).update(_plane(doc))
                case "facts":
                    if waiting is not None:
                        yield waiting
                    node = _node(doc, nodes)
                    waiting = Snap(node, reader.parts(doc, silent.pop(node, {})))
                case "judged":
                    node = _node(doc, nodes)
                    parts = waiting.parts if waiting is not None and waiting.node == node else {}
                    if waiting is not None and waiting.node != node:
                        yield waiting
                    waiting = None
                    yield Snap(node, parts, _vector(doc), Outcome(doc["outcome"]))
                case "run done":
                    yield stored_forms.done(doc)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            event = clean(str(doc["event"]), 40)
            message = f"line {number}, an event `{event}`, is damaged: {clean(repr(error), 300)}"
            raise UserError(f"{stored.folder}/events.jsonl: {message}") from None
    if waiting is not None:
        yield waiting


def laid(before: Snap | None, now: Snap) -> Snap:
    """Merge two states of a node from the same run; the newer state takes precedence."""
    if before is None:
        return now
    judged = now if now.vector is not None else before
    return Snap(now.node, now.parts or before.parts, judged.vector, judged.outcome)


def _started(doc: Mapping[str, Any]) -> RunStarted:
    started = stored_forms.started(doc)
    if len(started.nodes) > NODES:
        raise ValueError(f"{len(started.nodes)} nodes")
    for node in started.nodes:
        _name(node)
    return started


def _node(doc: Mapping[str, Any], nodes: frozenset[str]) -> str:
    node = stored_forms.word(doc, "node")
    if node not in nodes:
        raise ValueError(f"{clean(node, 80)} is not a node of the run")
    return node


def _name(text: object) -> str:
    if not isinstance(text, str) or len(text) > NAME or visible(text) != text:
        raise ValueError(f"not a name: {clean(repr(text), 80)}")
    return text


def _plane(doc: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a fact that records whether a plane replied.

    A truncated reply of a node counts as a reply, a truncated reply of a BMC does not.
    """
    plane = Plane(doc["plane"])
    spoke = "unknown" not in doc or (plane is not Plane.BMC and "raw" in doc)
    values = {"value": "answered"} if spoke else {key: doc[key] for key in ("unknown", "detail") if key in doc}
    reading(values)
    return {f"plane/{plane.value}": {**values, "plane": plane.value}}


_STATUSES = frozenset(Status)


def _vector(doc: Mapping[str, Any]) -> Vector:
    verdicts = doc["verdicts"]
    if not isinstance(verdicts, list) or len(verdicts) > NODES:
        raise TypeError("verdicts are not a list, or too many")
    found = []
    for verdict in verdicts:
        if verdict["status"] not in _STATUSES:
            raise ValueError(f"not a verdict: {clean(repr(verdict['status']), 40)}")
        found.append(
            (_name(verdict["rule"]), str(verdict["status"]), clean(stored_forms.word(verdict, "reason", ""), REASON))
        )
    if len({rule for rule, _, _ in found}) != len(found):
        raise ValueError("a rule was judged twice")
    return vector_of(found)


def plain(text: str) -> str:
    """Prepare a text of a run for the index: control characters are removed, and the length is limited."""
    return clean(re.sub(r"\s+", " ", text), REASON)
