"""A part that a finding is about. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from rackcheck.model.part_index import Part

MOST = 16
"""Maximum number of parts that are named for one finding on one node."""


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part that a finding is about; `missing` if the node lacks it, at least on one plane.

    `beside` are the serial numbers of the node's other parts of this kind. `earlier` is the serial number that the
    missing part had in an earlier run of the node, and the run. `on_bmc` is true if only the BMC lacks the part.
    """

    part: Part
    missing: bool = False
    beside: frozenset[str] = frozenset()
    earlier: tuple[str, str] = ("", "")
    on_bmc: bool = False

    def __str__(self) -> str:
        if not self.missing:
            return str(self.part)
        if self.on_bmc:
            return f"{self.part} is not listed by the BMC"
        serial, run = self.earlier
        return f"{self.part} is missing" + (f"; its serial number was {serial} in run {run}" if serial else "")

    def same(self, other: "NamedPart") -> bool:
        """Whether two findings name the same part: one of its items, or a part of this kind at its PCI address."""
        mine, its = self.part, other.part
        alike = bool(mine.pci) and (mine.word, mine.pci) == (its.word, its.pci)
        return alike or not set(mine.items).isdisjoint(its.items)


def distinct(found: Iterable[NamedPart]) -> tuple[NamedPart, ...]:
    """Return each part once, and at most `MOST` parts."""
    kept: list[NamedPart] = []
    for each in found:
        if len(kept) < MOST and not any(each.same(other) for other in kept):
            kept.append(each)
    return tuple(kept)
