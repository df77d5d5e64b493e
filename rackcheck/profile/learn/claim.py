"""Turns the values of one fact on several machines into the claim of a rule, or a reason why there is no rule.

Pure. The class of the fact decides which claim is possible. A claim is true on every machine it was learned from.
"""

import math
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model import operator, unit
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Class, Value
from rackcheck.model.operator import BadOperand, Test, Within
from rackcheck.model.regex import regex

ENOUGH = 3
"""Minimum number of machines or runs from which a median and a spread of a measurement are computed."""

LONGEST = 200
"""Maximum number of characters of a text, and of a path, in a rule."""

MEMBERS = 40
"""Maximum number of members of a list in a rule."""

SHARE = 0.02
"""Minimum half-width of a band, as a share of the median.

The half-width of a band is three times the median absolute deviation of the values, but at least 2 % of the median.
"""

_ERRORS = regex(
    r"error|fault|fail|correct|panic|oops|crash|fatal|malformed|checksum|medium|machine check|\bbad\b|\bs?xids?\b"
)
"""Words in a counter's name or help that show that it counts errors."""

_IDLE = regex(r"\bidle|\bnow\b|\blately\b|\bdraws?\b|in use", re.IGNORECASE)
"""Words in a fact's help which show that its value depends on the load."""


class Why(StrEnum):
    """Why a fact has no rule; each value describes the facts that are counted under it."""

    IDENTITY = "facts that identify one machine"
    COUNTER = "counters that are not 0, or do not count errors"
    MEASUREMENT = "measurements that depend on load or time"
    FEW = f"measurements that need {ENOUGH} machines or runs"
    ABSENT = "facts that are absent"
    EMPTY = "collections without items"
    LONG = "facts that are too long for a rule"
    UNSAYABLE = "facts whose values no operator can express"
    UNASKED = "facts that were not collected (rackcheck capture collects all facts; a capture can be given as --from)"
    STRANGE = "facts of probes that are not installed here"
    FULL = "facts that are too many for one file"


class Doubt(StrEnum):
    """Why a person must decide about a fact: its values do not lead to a rule, so the fact becomes a question."""

    DIFFER = "differ"
    OUTSIDE = "are not all within the band around their median"
    PENDING = "waits for a restart"
    ILL = "is not OK: is this machine healthy?"


@dataclass(frozen=True, slots=True)
class Claim:
    """A rule's claim about a fact: an operator and its operand, as a profile writes them.

    For the operator `within`, the operand is the pair (`of`, `by`): the middle and half the width of the allowed band.
    """

    op: str
    operand: str | tuple[str, ...]


def claimed(
    kind: Kind, found: Sequence[Value], path: str, *, machines: int, at_least: bool, identifies: Callable[[str], bool]
) -> Claim | Doubt | Why:
    """Return the claim for a fact with these values on `machines` machines, or the reason why there is no claim.

    `identifies` is a function that returns whether a text identifies a single machine.
    """
    match kind.cls:
        case Class.IDENTITY:
            return Why.IDENTITY
        case Class.COUNTER:
            zero = all(value in (0, ()) for value in found) and counts_errors(path, kind)
            return _held(_exactly(found[0], kind), found, kind) if zero else Why.COUNTER
        case Class.MEASUREMENT:
            return _measured(kind, found, machines)
    if any(identifies(text) for value in found for text in _texts(value)):
        return Why.IDENTITY
    if "pending/" in path and any(value not in (0, ()) for value in found):
        return Doubt.PENDING
    if path.endswith("health") and any(value != "OK" for value in found):
        return Doubt.ILL
    if any(not _same(found[0], value, kind) for value in found[1:]):
        return Doubt.DIFFER
    if at_least and kind.type is Type.VERSION and kind.ordered:
        raised = _held(Claim("at-least", str(found[0])), found, kind)
        if isinstance(raised, Claim):  # a version that cannot be ordered gets an `is` below
            return raised
    return _held(_exactly(found[0], kind), found, kind)


def counts_errors(path: str, kind: Kind) -> bool:
    """Whether a fact's name or its help shows that it counts errors."""
    return _ERRORS.search(f"{path.replace('_', ' ')} {kind.help}".lower()) is not None


def spelt(value: float, kind: Kind) -> str:
    """Format a quantity without loss, in its own unit; if that needs more than 12 characters, in the shortest unit."""
    if math.isinf(value):
        return "unlimited"
    own = _exact(value, kind.unit, kind)
    if own is not None and len(own) <= 12:
        return own
    others = [text for name in unit.UNITS if (text := _exact(value, name, kind)) is not None]
    return min(([own] if own is not None else []) + others, key=len, default=f"{value!r} {kind.unit}")


def _exact(value: float, name: str, kind: Kind) -> str | None:
    try:
        number = unit.Quantity(value, kind.unit).to(name)
        text = f"{number:.12g} {name}"
        back = unit.parse(text).to(kind.unit)
    except unit.BadUnit:
        return None
    return text if "e" not in text.partition(" ")[0] and operator.equal(back, value, kind) else None


def _texts(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()


def _same(left: Value, right: Value, kind: Kind) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return set(left) == set(right)
    return operator.equal(left, right, kind)


def _exactly(value: Value, kind: Kind) -> Claim | Why:
    """Return the claim that a fact has this value; for a list, that it includes these members."""
    if isinstance(value, tuple):
        if any(text.startswith("$") or "*" in text for text in value):
            return Why.UNSAYABLE
        if len(value) > MEMBERS or any(len(text) > LONGEST for text in value):
            return Why.LONG
        return Claim("includes", tuple(dict.fromkeys(value))) if value else Claim("is", "none")
    if isinstance(value, bool):
        return Claim("is", "true" if value else "false")
    if isinstance(value, float):
        return Claim("is", spelt(value, kind))
    text = " ".join(str(value).split()) if kind.type is Type.SETTING else str(value)
    if len(text) > LONGEST:
        return Why.LONG
    # A value that begins with a dollar sign would be parsed as a param's name.
    return Claim("matches", f"^{_quoted(text)}$") if text.startswith("$") else Claim("is", text)


def _quoted(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def _measured(kind: Kind, found: Sequence[Value], machines: int) -> Claim | Doubt | Why:
    """Return a band around the median for a rate (per second) that does not depend on load, or why there is no band."""
    numbers = [float(value) for value in found if isinstance(value, (int, float)) and math.isfinite(value)]
    if not kind.unit.endswith("/s") or _IDLE.search(kind.help) or len(numbers) < len(found):
        return Why.MEASUREMENT
    if machines < ENOUGH:
        return Why.FEW
    middle = statistics.median(numbers)
    by = max(3 * statistics.median(abs(number - middle) for number in numbers), SHARE * abs(middle))
    if not by:
        return Why.MEASUREMENT
    claim = _held(Claim("within", (_rounded(middle, kind), _rounded(_up(by), kind))), found, kind)
    return Doubt.OUTSIDE if claim is Why.UNSAYABLE else claim


def _rounded(number: float, kind: Kind) -> str:
    text = f"{number:.6g}"
    return f"{number!r} {kind.unit}" if "e" in text else f"{text} {kind.unit}"


def _up(number: float) -> float:
    """Round up to three significant digits, so that a band is never narrower than measured."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return math.ceil(number / step) * step


def _held(claim: Claim | Why, found: Sequence[Value], kind: Kind) -> Claim | Why:
    """Return the claim if a profile can express it and it passes for every value, or why there is no claim."""
    if isinstance(claim, Why):
        return claim
    try:
        operator.allowed(claim.op, kind)
        test = Test(claim.op, _operand(claim, kind))
        holds = all(operator.holds(test, value, kind) is True for value in found)
    except (BadOperand, unit.BadUnit, UnicodeError):
        return Why.UNSAYABLE
    return claim if holds else Why.UNSAYABLE


def _operand(claim: Claim, kind: Kind) -> operator.Operand:
    match claim.operand:
        case (of, by) if claim.op == "within":
            return Within(_number(of, kind), _number(by, kind), share=False)
        case tuple() as members:
            return tuple(map(operator.member, members))
        case text if any("\ud800" <= character <= "\udfff" for character in text):
            raise BadOperand("a lone surrogate, which a profile cannot contain")
        case text if claim.op == "matches":
            return text
        case text:
            if claim.op == "at-least":
                operator.orderable(text, kind)
            return operator.value(text, kind)


def _number(text: str, kind: Kind) -> float:
    number = operator.value(text, kind)
    assert isinstance(number, (int, float))
    return float(number)
