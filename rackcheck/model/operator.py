"""The operators of a profile: their operands, the kinds of facts they apply to, and their evaluation."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rackcheck.model import unit
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Class, Reason, Unknown, Value
from rackcheck.model.path import Path
from rackcheck.model.version import SCHEMES, Unordered, order


@dataclass(frozen=True, slots=True)
class Within:
    """A band around the value `of`: plus or minus `by`, in percent if `share` is set, else in the fact's unit."""

    of: float
    by: float
    share: bool


@dataclass(frozen=True, slots=True)
class Mask:
    """The bits to test, and their expected value."""

    bits: int
    is_: int


Operand = Value | tuple[Value, ...] | Within | Mask | Path


@dataclass(frozen=True, slots=True)
class Test:
    """One operator with its operand, parsed according to the kind of the fact."""

    op: str
    operand: Operand


class BadOperand(ValueError):
    """An operand that the operator or the fact's kind does not accept."""


WORDS: Mapping[str, str] = {
    "is": "must be",
    "is-not": "must not be",
    "one-of": "must be one of",
    "none-of": "must be none of",
    "at-least": "must be at least",
    "at-most": "must be at most",
    "above": "must be above",
    "below": "must be below",
    "within": "must be within",
    "spread": "may differ by at most",
    "like": "must look like",
    "matches": "must match",
    "includes": "must include",
    "excludes": "must not include",
    "present": "must be there",
    "same-as": "must equal",
    "mask": "must have bits",
    "equal": "must be the same",
    "steady": "must not change",
    "rate": "may rise by at most",
    "warn-below": "should not be below",
    "warn-above": "should not be above",
}

ORDER = frozenset({"at-least", "at-most", "above", "below", "warn-below", "warn-above"})
WARNING = frozenset({"warn-below", "warn-above"})
SIBLINGS = frozenset({"equal", "spread"})
TWICE = frozenset({"steady", "rate"})
"""Operators that compare two readings of one run."""


def allowed(op: str, kind: Kind) -> None:
    """Raise BadOperand if the operator does not apply to facts of this kind."""
    numeric = kind.type in {Type.INTEGER, Type.QUANTITY}
    single = kind.type is not Type.LIST
    fits = {
        "one-of": single,
        "none-of": single,
        "within": numeric,
        "spread": numeric,
        "mask": kind.type is Type.INTEGER,
        "like": kind.type in {Type.TEXT, Type.VERSION, Type.SETTING},
        "matches": kind.type in {Type.TEXT, Type.VERSION, Type.SETTING},
        "includes": kind.type is Type.LIST,
        "excludes": kind.type is Type.LIST,
        "rate": kind.type is Type.INTEGER and kind.cls is Class.COUNTER,
    }
    if op in ORDER and not kind.ordered:
        raise BadOperand(f"`{op}` needs an order, and a fact of type {kind} has none")
    if op == "rate" and not fits[op]:
        raise BadOperand(f"`rate` applies to counters; this is a fact of type {kind} and class {kind.cls.value}")
    if not fits.get(op, True):
        hint = "" if single else ", which has `includes`, `excludes` and `is: none`"
        raise BadOperand(f"`{op}` does not apply to a fact of type {kind}{hint}")


def value(text: str, kind: Kind) -> Value:
    """Parse an operand as a value of a kind; raises BadOperand, which states what was expected."""
    reader = _READERS.get(kind.type)
    return text if reader is None else reader(text, kind)


def member(text: str) -> str:
    """Parse a member of a list operand; a star raises BadOperand, because members are compared literally."""
    if "*" in text:
        raise BadOperand(f"{text!r} is taken literally, not as a pattern; for an empty list write `is: none`")
    return text


def _list(text: str, _: Kind) -> Value:
    if text != "none":
        raise BadOperand(f"a list is judged by `includes`, `excludes` and `is: none`, not by {text!r}")
    return ()


MEANT: Mapping[str, str] = {
    **dict.fromkeys(("true", "yes", "on", "enabled", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "disabled", "0"), "false"),
}
"""Common spellings of true and false, for suggestions only; operands are not converted."""


def _flag(text: str, _: Kind) -> bool:
    if text not in {"true", "false"}:
        meant = MEANT.get(text.casefold())
        raise BadOperand(f"expected true or false, not {text!r}{f'; did you mean {meant}?' if meant else ''}")
    return text == "true"


def _integer(text: str, kind: Kind) -> Value:
    if kind.unlimited and text == "unlimited":
        return math.inf
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,24}", text):
        return int(text, 16)
    if re.fullmatch(r"[+-]?0\d+", text):
        raise BadOperand(f"{text!r} could be octal; write {int(text)}")
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise BadOperand(f"expected a whole number, not {text!r}")
    return int(text)


def _quantity(text: str, kind: Kind) -> Value:
    if kind.unlimited and text == "unlimited":
        return math.inf
    try:
        return unit.parse(text).to(kind.unit)
    except unit.BadUnit as error:
        wanted = "" if "is expected" in str(error) else f"; a quantity in {kind.unit} is expected"
        raise BadOperand(f"{error}{wanted}") from None


def _text(text: str, kind: Kind) -> str:
    if kind.words and text not in kind.words:
        import difflib  # noqa: PLC0415  only errors need it

        near = difflib.get_close_matches(text, kind.words, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise BadOperand(f"{text!r} is none of {', '.join(kind.words)}{hint}")
    return text


def _setting(text: str, _: Kind) -> str:
    return " ".join(text.split())


_READERS: Mapping[Type, Callable[[str, Kind], Value]] = {
    Type.FLAG: _flag,
    Type.INTEGER: _integer,
    Type.QUANTITY: _quantity,
    Type.TEXT: _text,
    Type.SETTING: _setting,
    Type.LIST: _list,
}


def orderable(text: str, kind: Kind) -> None:
    """Raise BadOperand if the operand of `at-least` or of a similar operator is a value that cannot be ordered."""
    if kind.type is Type.VERSION:
        try:
            SCHEMES[kind.scheme](text)
        except Unordered as error:
            raise BadOperand(str(error)) from None
    if kind.type is Type.SETTING and _as_int(text) is None:
        raise BadOperand(f"expected a whole number to compare with, not {text!r}")


def holds(test: Test, found: Value, kind: Kind) -> bool | Unknown:
    """Evaluate one test on one known value; unknown if the two cannot be compared."""
    try:
        return _HOLDS[test.op](found, test.operand, kind)
    except Unordered as error:
        return Unknown(Reason.UNPARSABLE, f"cannot be ordered: {error}")


TestResult = bool | Unknown


def _as_int(found: object) -> int | None:
    text = str(found).strip()
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,30}", text) else None


def setting_key(text: str) -> int | tuple[str, ...]:
    """Return a value that is equal for all spellings of a tunable: an integer if the text is one, else its words."""
    number = _as_int(text)
    return number if number is not None else tuple(text.split())


def equal(left: Value, right: Value, kind: Kind) -> bool:
    """Whether two values of a kind are the same; quantities may differ by rounding."""
    if kind.type is Type.SETTING:
        return setting_key(str(left)) == setting_key(str(right))
    if kind.type is Type.QUANTITY and isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-9)
    return left == right


def _compare(left: Value, right: Value, kind: Kind) -> float:
    if kind.type is Type.VERSION:
        return order(kind.scheme, str(left), str(right))
    if kind.type is Type.SETTING:
        a, b = _as_int(left), _as_int(right)
        if a is None or b is None:
            raise Unordered(f"{left!r} is not a whole number")
        return a - b
    assert isinstance(left, (int, float)) and isinstance(right, (int, float))  # noqa: PT018
    return 0.0 if equal(left, right, kind) else left - right


def _is(found: Value, operand: Operand, kind: Kind) -> TestResult:
    return equal(found, operand, kind)  # type: ignore[arg-type]  # parsed by this kind


def _one_of(found: Value, operand: Operand, kind: Kind) -> TestResult:
    assert isinstance(operand, tuple)
    return any(equal(found, o, kind) for o in operand)


def _within(found: Value, operand: Operand, _: Kind) -> TestResult:
    assert isinstance(operand, Within) and isinstance(found, (int, float))  # noqa: PT018
    by = abs(operand.of) * operand.by / 100 if operand.share else operand.by
    distance = abs(found - operand.of)
    return distance <= by or math.isclose(distance, by, rel_tol=1e-9)


def _mask(found: Value, operand: Operand, _: Kind) -> TestResult:
    assert isinstance(operand, Mask)
    return isinstance(found, int) and found & operand.bits == operand.is_  # unlimited has no bits


def _like(found: Value, operand: Operand, _: Kind) -> TestResult:
    return glob(str(operand), str(found)[:4096])


def _matches(found: Value, operand: Operand, _: Kind) -> TestResult:
    import re2  # noqa: PLC0415  linear time on hostile text; loaded for the few profiles that use it

    return re2.search(str(operand), str(found)[:4096]) is not None


def _includes(found: Value, operand: Operand, _: Kind) -> TestResult:
    assert isinstance(operand, tuple) and isinstance(found, tuple)  # noqa: PT018
    return set(operand) <= set(found)


def _excludes(found: Value, operand: Operand, _: Kind) -> TestResult:
    assert isinstance(operand, tuple) and isinstance(found, tuple)  # noqa: PT018
    return not set(operand) & set(found)


def _order(accept: Callable[[float], bool]) -> Callable[[Value, Operand, Kind], TestResult]:
    return lambda found, operand, kind: accept(_compare(found, operand, kind))  # type: ignore[arg-type]


_HOLDS: Mapping[str, Callable[[Value, Operand, Kind], TestResult]] = {
    "is": _is,
    "is-not": lambda f, o, k: not _is(f, o, k),
    "one-of": _one_of,
    "none-of": lambda f, o, k: not _one_of(f, o, k),
    "at-least": _order(lambda c: c >= 0),
    "at-most": _order(lambda c: c <= 0),
    "above": _order(lambda c: c > 0),
    "below": _order(lambda c: c < 0),
    "warn-below": _order(lambda c: c >= 0),
    "warn-above": _order(lambda c: c <= 0),
    "within": _within,
    "mask": _mask,
    "like": _like,
    "matches": _matches,
    "includes": _includes,
    "excludes": _excludes,
}


def glob(pattern: str, text: str) -> bool:
    """Whether a text matches a glob with `*` and `?`; the search needs no exponential backtracking."""
    p = t = 0
    star, mark = -1, 0
    while t < len(text):
        if p < len(pattern) and pattern[p] == "*":
            star, mark, p = p, t, p + 1
        elif p < len(pattern) and pattern[p] in ("?", text[t]):
            p, t = p + 1, t + 1
        elif star >= 0:
            mark += 1
            p, t = star + 1, mark
        else:
            return False
    return all(c == "*" for c in pattern[p:])


def spell(found: Value, kind: Kind) -> str:
    """Format a value with its unit."""
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, tuple):
        return ", ".join(map(str, found)) or "none"
    if kind.type is Type.QUANTITY and isinstance(found, (int, float)):
        return unit.spell(float(found), kind.unit)
    if isinstance(found, float):
        return "unlimited" if math.isinf(found) else f"{found:g}"
    return str(found)


def exact(found: Value, kind: Kind) -> str:
    """Format a value without loss if the result of `spell` is rounded or ambiguous; otherwise return an empty text."""
    if isinstance(found, tuple):
        return repr(list(found)) if any("," in part for part in found) or found == ("none",) else ""
    if isinstance(found, bool) or not isinstance(found, float):
        return ""
    if kind.type is Type.QUANTITY:
        return unit.exact(found, kind.unit)
    return "" if math.isinf(found) or float(f"{found:g}") == found else repr(found)


def expectation(test: Test, kind: Kind) -> str:
    """Format a test for users: `must be at least 450 W`."""
    words = WORDS[test.op]
    match test.operand:
        case Within(of, by, share):
            return f"{words} {spell(of, kind)} ± {unit.spell(by, '%' if share else kind.unit)}"
        case Mask(bits, is_):
            return f"{words} {bits:#x} = {is_:#x}"
        case Path() as path:
            return f"{words} {path}"
        case bool() as flag if test.op == "present":
            return words if flag else "must not be there"
        case bool() if test.op in {"equal", "steady"}:
            return words
        case ():
            return f"{words} none"
        case tuple() as several:
            return f"{words} {', '.join(spell(s, kind) for s in several)}"
        case found:
            return f"{words} {spell(found, _OWN.get(test.op, kind))}"


_OWN = {"spread": Kind(Type.QUANTITY, "", unit="%"), "rate": Kind(Type.QUANTITY, "", unit="/h")}
"""The kind of the operand, for operators whose operand has a unit of its own instead of the fact's unit."""
