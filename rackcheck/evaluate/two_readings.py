"""Compare two readings of one run: whether a fact stays the same, and how fast a counter rises. Pure.

Only bounds of the time between two readings are known: a rate is checked against the shortest and the longest possible
time, and is unknown if the two results disagree.
"""

from math import inf

from rackcheck.model import operator
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Value
from rackcheck.model.operator import Test
from rackcheck.model.path import Path
from rackcheck.model.profile import Clause
from rackcheck.model.tree import Tree

HOUR = 3600.0
"""Seconds in an hour; the operand of `rate` is per hour."""


def compared(test: Test, first: Value, path: Path, clause: Clause, tree: Tree) -> Status | Unknown:
    """Compare the second reading of a fact with the first, by `steady` or `rate`."""
    again = second(path, clause, tree)
    if isinstance(again, Unknown):
        return Unknown(again.reason, f"second reading: {again.detail}".rstrip(": "))
    if isinstance(again, Absent):
        return Status.FAIL
    if test.op == "steady":
        return Status.PASS if operator.equal(first, again, clause.kind) else Status.FAIL
    assert isinstance(first, int) and isinstance(again, int) and isinstance(test.operand, (int, float))  # noqa: PT018
    return _rate(first, again, test.operand, _apart(clause, tree))


def second(path: Path, clause: Clause, tree: Tree) -> Reading:
    """Return the second reading of a fact."""
    if tree.later is None:
        return Unknown(Reason.NOT_COLLECTED, "the fact was read only once")
    return tree.later.tree.reading(path, clause.plane)


def second_reading(again: Reading, clause: Clause, tree: Tree) -> str:
    """Format the second reading, to be appended to the first."""
    if isinstance(again, Unknown):
        return ""
    message = str(again) if isinstance(again, Absent) else operator.spell(again, clause.kind)
    return f", then {message} after {_span(*_apart(clause, tree))}"


def exact(again: Reading, clause: Clause, tree: Tree) -> str:
    """Format the second reading without loss; under `rate`, also the elapsed time.

    Without the elapsed time, a waiver for a rise would also hide the same rise in less time.
    """
    if isinstance(again, (Absent, Unknown)):
        return f"; then {again}"
    rate = any(test.op == "rate" for test in clause.tests)
    passed = f" after {_span(*_apart(clause, tree))}" if rate else ""
    return f"; then {operator.exact(again, clause.kind) or operator.spell(again, clause.kind)}{passed}"


def _apart(clause: Clause, tree: Tree) -> tuple[float, float]:
    assert tree.later is not None
    return tree.later.seconds(clause.inputs or {clause.plane})


def _rate(first: int, second: int, most: float, apart: tuple[float, float]) -> Status | Unknown:
    if second < first:
        return Unknown(Reason.COUNTER_RESET, f"from {first} to {second}")
    shortest, longest = apart
    if (second - first) * HOUR <= most * shortest:
        return Status.PASS
    if (second - first) * HOUR > most * longest:
        return Status.FAIL
    return Unknown(
        Reason.NOT_TESTED,
        f"a rise of {second - first} in {_span(shortest, longest)} may be above or below the allowed rate",
    )


def _span(least: float, most: float) -> str:
    if most == inf:
        return "an unrecorded time"
    return f"{most:g} s" if least == most else f"{least:g} to {most:g} s"
