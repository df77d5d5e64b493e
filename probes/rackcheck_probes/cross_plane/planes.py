"""Comparison of two planes: what the BMC and the operating system report about the same part.

If the readings of both planes are unknown, the BMC's reason is reported, because often the inventory lists no BMC for
the node.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rackcheck import Absent, Reason, Unknown, Unreadable
from rackcheck.model.fact import Reading
from rackcheck.probe.join import settled

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """Paths of parts on two planes: pairs of paths of the same part, and paths of parts that only one plane lists."""

    pairs: Pairs
    alone: tuple[str, ...]


def whole(readings: Iterable[Reading | None]) -> None:
    """Raise Unreadable if a reading is unknown, with the reason of the first unknown reading; None is skipped."""
    lost = settled(reading for reading in readings if reading is not None)
    if lost is not None:
        raise Unreadable(lost.detail, lost.reason)


def matched(ours: Mapping[str, Reading], theirs: Mapping[str, Reading]) -> Matched:
    """Match the parts of two planes by their identities; a slot whose identity is absent is empty and left out.

    Raises Unreadable if a part's identity is unknown, or if two parts of one plane have the same identity.
    """
    whole((*theirs.values(), *ours.values()))
    left, right = _by_identity(ours), _by_identity(theirs)
    pairs = tuple((place, right[key]) for key, place in left.items() if key in right)
    alone = (*(p for key, p in left.items() if key not in right), *(p for key, p in right.items() if key not in left))
    return Matched(pairs, alone)


def _by_identity(values: Mapping[str, Reading]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, reading in values.items():
        if isinstance(reading, Absent):
            continue
        key = folded(reading)
        if key in found:
            raise Unreadable(f"{found[key]} and {place} report the same identity", Reason.UNPARSABLE)
        found[key] = place
    return found


def folded(reading: Reading) -> str:
    """Normalise letter case and blanks, which firmware vendors write differently."""
    return " ".join(str(reading).split()).casefold()


def but(place: str, reading: object, other: str, value: object) -> str:
    """Describe a difference between two facts."""
    return f"{place} {_words(reading)} but {other} {_words(value)}"


def _words(reading: object) -> str:
    if isinstance(reading, bool):
        return "true" if reading else "false"
    return f"{reading:g}" if isinstance(reading, float) else str(reading)


Same = Callable[[Reading, Reading], bool | Unknown]
"""A function that returns whether two known readings mean the same, or Unknown if it cannot tell."""


def differing(pairs: Pairs, ours: Mapping[str, Reading], theirs: Mapping[str, Reading], same: Same) -> Reading:
    """List the pairs of parts whose readings differ; unknown if the comparison of any pair is unknown."""
    rows = [(one, ours[one], other, theirs[other]) for one, other in pairs]
    lost = settled(reading for _, left, _, right in rows for reading in (right, left))
    if lost is not None:
        return lost
    answers = [same(left, right) for _, left, _, right in rows]
    doubt = next((answer for answer in answers if isinstance(answer, Unknown)), None)
    return doubt or tuple(but(*each) for each, answer in zip(rows, answers, strict=True) if not answer)


def alike(left: Reading, right: Reading) -> bool:
    """Whether two texts are equal except for letter case and blanks; two absent texts are equal."""
    if isinstance(left, Absent) or isinstance(right, Absent):
        return isinstance(left, Absent) and isinstance(right, Absent)
    return folded(left) == folded(right)


def switched(left: Reading, right: Reading) -> bool | Unknown:
    """Whether two settings are both on or both off; unknown if one is a text other than `enabled` or `disabled`.

    An absent setting counts as off.
    """
    words = {"enabled": True, "disabled": False}
    sides = [words.get(side, side) if isinstance(side, str) else side for side in (left, right)]
    odd = next((side for side in sides if isinstance(side, str)), None)
    if odd is not None:
        return Unknown(Reason.NOT_COLLECTED, f"{odd}: expected enabled or disabled")
    # Absent: the plane has no such switch, so the feature cannot be on.
    return (sides[0] is True) == (sides[1] is True)
