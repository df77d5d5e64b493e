"""What a part can do at most, by the physics of its design; no floor of a profile may ask for more."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rackcheck.model import unit
from rackcheck.model.operator import glob
from rackcheck.model.unit import BadUnit, Quantity

ANY = "*"
"""As a part: whatever the part is, this is the most that anything of its kind can do."""

ROUNDED = 1.02
"""Peaks are published with two or three digits (2.00 TB/s for 2.039): so much above one is not yet too much."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that facts of these patterns can say of these parts; `shape` says of what work or which link.

    `facts` and `parts` are globs; a part is matched without regard to case.
    """

    facts: tuple[str, ...]
    parts: tuple[str, ...]
    shape: str
    most: Quantity
    source: str
    exact: bool = False  # computed, and not published in a few digits

    def in_unit(self, wanted: str) -> float | None:
        """Give the peak as a number of a unit; none where that unit counts something else."""
        try:
            return self.most.to(wanted)
        except BadUnit:
            return None

    def passed_by(self, number: float, wanted: str) -> bool:
        """Whether a number of a unit is more than the part can do."""
        most = self.in_unit(wanted)
        return most is not None and number > most * (1 if self.exact else ROUNDED)

    def fits(self, word: str) -> int:
        """How closely a word names one of the parts, as the letters of the closest glob; -1 where it names none."""
        bare = word.replace("*", "").casefold()
        return max((len(part) for part in self.parts if glob(part.casefold(), bare)), default=-1)


def peaks(document: Any) -> tuple[Peak, ...]:
    """Read the shipped table, which its schema describes; raises BadUnit and KeyError on a wrong one."""
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
    """Find the peaks of a fact, of whatever part."""
    return [peak for peak in table if any(glob(pattern, fact) for pattern in peak.facts)]


def closest(of_fact: Sequence[Peak], words: Sequence[str]) -> tuple[Peak, ...]:
    """Find the peaks of the parts that some words name: for each word that names one, the closest.

    Where no word does, the peak of any part at all, if there is one.
    """
    parts = [peak for peak in of_fact if ANY not in peak.parts]
    found: dict[Peak, None] = {}
    for word in words:
        close = max(parts, key=lambda peak: peak.fits(word), default=None)
        if close is not None and close.fits(word) >= 0:
            found[close] = None
    return tuple(found) or tuple(peak for peak in of_fact if ANY in peak.parts)


def slip(number: float, written: str, most: float, wanted: str) -> str:
    """Name the unit in which a number would be what a part can do; empty where none is.

    `most` is the peak in the unit `wanted`. The nearest unit by letters is told: Gb/s for GB/s.
    """
    near: list[tuple[int, str]] = []
    for other in unit.UNITS:
        try:
            meant = Quantity(number, other).to(wanted)
        except BadUnit:
            continue  # counts something else
        if other != written and most / 4 <= meant <= most * ROUNDED:
            differ = sum(a != b for a, b in zip(other, written, strict=False)) + abs(len(other) - len(written))
            near.append((differ, other))
    return min(near)[1] if near else ""
