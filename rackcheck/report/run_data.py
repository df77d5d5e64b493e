"""The data of one run for a document: verdicts, identifying facts, fingerprints of the other facts, raw answers.

The data comes only from the run's events. Of each node's facts, only identities, versions, item names and digests of
all stable facts are kept, so that a thousand nodes fit into memory.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from rackcheck.model.capture import BurnCapture
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import VOLATILE, Class, Plane, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.report import burn_read
from rackcheck.report.burn_read import Burnt
from rackcheck.report.report_model import RawReply
from rackcheck.run.event import Answered, Event, FactsRead, Judged, RunDone, RunStarted, reading_json

T = TypeVar("T")

KEPT = frozenset({Class.IDENTITY, Class.VERSION})


@dataclass(frozen=True, slots=True)
class Print:
    """The fingerprint of a node's facts of one class on one plane: SHA-256, number of facts, number of unknowns."""

    digest: str
    facts: int
    unknown: int


@dataclass(frozen=True)
class CollectedRun:
    """The data of one run for a document.

    `trees` contains each node's identity facts, versions and item names. `prints` contains fingerprints by node, then
    by plane and class. `burns` contains burn-ins by node.
    """

    started: RunStarted
    done: RunDone
    judged: Mapping[str, Judged]
    trees: Mapping[str, Tree] = field(repr=False)
    prints: Mapping[str, Mapping[tuple[Plane, Class], Print]] = field(repr=False)
    answers: tuple[RawReply, ...] = field(repr=False)
    kind: str = "audit"
    operator: str = ""
    note: str = ""
    burns: Mapping[str, Burnt] = field(default_factory=dict, repr=False)


def gather(events: Iterable[Event], *, kind: str = "audit", operator: str = "", note: str = "") -> CollectedRun:
    """Build the data of a run from all its events."""
    started: RunStarted | None = None
    done: RunDone | None = None
    judged: dict[str, Judged] = {}
    trees: dict[str, Tree] = {}
    prints: dict[str, Mapping[tuple[Plane, Class], Print]] = {}
    answers: list[RawReply] = []
    burns: dict[str, Burnt] = {}
    run = ""
    for event in events:
        match event:
            case RunStarted():
                started, run = event, event.run
            case Answered(node, plane, time, trouble, capture, digest):
                answers.append(RawReply(run, node, plane.value, time, digest, str(trouble) if trouble else ""))
                if isinstance(capture, BurnCapture) and started is not None:
                    # All facts of the records, not only facts that rules read: figures are shown with their meaning.
                    leaves = collect(registry().probes, capture)
                    burns[node] = burn_read.read(node, capture.burn, leaves, len(started.nodes))
            case FactsRead(node, tree):
                trees[node] = _once(tree, _names)
                prints[node] = _once(tree, _prints)
            case Judged():
                judged[event.node] = event
                if event.node in burns:
                    burns[event.node] = burn_read.with_verdicts(burns[event.node], event)
            case RunDone():
                done = event
    assert started is not None and done is not None  # noqa: PT018
    return CollectedRun(started, done, judged, trees, prints, tuple(answers), kind, operator, note, burns)


def _once(tree: Tree, compute: Callable[[Tree], T]) -> T:
    """Return the result of `compute` for a tree, and store it in the tree, so that it is computed only once."""
    if compute not in tree.kept:
        tree.kept[compute] = compute(tree)
    return cast("T", tree.kept[compute])


def _names(tree: Tree) -> Tree:
    kept = {p: leaf for p, leaf in tree.leaves.items() if leaf.kind.cls in KEPT or leaf.kind.type is Type.COLLECTION}
    return Tree(kept, tree.silent, times=tree.times)


def _prints(tree: Tree) -> Mapping[tuple[Plane, Class], Print]:
    gathered: dict[tuple[Plane, Class], dict[str, object]] = {}
    unknown: dict[tuple[Plane, Class], int] = {}
    for path, leaf in tree.leaves.items():
        if leaf.kind.cls not in VOLATILE:
            key = (leaf.plane, leaf.kind.cls)
            gathered.setdefault(key, {})[path] = _stable_value(leaf)
            unknown[key] = unknown.get(key, 0) + isinstance(leaf.reading, Unknown)
    for plane, why in tree.silent.items():  # a silent plane differs from one that was not requested
        gathered.setdefault((plane, Class.CONFIG), {})[""] = {"unknown": why.reason.value}
        unknown[plane, Class.CONFIG] = unknown.get((plane, Class.CONFIG), 0) + 1
    return {
        key: Print(hashlib.sha256(canonical(facts)).hexdigest(), len(facts), unknown[key])
        for key, facts in gathered.items()
    }


def _stable_value(leaf: Leaf) -> object:
    """Return a fact's value and unit, without source, time and error details, which differ between readings."""
    doc = reading_json(leaf.reading)
    doc.pop("detail", None)
    return {**doc, "unit": leaf.kind.unit} if leaf.kind.unit else doc


def canonical(doc: object) -> bytes:
    """Serialize a document as canonical JSON: sorted keys, no blanks, ASCII only."""
    return json.dumps(doc, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()
