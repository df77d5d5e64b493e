"""What a list shows: entries that can be written in any width, told in full, and found again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.core.verdict import Status
from rackcheck.report.terminal import Line


@dataclass(frozen=True)
class Entry:
    """One line of a list: `line` and `details` write it for a width, `finds` is what a search looks at."""

    statuses: frozenset[Status]
    finds: Callable[[], str]
    line: Callable[[int], Line]
    details: Callable[[int], Sequence[Line]]


class Filter(StrEnum):
    """Which entries a list shows."""

    ALL = "all"
    NOT_PASSING = "not passing"
    FAIL = "fail"
    UNKNOWN = "unknown"
    WARN = "warn"

    @property
    def next(self) -> "Filter":
        """The filter that follows in the circle."""
        every = list(Filter)
        return every[(every.index(self) + 1) % len(every)]

    def shows(self, entry: Entry) -> bool:
        """Whether an entry is shown; a rule that does not apply is no complaint."""
        match self:
            case Filter.ALL:
                return True
            case Filter.NOT_PASSING:
                return bool(entry.statuses - {Status.PASS, Status.NA})
        return Status(self.value) in entry.statuses


def chosen(entries: Sequence[Entry], by: Filter, text: str) -> list[Entry]:
    """Give the entries that the filter shows and that hold every word of the text."""
    words = text.casefold().split()
    return [e for e in entries if by.shows(e) and (not words or _holds(e.finds().casefold(), words))]


def _holds(found: str, words: Sequence[str]) -> bool:
    return all(word in found for word in words)


def state(what: str, by: Filter, text: str, shown: int, every: int) -> str:
    """Say what a list shows and what of it: `groups: fail, with 'bmc', 3 of 38 shown`."""
    looked = f", with {text.strip()!r}" if text.strip() else ""
    return f"{what}: {by.value}{looked}, {shown:,} of {every:,} shown"


def nothing(every: int, by: Filter, text: str, what: str) -> str:
    """Say why a list is empty; a filter never passes for a clean run."""
    if every == 0:
        return f"no {what}: nothing was judged"
    looked = f" with {text!r}" if text.strip() else ""
    return f"none of {every:,} {what}{looked} ({by.value}): f and / change what is shown"
