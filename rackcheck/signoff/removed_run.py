"""A run that was removed from an acceptance: who removed it, when, why, and what was wrong with it."""

from dataclasses import dataclass

MISSING = "missing"
CHANGED = "changed or damaged since it was added"
CUT_OFF = "cut off"


@dataclass(frozen=True, slots=True)
class RemovedRun:
    """A run that was removed: `found` is what was wrong with it, `by` the login, `reason` the user's text.

    A redacted copy of a document has no `by`, and its public copy no `reason`.
    """

    run: str
    time: str
    by: str
    found: str
    reason: str


def removed_text(removed: RemovedRun) -> str:
    """Format a removal as one line: `run R was removed at TIME by LOGIN (missing): REASON`."""
    by = f" by {removed.by}" if removed.by else ""
    reason = f": {removed.reason}" if removed.reason else ""
    return f"run {removed.run} was removed at {removed.time}{by} ({removed.found}){reason}"
