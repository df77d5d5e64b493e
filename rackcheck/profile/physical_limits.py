"""Physical peak values of hardware parts; a floor in a profile must not exceed the peak."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rackcheck.model import unit
from rackcheck.model.operator import glob
from rackcheck.model.unit import BadUnit, Quantity

ANY = "*"
"""Used instead of a part's name if the peak applies to every part."""

ROUNDED = 1.02
"""Factor by which a number may exceed a published peak, because published peaks are rounded (2.00 for 2.039 TB/s)."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest value that these facts can have on these parts; `shape` names the workload or the link.

    `facts` and `parts` are globs; case is ignored for parts.
    """

    facts: tuple[str, ...]
    parts: tuple[str, ...]
    shape: str
    most: Quantity
    source: str
    exact: bool = False  # computed, not published with a few digits

    def in_unit(self, wanted: str) -> float | None:
        """Return the peak in this unit; None if the unit measures something else."""
        try:
            return self.most.to(wanted)
        except BadUnit:
            return None

    def passed_by(self, number: float, wanted: str) -> bool:
        """Whether a number in this unit exceeds the peak."""
        most = self.in_unit(wanted)
        return most is not None and number > most * (1 if self.exact else ROUNDED)

    def fits(self, word: str) -> int:
        """Return how closely a word matches a part: the length of the longest matching glob, -1 without a match."""
        bare = word.replace("*", "").casefold()
        return max((len(part) for part in self.parts if glob(part.casefold(), bare)), default=-1)


def peaks(document: Any) -> tuple[Peak, ...]:
    """Read the peaks from the shipped table's JSON document; raises BadUnit or KeyError if the table is wrong."""
    return tuple(
        Peak(
            tuple(group["facts"]),
            tuple(row["parts"]),
            f"{group['what']}, {row['shape']}" if "shape" in row else group["what"],
            unit.parse(row["most"]),
            row["source"],
            bool(row.get("exact")),
        )
        for group in document["peaks"]
        for row in group["rows"]
    )


def of(table: Iterable[Peak], fact: str) -> list[Peak]:
    """Return the peaks that apply to a fact, for all parts."""
    return [peak for peak in table if any(glob(pattern, fact) for pattern in peak.facts)]


def closest(of_fact: Sequence[Peak], words: Sequence[str]) -> tuple[Peak, ...]:
    """Return the peaks of the parts that these words name; each word names the part that matches the word most closely.

    If no word matches a part, the peaks that apply to every part are returned.
    """
    parts = [peak for peak in of_fact if ANY not in peak.parts]
    found: dict[Peak, None] = {}
    for word in words:
        close = max(parts, key=lambda peak: peak.fits(word), default=None)
        if close is not None and close.fits(word) >= 0:
            found[close] = None
    return tuple(found) or tuple(peak for peak in of_fact if ANY in peak.parts)


def slip(number: float, written: str, most: float, wanted: str) -> str:
    """Return the unit that was probably meant: one in which the number is near the peak; empty if there is none.

    `most` is the peak in the unit `wanted`. If the number is near the peak in several units, the unit whose name is
    most similar to `written` is returned: Gb/s for GB/s.
    """
    near: list[tuple[int, str]] = []
    for other in unit.UNITS:
        try:
            meant = Quantity(number, other).to(wanted)
        except BadUnit:
            continue  # measures something else
        if other != written and most / 4 <= meant <= most * ROUNDED:
            differ = sum(a != b for a, b in zip(other, written, strict=False)) + abs(len(other) - len(written))
            near.append((differ, other))
    return min(near)[1] if near else ""
