"""Small runs on disk, in the form that the store writes; the caller sets their facts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackcheck.run import store

Facts = Mapping[str, tuple[str, object]]
"""A node's facts: path -> class and value; None is unknown (denied), Ellipsis is absent."""


def fact(cls: str, value: object, unit: str = "") -> dict[str, Any]:
    """A fact as stored."""
    values: dict[str, Any] = {"value": value}
    if value is None:
        values = {"unknown": "denied"}
    elif value is ...:
        values = {"absent": True}
    place = {"plane": "os", "class": cls, "source": "/x", "time": "2026-01-01T00:00:00Z"}
    return {**values, **({"unit": unit} if unit else {}), **place}


def events(
    name: str, nodes: Mapping[str, Facts], fails: Mapping[str, str] | None = None, *, done: bool = True
) -> list[dict[str, Any]]:
    """The events of a run: rules `a` and `b`, of which `fails` names one that fails on a node."""
    head = {"run": name, "time": "2026-01-01T00:00:00Z", "version": "1", "profile": "p", "profile_version": "1"}
    items: list[dict[str, Any]] = [
        {"event": "run started", **head, "digest": "0" * 64, "targets": "all", "nodes": list(nodes), "planes": ["os"]}
    ]
    for node, facts in nodes.items():
        items.append({"event": "answered", "node": node, "plane": "os", "time": "t", "raw": "0" * 64})
        kept = {path: fact(*rows) for path, rows in facts.items()}
        items.append({"event": "facts", "node": node, "facts": kept})
        bad = (fails or {}).get(node)
        verdicts = [
            {"rule": r, "status": "fail" if r == bad else "pass", "reason": "7 of 8" if r == bad else ""} for r in "ab"
        ]
        outcome = "FAIL" if bad else "PASS"
        items.append(
            {
                "event": "judged",
                "node": node,
                "role": "compute",
                "outcome": outcome,
                "not_in_scope": 0,
                "verdicts": verdicts,
            }
        )
    if done:
        items.append({"event": "run done", "time": "t", "outcome": "FAIL" if fails else "PASS"})
    return items


def stored(name: str, rows: list[dict[str, Any]], folder: Path | None = None) -> Path:
    """Write a run below RACKCHECK_HOME, or into a folder."""
    place = (folder or store.runs_folder()) / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "run.json").write_text(json.dumps({"rackcheck": store.FORMAT, "run": name}))
    (place / "events.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in rows))
    return place


def made(name: str, nodes: Mapping[str, Facts], fails: Mapping[str, str] | None = None) -> Path:
    """Write a whole run."""
    return stored(name, events(name, nodes, fails))
