"""/proc/buddyinfo: each zone's free memory by the size of the free blocks; see proc_buddyinfo(5)."""

from collections.abc import Iterable
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

_ZONE = regex(r"Node ([0-9]{1,5}), zone +\w{1,20}((?: +[0-9]{1,15}){2,20}) *")


@dataclass(frozen=True)
class Free:
    """The number of free pages, and the number of free pages that are in blocks of the largest size."""

    pages: int = 0
    large: int = 0

    def unbroken(self) -> float | None:
        """Return the percentage of free pages that are in blocks of the largest size; None if no page is free."""
        return 100 * self.large / self.pages if self.pages else None


def together(parts: Iterable[Free]) -> Free:
    """Add up the free pages of several zones."""
    several = list(parts)
    return Free(sum(part.pages for part in several), sum(part.large for part in several))


def nodes(content: str) -> dict[str, Free]:
    """Return the free pages of each NUMA node, by its number; raises Unreadable on a row that is not a zone.

    In /proc/buddyinfo, the column of order n counts free blocks of 2^n pages; the last column counts the largest
    blocks.
    """
    found: dict[str, Free] = {}
    for row in rows(content):
        match = _ZONE.fullmatch(row)
        if match is None:
            raise Unreadable(f"/proc/buddyinfo: not a zone with its free blocks: {row[:60]!r}")
        pages = [int(count) << order for order, count in enumerate(match[2].split())]
        found[match[1]] = together([found.get(match[1], Free()), Free(sum(pages), pages[-1])])
    return found
