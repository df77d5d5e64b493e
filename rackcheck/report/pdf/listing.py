"""Lists of limited length, with the number of entries left out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rackcheck.evaluate.verdict import Status

T = TypeVar("T")

Json = dict[str, Any]
"""A JSON object for the template."""

LINES = 60
"""Maximum number of lines of a list without a specific limit."""

SMALL = 32
"""Maximum number of nodes for which the document lists every part and every reply."""


def bounded(rows: Sequence[T], show: Callable[[T], Json], limit: int = LINES) -> Json:
    """Return `rows`, the first `limit` rows as converted by `show`, and `more`, the number of rows left out."""
    return {"rows": [show(row) for row in rows[:limit]], "more": max(0, len(rows) - limit)}


def counts(found: Mapping[Status, int]) -> Json:
    """Return the number of verdicts of each status, in the order of the statuses."""
    return {status.value: found.get(status, 0) for status in Status}
