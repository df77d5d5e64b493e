"""Values beside the bounds of an operator: those that just meet it, and those that just do not.

The meaning of the operators is implemented here a second time, from the grammar, independently of the judge.
Only values that a fact of the kind can have are returned: closed words only these, counters and sizes never negative.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import inf, isclose
from typing import Any

import re2
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Reading, Value
from rackcheck.model.operator import Mask, Test, Within

ABSENT = Absent("not there")
SOME: Mapping[Type, Value] = {
    Type.FLAG: True,
    Type.INTEGER: 100,
    Type.QUANTITY: 100.0,
    Type.TEXT: "thing",
    Type.LIST: ("thing",),
    Type.SETTING: "100",
}
"""A value of each type that has no closed words and no scheme."""

VERSIONS: Mapping[str, str] = {
    "dotted": "570.86.15",
    "hex-dotted": "96.00.9F.00.01",
    "prefixed": "v28.39.1002 (MT_0000000838)",
    "date": "03/15/2024",
    "kernel": "5.15.0-1053-nvidia",
    "deb": "1:2.10-3ubuntu2",
    "rpm": "5.14.0-427.el9_4",
    "opaque": "build 7",
}
"""A version of each scheme."""

SIGNED = frozenset({"C", "s", "ms", "us", "ns", "min", "h", "V", "mV", "A", "mA", "dB", "%", "ppm"})
"""Units whose values may be negative: a size, a rate, a power or a frequency is never negative."""

FINE = 1e-8
"""A relative step beyond the 1e-9 within which two quantities are equal."""

SEEN = 1e-3
"""A relative step that the six digits of a reason show."""


def some(kind: Kind) -> Value:
    """Return any value of a kind."""
    if kind.words:
        return kind.words[0]
    if kind.type is not Type.VERSION:
        return SOME[kind.type]
    if kind.scheme not in VERSIONS:
        raise NotImplementedError(f"no versions of the scheme {kind.scheme} are known")
    return VERSIONS[kind.scheme]


def real(values: Iterable[Reading], kind: Kind) -> tuple[Reading, ...]:
    """Return the values that a fact of this kind can have, each once."""
    return tuple(dict.fromkeys(value for value in values if isinstance(value, Absent) or _can_be(value, kind)))


def _can_be(value: Reading, kind: Kind) -> bool:
    if kind.words:
        return value in kind.words
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return kind.cls is not Class.COUNTER and (not kind.unit or kind.unit in SIGNED)
    return True


def neighbours(value: Value, kind: Kind) -> tuple[Reading, ...]:
    """Return other values of the kind, the nearest ones where they are defined."""
    return real((other for other in _neighbours(value, kind) if not same(other, value, kind)), kind)


def _neighbours(value: Value, kind: Kind) -> Iterable[Reading]:
    match kind.type:
        case Type.FLAG:
            return (not value,)
        case Type.INTEGER | Type.QUANTITY:
            return (*_up(value, kind), *_down(value, kind))
        case Type.VERSION:
            return (*_up(value, kind), *_down(value, kind), f"{value}1")
        case Type.SETTING if _whole(value) is not None:
            return (*_up(value, kind), *_down(value, kind))
        case Type.LIST:
            assert isinstance(value, tuple)
            return ((*value, "another"), *((value[1:],) if value else ()))
    return (*kind.words, f"not {value}") if kind.words else (f"not {value}", f"{value}x", str(value)[:-1] or "x")


def _up(value: Value, kind: Kind) -> tuple[Value, ...]:
    return _step(value, kind, 1)


def _down(value: Value, kind: Kind) -> tuple[Value, ...]:
    return _step(value, kind, -1)


def _step(value: Value, kind: Kind, sign: int) -> tuple[Value, ...]:
    """Return the next values above or below one; nothing where there is none."""
    if kind.type is Type.VERSION:
        return _other_version(str(value), kind.scheme, sign)
    if kind.type is Type.SETTING:
        whole = _whole(value)
        return () if whole is None else (str(whole + sign),)
    assert isinstance(value, (int, float))
    if value == inf:
        return (2**40 if kind.type is Type.INTEGER else 2.0**40,) if sign < 0 else ()
    if kind.type is Type.INTEGER:
        assert isinstance(value, int)
        return (value + sign, *((inf,) if kind.unlimited and sign > 0 else ()))
    steps = (abs(value) * SEEN, abs(value) * FINE) if value else (1.0, FINE)
    return (*(value + sign * step for step in steps), *((inf,) if kind.unlimited and sign > 0 else ()))


def _other_version(text: str, scheme: str, sign: int) -> tuple[Value, ...]:
    """Return the version with its last possible number changed by one; opaque ones have none."""
    base = 16 if scheme == "hex-dotted" else 10
    for found in reversed(_numbers(text, scheme)):
        number = int(found[0], base) + sign
        if number >= 0:
            spelt = f"{number:0{len(found[0])}{'X' if base == 16 else 'd'}}"
            return (text[: found.start()] + spelt + text[found.end() :],)
    return ()


def _numbers(text: str, scheme: str) -> list[re.Match[str]]:
    """Find the numbers that order a version, the most significant first; of a date the year only."""
    match scheme:
        case "opaque":
            return []
        case "hex-dotted":
            return list(re.finditer(r"[0-9A-Fa-f]+", text))
        case "prefixed":  # the first dotted numbers: a name stands before them, a note after
            dotted = re.search(r"\d+(?:\.\d+)+", text)
            return [] if dotted is None else list(re.compile(r"\d+").finditer(text, *dotted.span()))
        case "date":
            return list(re.finditer(r"\d{4}", text))[:1]
        case "kernel":
            return list(re.finditer(r"\d+", text))[:5]
        case "dotted" | "deb" | "rpm":
            return list(re.finditer(r"\d+", text))
    raise NotImplementedError(f"no versions of the scheme {scheme} are known")


def meeting(test: Test, kind: Kind) -> tuple[Reading, ...]:
    """Return values that meet a test, those on its bound first."""
    return real(_near(test, kind)[0], kind)


def beyond(test: Test, kind: Kind) -> tuple[Reading, ...]:
    """Return values that only just fail a test; none where every value of the kind meets it."""
    return real(_near(test, kind)[1], kind)


def _near(test: Test, kind: Kind) -> tuple[Iterable[Reading], Iterable[Reading]]:
    """Return the values on either side of a test."""
    bound = test.operand
    match test.op, bound:
        case (("is" | "is-not"), (bool() | int() | float() | str() | tuple())):
            value: Value = bound  # type: ignore[assignment]  # of `is` it is one value, the empty list among them
            return _turned((value,), neighbours(value, kind), turn=test.op == "is-not")
        case (("one-of" | "none-of"), tuple(several)):
            others = [n for one in several for n in neighbours(one, kind) if not _same_as_one(n, several, kind)]
            return _turned(several, others, turn=test.op == "none-of")
        case (("at-least" | "warn-below" | "above"), (int() | float() | str())):
            return _ordered(bound, _up(bound, kind), _down(bound, kind), on=test.op != "above")
        case (("at-most" | "warn-above" | "below"), (int() | float() | str())):
            return _ordered(bound, _down(bound, kind), _up(bound, kind), on=test.op != "below")
        case "within", Within():
            return _band(bound, kind)
        case "mask", Mask(bits, wanted):
            ones = [1 << n for n in range(bits.bit_length()) if bits >> n & 1]
            return (wanted, wanted | 1 << bits.bit_length()), [wanted ^ one for one in ones]
        case "like", str():
            return _split(test, (*_of_glob(bound), *kind.words), kind)
        case "matches", str():
            return _split(test, (*_of_pattern(bound), *kind.words), kind)
        case (("includes" | "excludes"), tuple(several)):
            names = tuple(str(one) for one in several)
            if test.op == "excludes":
                return ((), ("another",)), [("another", name) for name in names]
            return (names, (*names, "another")), [*(names[:n] + names[n + 1 :] for n in range(len(names))), ()]
        case "present", bool():
            return _turned((some(kind),), (ABSENT,), turn=not bound)
    raise NotImplementedError(f"no values are known that meet `{test.op}`, and none that do not")


def _turned(
    these: Iterable[Reading], those: Iterable[Reading], *, turn: bool
) -> tuple[Iterable[Reading], Iterable[Reading]]:
    return (those, these) if turn else (these, those)


def _ordered(
    bound: Value, right: tuple[Value, ...], wrong: tuple[Value, ...], *, on: bool
) -> tuple[Iterable[Reading], Iterable[Reading]]:
    return ((bound, *right), wrong) if on else (right, (bound, *wrong))


def _band(band: Within, kind: Kind) -> tuple[Iterable[Reading], Iterable[Reading]]:
    by = abs(band.of) * band.by / 100 if band.share else band.by
    low, high = band.of - by, band.of + by
    if kind.type is Type.INTEGER:
        least, most = -int(-low // 1), int(high // 1)  # the whole numbers that the band holds
        return (int(band.of), least, most), (most + 1, least - 1)
    return (band.of, low, high), (*_up(high, kind), *_down(low, kind))


def _split(test: Test, texts: Iterable[str], kind: Kind) -> tuple[Iterable[Reading], Iterable[Reading]]:
    texts = [text for text in dict.fromkeys(texts) if _can_be(text, kind)]
    return [t for t in texts if meets(test, t, kind)], [t for t in texts if not meets(test, t, kind)]


def _of_glob(pattern: str) -> tuple[str, ...]:
    shortest = pattern.replace("*", "").replace("?", "1")
    return (pattern.replace("*", "1").replace("?", "1"), shortest, *_spoilt(shortest))


@cache
def _of_pattern(pattern: str) -> tuple[str, ...]:
    """Return the simplest text that a pattern matches, and texts that differ from it by one sign."""
    same = settings(
        derandomize=True, database=None, phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck)
    )
    found = find(
        st.from_regex(pattern), lambda text: text.isprintable() and bool(re2.search(pattern, text)), settings=same
    )
    return (found, *_spoilt(found))


def _spoilt(text: str) -> tuple[str, ...]:
    """Return a text with one sign changed or removed, and another word."""
    changed = [text[:n] + "~" + text[n + 1 :] for n in range(len(text))]
    return (*changed, text[:-1], text[1:], "another", "")


def meets(test: Test, value: Reading, kind: Kind) -> bool:
    """Whether a known or absent value meets a test, by the grammar; `same-as` is no test of a single value."""
    if test.op == "present":
        return isinstance(value, Absent) != test.operand
    if isinstance(value, Absent):
        return False
    if test.op not in MEANING:
        raise NotImplementedError(f"nothing is known of what meets `{test.op}`")
    return MEANING[test.op](value, test.operand, kind)


def _at_least(value: Any, bound: Any, kind: Kind) -> bool:
    return _rank(value, kind) >= _rank(bound, kind) or same(value, bound, kind)


def _at_most(value: Any, bound: Any, kind: Kind) -> bool:
    return _rank(value, kind) <= _rank(bound, kind) or same(value, bound, kind)


def _within(value: Any, band: Any, _: Kind) -> bool:
    by, far = abs(band.of) * band.by / 100 if band.share else band.by, abs(value - band.of)
    return bool(far <= by or isclose(far, by, rel_tol=1e-9))


def _like(value: Any, pattern: Any, _: Kind) -> bool:
    signs = ({"*": ".*", "?": "."}.get(sign, re.escape(sign)) for sign in pattern)
    return re.fullmatch("".join(signs), str(value)) is not None


def same(left: Reading, right: Reading, kind: Kind) -> bool:
    """Whether two values are equal: quantities within 1e-9 of each other, settings as numbers where both are."""
    if isinstance(left, Absent) or isinstance(right, Absent):
        return False
    if kind.type is Type.QUANTITY and isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return isclose(left, right, rel_tol=1e-9)
    if kind.type is Type.SETTING:
        ours, theirs = _whole(left), _whole(right)
        return str(left).split() == str(right).split() if ours is None or theirs is None else ours == theirs
    return left == right


def _same_as_one(value: Reading, several: Iterable[Reading], kind: Kind) -> bool:
    return any(same(value, one, kind) for one in several)


def _whole(value: object) -> int | None:
    return int(str(value)) if re.fullmatch(r"\s*[+-]?\d+\s*", str(value)) else None


def _rank(value: object, kind: Kind) -> tuple[float, ...]:
    """Return the sort key of a value of an ordered kind."""
    if kind.type is not Type.VERSION:
        return (float(str(value)),)
    base = 16 if kind.scheme == "hex-dotted" else 10
    ranked = [float(int(number[0], base)) for number in _numbers(str(value), kind.scheme)]
    while ranked and not ranked[-1]:
        ranked.pop()  # 570.0 is 570
    return tuple(ranked)


MEANING: Mapping[str, Callable[[Any, Any, Kind], bool]] = {
    "is": same,
    "is-not": lambda value, bound, kind: not same(value, bound, kind),
    "one-of": _same_as_one,
    "none-of": lambda value, several, kind: not _same_as_one(value, several, kind),
    "at-least": _at_least,
    "at-most": _at_most,
    "warn-below": _at_least,
    "warn-above": _at_most,
    "above": lambda value, bound, kind: not _at_most(value, bound, kind),
    "below": lambda value, bound, kind: not _at_least(value, bound, kind),
    "within": _within,
    "mask": lambda value, mask, _: isinstance(value, int) and value & mask.bits == mask.is_,
    "like": _like,
    "matches": lambda value, pattern, _: bool(re2.search(pattern, str(value))),
    "includes": lambda value, several, _: all(one in value for one in several),
    "excludes": lambda value, several, _: not any(one in value for one in several),
}
"""Whether a present value meets an operand, by operator."""
