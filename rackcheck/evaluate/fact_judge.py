"""Judges one clause: one fact of the node or of an item, against its tests."""

from dataclasses import replace

from rackcheck.evaluate import two_readings
from rackcheck.model import operator
from rackcheck.model.evidence import Evidence, Status, all_hold
from rackcheck.model.fact import Absent, Reading, Unknown, Value
from rackcheck.model.operator import SIBLINGS, TWICE, WARNING, Test, expectation
from rackcheck.model.path import Path
from rackcheck.model.profile import Clause
from rackcheck.model.sibling_silence import sibling_doubt
from rackcheck.model.tree import Tree


def judge_leaf(clause: Clause, at: Path, tree: Tree) -> Evidence:
    """Judge one clause; `at` is the path of the selected item, or an empty path for a fact of the node."""
    path = at + clause.fact
    leaf = tree.leaf(path)
    reading = tree.reading(path, clause.plane)
    source = leaf.source if leaf is not None else ""
    name = str(path)
    if isinstance(reading, Unknown):
        return Evidence(Status.UNKNOWN, name, "", clause.expected, source, reading)
    if clause.siblings is not None and isinstance(reading, Absent):
        silence = sibling_doubt(path, clause.plane, reading, clause.siblings, tree)
        if silence is not None:
            return Evidence(Status.UNKNOWN, name, "", clause.expected, source, silence)
    statuses = [_test(test, reading, clause, at, tree) for test in clause.tests if test.op not in SIBLINGS]
    if isinstance(reading, Absent) and len(statuses) < len(clause.tests):
        statuses.append(Status.FAIL)
    seen = str(reading) if isinstance(reading, Absent) else operator.spell(reading, clause.kind)
    exact = "" if isinstance(reading, Absent) else operator.exact(reading, clause.kind)
    doubt = next((s for s in statuses if isinstance(s, Unknown)), None)
    if clause.other is not None:
        other, text = _other(clause, at, tree)
        doubt = doubt or (other if isinstance(other, Unknown) else None)
        exact = f"{exact or seen}; {text}"
    if clause.twice:
        again = two_readings.second(path, clause, tree)
        doubt = doubt or (again if isinstance(again, Unknown) else None)
        exact = f"{exact or seen}{two_readings.exact(again, clause, tree)}"
        seen += two_readings.second_reading(again, clause, tree)
    status = all_hold(Status.UNKNOWN if isinstance(s, Unknown) else s for s in statuses)
    expected = _members(clause, reading) if status is Status.FAIL and isinstance(reading, tuple) else clause.expected
    return Evidence(status, name, seen, expected, source, doubt, exact)


def _members(clause: Clause, found: tuple[str, ...]) -> str:
    """Format the expectation of a list; of `includes` and `excludes`, only members wrongly missing or present."""
    tests = []
    for test in clause.tests:
        if isinstance(test.operand, tuple) and test.op in {"includes", "excludes"}:
            wrong = tuple(each for each in test.operand if (each in found) is (test.op == "excludes"))
            tests += [replace(test, operand=wrong)] if wrong else []
        else:
            tests.append(test)
    return " and ".join(expectation(test, clause.kind) for test in tests)


def _other(clause: Clause, at: Path, tree: Tree) -> tuple[Reading, str]:
    """Return the value that a fact is compared with, and the exact text of that value."""
    assert clause.other is not None
    path = at + clause.other if clause.other_at_item else clause.other
    other = tree.reading(path, clause.other_plane)
    if isinstance(other, (Unknown, Absent)):
        return other, f"{path} {other}"
    return other, f"{path} {operator.exact(other, clause.kind) or operator.spell(other, clause.kind)}"


def _test(test: Test, reading: Value | Absent, clause: Clause, at: Path, tree: Tree) -> Status | Unknown:
    if test.op == "present":
        return Status.PASS if (test.operand is False) == isinstance(reading, Absent) else Status.FAIL
    if isinstance(reading, Absent):
        return Status.FAIL
    if test.op == "same-as":
        return _same(reading, clause, at, tree)
    if test.op in TWICE:
        return two_readings.compared(test, reading, at + clause.fact, clause, tree)
    answer = operator.holds(test, reading, clause.kind)
    if isinstance(answer, Unknown):
        return answer
    if answer:
        return Status.PASS
    return Status.WARN if test.op in WARNING else Status.FAIL


def _same(reading: Value, clause: Clause, at: Path, tree: Tree) -> Status | Unknown:
    assert clause.other is not None
    path = at + clause.other if clause.other_at_item else clause.other
    other: Reading = tree.reading(path, clause.other_plane)
    if isinstance(other, Unknown):
        return Unknown(other.reason, f"{path}: {other.detail}")
    if isinstance(other, Absent):
        siblings = clause.other_siblings
        silence = sibling_doubt(path, clause.other_plane, other, siblings, tree) if siblings is not None else None
        return Status.FAIL if silence is None else Unknown(silence.reason, f"{path}: {silence.detail}")
    return Status.PASS if operator.equal(reading, other, clause.kind) else Status.FAIL
