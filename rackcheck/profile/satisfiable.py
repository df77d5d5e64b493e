"""Decides whether all tests of one fact can pass together, and whether one test can pass while another fails.

All values between two neighbouring operands give the same result, so one value of each gap is tried. The result is None
if values cannot be tried in this way: for globs, patterns, bits, and the order of versions.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isfinite

from rackcheck.model import operator
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Value
from rackcheck.model.operator import SIBLINGS, WARNING, Test, Within
from rackcheck.model.profile import Clause

_TRIED = frozenset({"is", "is-not", "one-of", "none-of", "at-least", "at-most", "above", "below", "within", "present"})
_OTHER = "\x00another word"
"""Stands for any text that no test mentions."""


def can_hold(clauses: Sequence[Clause]) -> bool | None:
    """Whether a fact can have a reading that passes all these clauses; None if that cannot be decided."""
    readings = _readings(clauses)
    return None if readings is None else any(all(_holds(clause, reading) for clause in clauses) for reading in readings)


def can_fail(given: Clause, judged: Clause) -> bool | None:
    """Whether a reading that passes the first clause can fail the second; None if that cannot be decided."""
    readings = _readings((given, judged))
    if readings is None:
        return None
    return any(_holds(given, reading) and not _holds(judged, reading) for reading in readings)


def _holds(clause: Clause, reading: Value | None) -> bool:
    """Whether a reading passes a clause; the reading None means that the fact is absent."""
    for test in clause.tests:
        if test.op in WARNING:
            continue
        if test.op == "present":
            held = (test.operand is False) == (reading is None)
        else:
            held = reading is not None and operator.holds(test, reading, clause.kind) is True
        if not held:
            return False
    return True


def _readings(clauses: Sequence[Clause]) -> list[Value | None] | None:
    tests = [test for clause in clauses for test in clause.tests if test.op not in WARNING]
    kind = clauses[0].kind
    if not tests or any(not clause.tests for clause in clauses):
        return None  # a param without a value may become any test
    if any(test.op not in _TRIED or test.op in SIBLINGS for test in tests):
        return None
    operands = list(dict.fromkeys(v for test in tests if test.op != "present" for v in _values(test)))
    match kind.type:
        case Type.FLAG:
            return [None, True, False]
        case Type.INTEGER | Type.QUANTITY:
            return [None, *_numbers(operands, kind)]
        case Type.TEXT:
            words: Sequence[Value] = kind.words or (*operands, _OTHER)
            return [None, *words]
        case Type.VERSION if all(test.op not in operator.ORDER for test in tests):
            return [None, *operands, _OTHER]
        case _:
            return None


def _values(test: Test) -> Iterator[Value]:
    match test.operand:
        case Within(of, by, share):
            reach = abs(of) * by / 100 if share else by
            yield from (of - reach, of + reach)
        case tuple() as several:
            yield from several
        case int() | float() | str() as one:
            yield one


def _numbers(operands: Iterable[Value], kind: Kind) -> Iterator[Value]:
    """Yield numbers to try: every operand, a number between each two neighbours, and a number beyond each end."""
    given = [o for o in operands if isinstance(o, (int, float))]
    if kind.type is Type.INTEGER:
        # Whole numbers stay integers: a float cannot represent twenty digits.
        near = {round(n) + step if isfinite(n) else n for n in given or [0] for step in (-1, 0, 1)}
        yield from sorted(near)
        return
    numbers = sorted(map(float, given)) or [0.0]
    found = {*numbers, *((low + high) / 2 for low, high in pairwise(numbers))}
    found |= {number + step for number in (numbers[0], numbers[-1]) for step in (-abs(number) - 1, abs(number) + 1)}
    yield from sorted(found)
