"""Which machine a profile is for, and whether a node is one. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Match(StrEnum):
    """Whether a node is a machine that the profile is for."""

    FITS = "fits"
    OTHER = "other"
    UNKNOWN = "unknown"
    NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class Fit:
    """How a node matches the `applies-to` of a profile; `words` give what it is instead, or why that is unknown."""

    match: Match = Match.NOT_STATED
    words: str = ""
