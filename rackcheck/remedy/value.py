"""Finds the single value that a clause of a rule expects, or the reason why there is none."""

import math
from dataclasses import dataclass

from rackcheck.model import operator
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Value
from rackcheck.model.operator import Within
from rackcheck.model.profile import Clause
from rackcheck.remedy.tunables import ABSENT


@dataclass(frozen=True, slots=True)
class WantedValue:
    """A value that passes all tests of a clause; `text` is its spelling, `how` the reason for its choice."""

    value: Value | None
    text: str
    how: str = ""


LEAST, MOST = frozenset({"at-least", "above", "warn-below"}), frozenset({"at-most", "below", "warn-above"})


def wanted(clause: Clause) -> WantedValue | str:
    """Return the value that a clause expects, or why there is none; the value follows only from the clause's tests."""
    ops = {test.op: test.operand for test in clause.tests}
    if ops.get("present") is False and len(ops) == 1:
        return WantedValue(None, ABSENT)
    tests = [test for test in clause.tests if test.op != "present"]
    chosen = _chosen(clause)
    if isinstance(chosen, str):
        return chosen
    value, how = chosen
    if any(operator.holds(test, value, clause.kind) is not True for test in tests):
        return "the rule has several conditions on this fact, and the value from one of them does not meet the others"
    return WantedValue(value, _text(value, clause), how)


def _chosen(clause: Clause) -> tuple[Value, str] | str:
    """Return the value of the first test that gives one: an exact value, the first of a list, or the middle of a band.

    If no test gives a value, return the value of a bound, or the reason why there is none.
    """
    ops = {test.op: test.operand for test in clause.tests}
    others = sorted(set(ops) & {"same-as", "equal", "spread"})
    if others:
        return f"`{others[0]}` compares values of the machine with each other and gives no fixed value"
    for op, operand in ops.items():
        match operand:
            case Within(of):
                return _whole(of, clause), "the middle of `within`"
            case tuple() as several if op == "one-of" and several:
                return several[0], "the first word of `one-of`"
            case bool() | int() | float() | str() if op == "is":
                return operand, ""
            case bool() if op == "is-not":
                return not operand, ""
    return _bound(clause)


def _bound(clause: Clause) -> tuple[Value, str] | str:
    """Return the strictest lower bound among a clause's tests, or else the strictest upper bound.

    If there is no usable bound, return the reason as a text. The caller checks that the bound passes all tests.
    """
    for side, strictest in ((LEAST, max), (MOST, min)):
        bounds = [(t.operand, t.op) for t in clause.tests if t.op in side]
        numbers = {float(_number(bound)): (bound, op) for bound, op in bounds if _number(bound) is not None}  # type: ignore[arg-type]
        if not numbers or len(numbers) < len({str(b) for b, _ in bounds}):
            continue
        bound, op = numbers[strictest(numbers)]
        if op in {"above", "below"}:
            if clause.kind.type not in {Type.INTEGER, Type.SETTING}:
                return f"`{op}` does not determine a value"
            step = int(_number(bound) or 0) + (1 if op == "above" else -1)
            return str(step) if clause.kind.type is Type.SETTING else step, f"the next whole number `{op}` the bound"
        assert isinstance(bound, (int, float, str))
        return bound, f"the bound of `{op}`"
    ops = ", ".join(f"`{test.op}`" for test in clause.tests)
    return f"{ops} does not determine a single value"


def _number(bound: object) -> float | None:
    try:
        return float(bound) if isinstance(bound, (int, float, str)) and not isinstance(bound, bool) else None
    except ValueError:
        return None


def _whole(of: float, clause: Clause) -> Value:
    return int(of) if clause.kind.type is Type.INTEGER and math.isfinite(of) and of == int(of) else of


def _text(value: Value, clause: Clause) -> str:
    """Format a value without its unit, as tools expect it: `65536`, `unlimited`, `true`."""
    if isinstance(value, float):
        if math.isinf(value):
            return "unlimited"
        return f"{value:.0f}" if value == int(value) else repr(value)
    return operator.spell(value, clause.kind)
