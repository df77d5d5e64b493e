"""Facts: a value, its absence, or the reason why it is unknown."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import copysign


class Plane(StrEnum):
    """The plane on which a fact is collected, or `derived`."""

    OS = "os"
    BMC = "bmc"
    BURNIN = "burnin"
    FABRIC = "fabric"
    DERIVED = "derived"


class Class(StrEnum):
    """The class of a fact; the class decides whether the fact may be compared, learnt and hashed."""

    IDENTITY = "identity"
    CONFIG = "config"
    VERSION = "version"
    COUNTER = "counter"
    MEASUREMENT = "measurement"


VOLATILE = frozenset({Class.COUNTER, Class.MEASUREMENT})
"""Classes of facts whose values may differ between two readings of an unchanged machine."""


class Reason(StrEnum):
    """The complete list of reasons why a fact can be unknown."""

    UNREACHABLE = "unreachable"
    HOST_KEY_CHANGED = "host key changed"
    CERTIFICATE_CHANGED = "certificate changed"
    DENIED = "denied"
    TIMEOUT = "timeout"
    TOOL_MISSING = "tool missing"
    UNPARSABLE = "unparsable"
    TOO_LARGE = "too large"
    NOT_COLLECTED = "not collected"
    NOT_READY = "not ready"
    NOT_TESTED = "not tested"
    NOT_READ_FURTHER = "not read further"
    COUNTER_RESET = "counter reset"
    BLOCKED = "blocked"
    NO_CONSENSUS = "no consensus"


Value = bool | int | float | str | tuple[str, ...]
"""A known reading. Quantities are floats in the unit of their kind; `inf` means unlimited."""


@dataclass(frozen=True, slots=True)
class Absent:
    """The reading of a fact that was looked for and does not exist."""

    detail: str = ""

    def __str__(self) -> str:
        return f"absent ({self.detail})" if self.detail else "absent"


@dataclass(frozen=True, slots=True)
class Unknown:
    """The reading of a fact that could not be collected or could not be read."""

    reason: Reason
    detail: str = ""

    def __hash__(self) -> int:
        return hash(self.detail)  # that of an enumeration takes longer than all else, and there are thousands

    def __str__(self) -> str:
        if self.reason is Reason.BLOCKED:
            return f"blocked by {self.detail}"
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value


Reading = Value | Absent | Unknown


def same_reading(one: Reading, other: Reading) -> bool:
    """Whether two readings are the same in every form; in Python, True == 1 == 1.0, and 0.0 == -0.0."""
    if one is other:
        return True
    if type(one) is not type(other) or one != other:
        return False
    if isinstance(one, float) and isinstance(other, float):
        return one != 0 or copysign(1, one) == copysign(1, other)
    both = zip(one, other, strict=True) if isinstance(one, tuple) and isinstance(other, tuple) else ()
    return all(type(mine) is type(theirs) for mine, theirs in both)


@dataclass(frozen=True, slots=True)
class Sourced:
    """A reading with its source: a file, attribute or URI."""

    reading: Reading
    source: str


Fact = tuple[str, Reading | Sourced]
"""A path, and the reading at this path."""


@dataclass(eq=False, slots=True)
class Part:
    """The facts of a part of a reply, such as a resource; the same object for equal parts of several nodes.

    `error` is raised after the facts. `checked` is what the reader of a probe has made of the facts.
    """

    facts: tuple[Fact, ...]
    error: Exception | None = None
    checked: object = None

    def __iter__(self) -> Iterator[Fact]:
        yield from self.facts
        if self.error is not None:
            raise self.error


Facts = Iterator[Fact | Part]
"""What a probe's parser yields."""


def single(facts: Facts) -> Iterator[Fact]:
    """Yield the facts of a parser, also those of parts, one by one."""
    for fact in facts:
        if isinstance(fact, Part):
            yield from fact
        else:
            yield fact


class Unreadable(Exception):
    """Raised for output that does not have the expected form; `reason` is the reason why its facts are unknown."""

    def __init__(self, message: str, reason: Reason = Reason.UNPARSABLE) -> None:
        super().__init__(message)
        self.reason = reason


def visible(text: str) -> str:
    """Escape control characters, broken bytes and direction marks, so that they do not reach a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def clean(text: str, limit: int = 200) -> str:
    """Clean a text from a node for one line of output: control characters are escaped, the length is limited."""
    shown = visible(text.strip()[: limit + 1])  # no character becomes shorter, so the rest of a large text is not shown
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
