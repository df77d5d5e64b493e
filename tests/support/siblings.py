"""Nodes that satisfy a rule across them, and for each fact one node with a slightly different value."""

from collections.abc import Iterator, Mapping
from math import ceil

from machines import Machine, Want, put, solved, tree
from near_values import ABSENT, neighbours, some
from rule_bench import HIDDEN, NODE

from rackcheck.evaluate.consensus import FEWEST, poll
from rackcheck.evaluate.verdict import Status, Verdict, judge
from rackcheck.model import operator
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.fact import Absent, Reading
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Across, AgreedFact, Rule, Severity
from rackcheck.model.tree import Tree


def proven(rule: Rule, catalogue: Catalogue) -> Iterator[str]:
    """Yield the faults found in a rule across nodes; nothing where it is proven."""
    across = rule.across
    assert across is not None
    if across.quorum >= 100:
        yield f"{rule.place}: {rule.id}: no node fails it: one that differs takes the quorum from all"
        return
    count = max(FEWEST, ceil(100 / (100 - across.quorum)))
    gate = [Want(rule.when, NODE, Status.PASS)] if rule.when is not None else []
    good = solved(gate, {}, catalogue)
    if good is None or not across.shared:
        yield f"{rule.place}: {rule.id}: {'no fact is left to agree on' if good is not None else 'it never applies'}"
        return
    for shared in across.shared:
        good = put(good, _place(shared.fact), some(shared.kind))
    for verdict in _judged(rule, across, [good] * count, catalogue):
        yield from _wrong(rule, "all alike", verdict, Status.PASS, "")
    soft = Status.WARN if rule.severity is Severity.ADVISORY or rule.from_memory else Status.FAIL
    for shared in across.shared:
        path = _place(shared.fact)
        value = some(shared.kind)
        most = f"must be {operator.spell(value, shared.kind)} as on {count - 1} of {count}"
        for other in (*neighbours(value, shared.kind)[:1], ABSENT):
            *rest, odd = _judged(rule, across, [*[good] * (count - 1), put(good, path, other)], catalogue)
            yield from _wrong(rule, f"{path} differs", odd, soft, f"{path} is {_spelt(other, shared)}, {most}")
            for verdict in rest:
                yield from _wrong(rule, f"{path} differs elsewhere", verdict, Status.PASS, "")
        *_, lost = _judged(rule, across, [*[good] * (count - 1), put(good, path, HIDDEN)], catalogue)
        yield from _wrong(rule, f"{path} unknown", lost, Status.UNKNOWN, f"{path} unknown ({HIDDEN})")


def _place(fact: Path) -> Path:
    """The fact of a node, or of its first item."""
    return fact.fill(["0"] * sum(segment.key == EVERY for segment in fact.segments))


def _spelt(reading: Reading, shared: AgreedFact) -> str:
    return "absent" if isinstance(reading, Absent) else operator.spell(reading, shared.kind)  # type: ignore[arg-type]


def _judged(rule: Rule, across: Across, machines: list[Machine], catalogue: Catalogue) -> list[Verdict]:
    made: dict[int, Tree] = {}
    trees: Mapping[str, Tree] = {
        str(number): made.setdefault(id(machine), tree(machine, catalogue)) for number, machine in enumerate(machines)
    }
    votes = poll(across, trees, len(trees))
    known = {id(each): judge([rule], each, polls={rule.id: votes})[0] for each in made.values()}
    return [known[id(each)] for each in trees.values()]


def _wrong(rule: Rule, what: str, verdict: Verdict, status: Status, says: str) -> Iterator[str]:
    if verdict.status is not status:
        yield f"{rule.place}: {rule.id}: {what}: {verdict.status} ({verdict.reason}) instead of {status}"
    elif says not in verdict.reason:
        yield f"{rule.place}: {rule.id}: {what}: {verdict.reason!r} does not contain {says!r}"
