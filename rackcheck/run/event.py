"""The events of a run; the terminal output, screens, reports and the store all process them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.evaluate.verdict import Evidence, Outcome, Status, Verdict
from rackcheck.model.capture import Capture
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.fit import NOT_STATED, Match, ProfileFit
from rackcheck.model.profile import FIRST, LAW
from rackcheck.model.tree import Leaf, Tree


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run has started; `law` is the version of the criteria by which verdicts decide a node's outcome."""

    run: str
    time: str
    version: str
    profile: str
    profile_version: str
    digest: str
    nodes: tuple[str, ...]
    planes: tuple[str, ...]
    targets: str = ""
    law: int = LAW


@dataclass(frozen=True, slots=True)
class NodeRequested:
    """A plane of a node is being read; this event is only for progress display."""

    node: str
    plane: Plane


@dataclass(frozen=True, slots=True)
class Answered:
    """A plane of a node was read: `capture` contains the raw reply, `trouble` why the reply is missing or incomplete.

    `reading` is 2 for the second reading of a run, else 1. For a second reading, `apart` is the minimum and the maximum
    time between both readings, in seconds by the monotonic clock.
    """

    node: str
    plane: Plane
    time: str
    trouble: Unknown | None = None
    capture: Capture | None = field(default=None, repr=False, compare=False)
    digest: str = ""
    note: str = ""
    reading: int = 1
    apart: tuple[float, float] | None = None

    @property
    def has_reply(self) -> bool:
        """Whether the plane returned anything; the reply may be on disk only."""
        return self.capture is not None or bool(self.digest)


@dataclass(frozen=True, slots=True)
class FactsRead:
    """All facts of a node, with their types."""

    node: str
    tree: Tree = field(repr=False)


@dataclass(frozen=True, slots=True)
class Judged:
    """All verdicts of a node, and its outcome.

    `reason` is one line: why the node is INCOMPLETE, and which command to run next. `fit` is the result of matching the
    profile with the node's machine type.
    """

    node: str
    role: str
    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    not_in_scope: int = 0
    note: str = ""
    reason: str = ""
    fit: ProfileFit = NOT_STATED


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A preliminary outcome of a node, without rules that compare it with other nodes; only for progress display."""

    judged: Judged


@dataclass(frozen=True, slots=True)
class RunDone:
    """The run has ended; `interrupted` if a user stopped it."""

    time: str
    outcome: Outcome
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Burning:
    """Output of a burn-in on a node since the last event; only for progress display."""

    node: str
    records: tuple[Mapping[str, Any], ...] = field(repr=False)


Event = RunStarted | NodeRequested | Burning | Answered | FactsRead | Foreseen | Judged | RunDone


def reading_json(reading: Reading) -> dict[str, Any]:
    """Return a reading as JSON."""
    match reading:
        case Unknown(reason, detail):
            return {"unknown": reason.value, "detail": detail} if detail else {"unknown": reason.value}
        case Absent(detail):
            return {"absent": True, "detail": detail} if detail else {"absent": True}
        case tuple():
            return {"value": list(reading)}
        case float() if reading == float("inf"):
            return {"value": "unlimited"}
    return {"value": reading}


def facts_json(tree: Tree) -> dict[str, Any]:
    """Return a node's facts as JSON: by path, each with plane, source and time."""
    found: dict[str, Any] = {}
    for path in tree:
        leaf = tree.leaves[path]
        found[path] = doc = fact_json(leaf)
        doc["source"], doc["time"] = leaf.source, tree.time(leaf)
    return found


def fact_json(leaf: Leaf) -> dict[str, Any]:
    """Return a fact as JSON: its reading, unit, plane and class."""
    doc = reading_json(leaf.reading)
    if leaf.kind.unit:
        doc["unit"] = leaf.kind.unit
    # `str` of these words is much cheaper than `value`, and there are 20,000 facts of a node.
    doc["plane"], doc["class"] = str(leaf.plane), str(leaf.kind.cls)
    return doc


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON."""
    doc: dict[str, Any] = {"rule": verdict.rule, "status": verdict.status.value}
    if verdict.reason:
        doc["reason"] = verdict.reason
    if verdict.truth is not None:
        doc["truth"] = verdict.truth.value
    if verdict.evidence:
        doc["evidence"] = [_evidence_json(e) for e in verdict.evidence]
    return doc


def _evidence_json(evidence: Evidence) -> dict[str, Any]:
    doc = {"status": evidence.status.value, "item": evidence.item, "observed": evidence.observed}
    doc |= {"expected": evidence.expected, "source": evidence.source, "exact": evidence.exact}
    if evidence.unknown is not None:
        doc |= {"unknown": evidence.unknown.reason.value, "detail": evidence.unknown.detail}
    return {key: value for key, value in doc.items() if value != ""}


def judged_json(event: Judged) -> dict[str, Any]:
    """Return the event with a node's verdicts as JSON, without its last field, the verdicts."""
    doc: dict[str, Any] = {"event": "judged", "node": event.node, "role": event.role, "outcome": event.outcome.value}
    doc |= {"not_in_scope": event.not_in_scope} | ({"note": event.note} if event.note else {})
    return doc | outcome_json(event)


def to_json(event: Event) -> dict[str, Any] | None:
    """Return an event as JSON for the store; None for an event that is only for progress display.

    The facts of a node are None too: `FactsWriter` makes their event from those of earlier nodes.
    """
    doc: dict[str, Any]
    match event:
        case RunStarted():
            names = ("run", "time", "version", "profile", "profile_version", "digest", "targets")
            lists = {"nodes": list(event.nodes), "planes": list(event.planes)}
            law = {"law": event.law} if event.law != FIRST else {}
            return {"event": "run started"} | {n: getattr(event, n) for n in names} | lists | law
        case Answered():
            doc = {"event": "answered", "node": event.node, "plane": event.plane.value, "time": event.time}
            doc |= {"reading": event.reading} if event.reading > 1 else {}
            doc |= {"apart": list(event.apart)} if event.apart is not None else {}
            doc |= {"raw": event.digest} if event.digest else {}
            doc |= reading_json(event.trouble) if event.trouble is not None else {}
            return doc | ({"note": event.note} if event.note else {})
        case Judged():
            return judged_json(event) | {"verdicts": [verdict_json(v) for v in event.verdicts]}
        case RunDone():
            doc = {"event": "run done", "time": event.time, "outcome": event.outcome.value}
            return doc | ({"interrupted": True} if event.interrupted else {})
        case NodeRequested() | FactsRead() | Foreseen() | Burning():
            return None


def outcome_json(judged: Judged) -> dict[str, Any]:
    """Return the fields `reason` and `fit` of a judged node as JSON; a field without a value is left out."""
    doc: dict[str, Any] = {"reason": judged.reason} if judged.reason else {}
    if judged.fit.match is not Match.NOT_STATED:
        doc["fit"] = {"match": judged.fit.match.value} | ({"words": judged.fit.words} if judged.fit.words else {})
    return doc


def judged_from_json(doc: Mapping[str, Any]) -> Judged:
    """Return the event `judged` from its stored JSON object."""
    verdicts = tuple(
        Verdict(
            v["rule"],
            Status(v["status"]),
            v.get("reason", ""),
            tuple(_evidence_from_json(e) for e in v.get("evidence", ())),
            Status(v["truth"]) if "truth" in v else None,
        )
        for v in doc["verdicts"]
    )
    value = doc.get("fit", {})
    fit = ProfileFit(Match(value["match"]), value.get("words", "")) if value else ProfileFit()
    return Judged(
        doc["node"], doc["role"], Outcome(doc["outcome"]), verdicts, doc["not_in_scope"], doc.get("note", ""),
        doc.get("reason", ""), fit,
    )  # fmt: skip


def _evidence_from_json(doc: Mapping[str, Any]) -> Evidence:
    unknown = Unknown(Reason(doc["unknown"]), doc.get("detail", "")) if "unknown" in doc else None
    item, observed, expected, source = (doc.get(n, "") for n in ("item", "observed", "expected", "source"))
    return Evidence(Status(doc["status"]), item, observed, expected, source, unknown, doc.get("exact", ""))


def trouble_from_json(doc: Mapping[str, Any]) -> Unknown | None:
    """Return the reason that a stored event gives for a missing or incomplete reply; None if it gives none."""
    return Unknown(Reason(doc["unknown"]), doc.get("detail", "")) if "unknown" in doc else None
