"""What a version is ordered by, and the word for one that cannot be."""

from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 1000
"""Characters of a version that are read: more than ten times the longest recorded one, few enough to cost nothing."""


class Unordered(ValueError):
    """A version that its scheme cannot order."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a scheme read from a version.

    `numbers` order it. Versions of two families have no order. Where the numbers are alike, two builds have none
    either, nor have two notes; a version without a note stands for all of them.
    """

    numbers: tuple[int, ...]
    family: str = ""
    build: str = ""
    note: str = ""


def shown(text: str) -> str:
    """A version for a message, cut where it is long."""
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def reader(read: Callable[[str], Key | None], refusal: str) -> Callable[[str], Key]:
    """Read a version without the blanks around it; raises Unordered where `read` knows none, or it has no end."""

    def bounded(text: str) -> Key:
        key = read(text.strip()) if len(text) <= LONGEST else None
        if key is None:
            raise Unordered(f"{shown(text)} {refusal}")
        return key

    return bounded


def significant(numbers: list[int]) -> tuple[int, ...]:
    """Numbers without the zeros at their end: 28.10 is 28.10.0."""
    end = len(numbers)
    while end and not numbers[end - 1]:
        end -= 1
    return tuple(numbers[:end])
