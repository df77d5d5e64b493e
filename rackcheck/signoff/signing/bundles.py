"""Finds the bundles on this system, and reads their `bundle.json`."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackcheck.base import state
from rackcheck.base.user_error import UserError
from rackcheck.evaluate.law import Outcome
from rackcheck.model.fact import clean
from rackcheck.model.profile import Severity
from rackcheck.profile.layers import did_you_mean
from rackcheck.signoff.removed_run import RemovedRun
from rackcheck.signoff.signing import files, manifest
from rackcheck.signoff.signing.shape import BundleFault, BundleHead, BundleOutcome
from rackcheck.signoff.signing.statement import is_name
from rackcheck.signoff.steps import LONGEST

HEAD = "bundle.json"
RECORD = "report.json"

_SIZE = 64 << 10

LARGEST = 1 << 30
"""Maximum size of `report.json` in bytes; that of 1,000 nodes has 300 MB."""


def folder() -> Path:
    """Return the folder of bundles on this system, beside the runs."""
    return state.folder("bundles")


def names() -> list[str]:
    """Return the names of all bundles of this system, sorted."""
    place = folder()
    return sorted(p.name for p in place.iterdir() if _is_bundle(p)) if place.is_dir() else []


def find(text: str) -> Path:
    """Find a bundle by folder or by name (pod7, pod7-customer); raises UserError, which suggests a similar name."""
    try:
        given = Path(text)
        if text and _is_bundle(given):
            return given
        if given.is_dir():
            raise UserError(f"{text} is not a bundle: it contains neither {manifest.NAME} nor {HEAD}")
    except (OSError, ValueError):  # the text cannot be a file name
        pass
    known = names()
    if text in known:
        return folder() / text
    hint = did_you_mean(text, known) or "; rackcheck report RUN --bundle makes one"
    raise UserError(f"no bundle {text}{hint}")


def _is_bundle(place: Path) -> bool:
    return place.is_dir() and any(os.path.lexists(place / name) for name in (manifest.NAME, HEAD))


def head(place: Path) -> BundleHead:
    """Read the `bundle.json` of a bundle.

    Raises ValueError if the file is missing or not valid, with a text that completes a sentence such as `FILE is
    missing`.
    """
    try:
        doc = json.loads(files.content(place, HEAD, _SIZE))
    except FileNotFoundError:
        raise ValueError("is missing") from None
    except files.Unfit as unfit:
        raise ValueError(str(unfit)) from None
    except (ValueError, RecursionError):
        raise ValueError("is not valid JSON") from None
    if not isinstance(doc, dict) or doc.get("rackcheck") != 1:
        raise ValueError("does not describe a bundle of format 1")
    rows = [doc.get(name, "") for name in ("bundle", "level", "full")]
    if not all(isinstance(value, str) for value in rows) or not is_name(rows[0]) or not is_name(rows[1]):
        raise ValueError("has no valid `bundle`, `level` or `full`")
    waiting = doc.get("unreviewed", [])
    if not isinstance(waiting, list) or not all(isinstance(name, str) and is_name(name) for name in waiting):
        raise ValueError("has an invalid list `unreviewed`")
    return BundleHead(rows[0], rows[1], rows[2], tuple(waiting))


def outcome(place: Path) -> BundleOutcome:
    """Return the verdict in the report of a bundle, and what a reader of the verdict must know.

    Raises ValueError if the report has no verdict, with a text that completes a sentence such as `FILE is missing`.
    """
    try:
        doc = json.loads(files.content(place, RECORD, LARGEST))
        report = doc["report"]
        removed = tuple(_removed(each) for each in report.get("removed", ()))
        outcome = Outcome(report["tally"]["outcome"]).value
        return BundleOutcome(outcome, report.get("simulated") is True, removed, _minor(report["tally"]))
    except FileNotFoundError:
        raise ValueError("is missing") from None
    except files.Unfit as unfit:
        raise ValueError(str(unfit)) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("has no verdict") from None


def _minor(tally: Mapping[str, Any]) -> int:
    """Return the number of failing verdicts of rules that do not decide; 0 for a report that does not count them."""
    severe = tally.get("severe", {})
    return sum(
        int(severe[severity].get("fail", 0)) for severity in Severity if not severity.decides and severity in severe
    )


def _removed(doc: Mapping[str, object]) -> RemovedRun:
    return RemovedRun(*(clean(str(doc[name]), LONGEST) for name in ("run", "time", "by", "found", "reason")))


def record_fault(place: Path) -> BundleFault | None:
    """Return a fault if `report.json` does not have the digest that `bundle.json` contains."""
    try:
        named = json.loads(files.content(place, HEAD, _SIZE)).get("record")
        found = files.digest(place, RECORD)
    except (files.Unfit, FileNotFoundError, ValueError, AttributeError, RecursionError):
        return None  # reported by the manifest, or by the head itself
    return None if named == found else BundleFault(RECORD, f"does not have the SHA-256 in {HEAD}")
