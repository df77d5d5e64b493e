"""Lists that are cut off, and say so."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rackcheck.evaluate.verdict import Status

T = TypeVar("T")

Json = dict[str, Any]
"""What the template reads."""

LINES = 60
"""Lines of a list that has no end of its own."""

SMALL = 32
"""Nodes up to which the document lists every part and every answer."""


def bounded(rows: Sequence[T], show: Callable[[T], Json], limit: int = LINES) -> Json:
    """Give the first rows as the template takes them, and how many more there are."""
    return {"rows": [show(row) for row in rows[:limit]], "more": max(0, len(rows) - limit)}


def counts(found: Mapping[Status, int]) -> Json:
    """Give the number of verdicts of every kind, in the order of the verdicts."""
    return {status.value: found.get(status, 0) for status in Status}
