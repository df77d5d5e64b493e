"""Validates the data of a stored run before use, because the run may come from a third party.

Pure. Every function raises TypeError, KeyError or ValueError if the data is invalid.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.capture import BmcCapture, BurnCapture, Capture, NodeCapture
from rackcheck.model.fact import Plane, clean
from rackcheck.model.profile import FIRST, LAW
from rackcheck.run.event import Answered, Judged, RunDone, RunStarted, judged_from_json, trouble_from_json


def started(doc: Mapping[str, Any]) -> RunStarted:
    """Read the event `run started`."""
    names = ("run", "time", "version", "profile", "profile_version", "digest", "targets")
    words = {name: word(doc, name) for name in names}
    law = doc.get("law", FIRST)
    if type(law) is not int or not FIRST <= law <= LAW:
        raise ValueError(
            f"law {_shown(law)} is not one of {FIRST} to {LAW}: a newer rackcheck may have judged this run"
        )
    return RunStarted(**words, nodes=tuple(words_of(doc, "nodes")), planes=tuple(words_of(doc, "planes")), law=law)


def done(doc: Mapping[str, Any]) -> RunDone:
    """Read the event `run done`."""
    return RunDone(word(doc, "time"), Outcome(doc["outcome"]), doc.get("interrupted", False) is True)


def judged(doc: Mapping[str, Any]) -> Judged:
    """Read a node's verdicts."""
    for verdict in doc["verdicts"]:
        _words_only(verdict, but="evidence")
        for evidence in verdict.get("evidence", ()):
            _words_only(evidence)
    _words_only({name: doc[name] for name in ("node", "role", "outcome", "reason", "note") if name in doc})
    for name in ("node", "role", "outcome"):
        word(doc, name)
    _words_only(doc.get("fit", {}))
    if not isinstance(doc["not_in_scope"], int):
        raise TypeError(f"not_in_scope is not a number: {_shown(doc['not_in_scope'])}")
    return judged_from_json(doc)


def answered(doc: Mapping[str, Any], capture: Capture | None) -> Answered:
    """Read the event `answered`."""
    _reasons([doc] if "unknown" in doc else [])
    plane, digest, reading = Plane(doc["plane"]), word(doc, "raw", ""), doc.get("reading", 1)
    if type(reading) is not int or reading not in (1, 2):
        raise ValueError(f"`reading` must be 1 or 2, not {_shown(reading)}")
    return Answered(
        word(doc, "node"), plane, word(doc, "time"), trouble_from_json(doc), capture, digest, word(doc, "note", ""),
        reading, _apart(doc.get("apart")),
    )  # fmt: skip


FARTHEST = 1_000_000
"""Maximum number of seconds between two readings."""


def _apart(value: Any) -> tuple[float, float] | None:
    """Read the time between two readings."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(type(each) in (int, float) for each in value):
        raise ValueError(f"the seconds between two readings are a list of minimum and maximum, not {_shown(value)}")
    least, most = value
    if not 0 <= least <= most < FARTHEST:
        raise ValueError(f"the seconds between two readings cannot be {_shown(least)} to {_shown(most)}")
    return float(least), float(most)


def capture(doc: Any, plane: Plane) -> Capture:
    """Read the raw reply of a plane."""
    if plane is Plane.BURNIN:
        return _burn(_object(doc))
    return _bmc(_object(doc)) if plane is Plane.BMC else _node(_object(doc))


def _node(doc: Mapping[str, Any]) -> NodeCapture:
    for output in _object(doc["commands"]).values():
        if "unknown" not in _object(output):
            _words_only({"out": output["out"], "err": output["err"]})
            if not isinstance(output["status"], int):
                raise TypeError(f"a status is not a number: {_shown(output['status'])}")
    _reasons(output for output in doc["commands"].values() if "unknown" in output)
    _reasons(why for why in _object(doc["globs"]).values() if why is not None)
    _reasons(_object(doc["refused"]).values())
    _words_only(doc["files"])
    return NodeCapture.from_json(doc)


def _bmc(doc: Mapping[str, Any]) -> BmcCapture:
    for held in _object(doc["bodies"]).values():
        if "unknown" not in _object(held):
            _object(held["body"])
    _reasons(held for held in doc["bodies"].values() if "unknown" in held)
    _words_only(doc.get("times", {}))
    return BmcCapture.from_json(doc)


def _burn(doc: Mapping[str, Any]) -> BurnCapture:
    records = doc["records"]
    if not isinstance(records, list):
        raise TypeError(f"records are not a list: {_shown(records)}")
    for record in records:
        _object(record)
    return BurnCapture.from_json(doc)


def _reasons(docs: Iterable[Any]) -> None:
    for doc in docs:
        _words_only({"unknown": _object(doc)["unknown"], "detail": doc.get("detail", "")})


def word(doc: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return the text at a key of a JSON object."""
    value = doc[name] if default is None else doc.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is not a text: {_shown(value)}")
    return value


def words_of(doc: Mapping[str, Any], name: str) -> list[str]:
    """Return the list of texts at a key of a JSON object."""
    value = doc[name]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{name} is not a list of texts: {_shown(value)}")
    return value


def _object(doc: Any) -> Mapping[str, Any]:
    if not isinstance(doc, dict):
        raise TypeError(f"not an object: {_shown(doc)}")
    return doc


def _words_only(doc: Any, but: str = "") -> None:
    for name in _object(doc):
        if name != but:
            word(doc, name)


def _shown(value: object) -> str:
    return clean(f"{value!r:.60}", 60) if isinstance(value, str | int | float | None) else type(value).__name__
