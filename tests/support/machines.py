"""Machines of the tests: facts by path, added until all requirements are met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from near_values import ABSENT, beyond, meeting, meets, neighbours, real, same, some

from rackcheck.evaluate.verdict import Status
from rackcheck.model import operator
from rackcheck.model.catalogue import Catalogue, Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading, Unknown
from rackcheck.model.operator import SIBLINGS, TWICE, WARNING, Test
from rackcheck.model.path import Path, Segment, parse
from rackcheck.model.profile import Clause
from rackcheck.model.sibling_silence import EMPTY
from rackcheck.model.tree import Later, Leaf, Tree

Machine = Mapping[Path, Reading]
"""A node's facts by path; for a collection, the names of its items. The second reading's facts are below THEN."""

THEN = Segment("then")
BETWEEN = 3600.0
"""Seconds between the two readings, so that a rate by the hour equals the increase."""


def then(path: Path) -> Path:
    """Return the place of a fact's second reading."""
    return Path((THEN, *path.segments))


def now(path: Path) -> Path:
    """Return the path of a fact, in either reading."""
    return Path(path.segments[1:]) if path.segments[:1] == (THEN,) else path


WORST = (Status.FAIL, Status.WARN, Status.PASS)


def tree(machine: Machine, catalogue: Catalogue) -> Tree:
    """Return a machine's facts as the judge's input, with those of the second reading where there are any."""
    first = Tree(_leaves({path: r for path, r in machine.items() if now(path) is path}, catalogue))
    again = {now(path): reading for path, reading in machine.items() if now(path) is not path}
    if not again:
        return first
    return replace(first, later=Later(Tree(_leaves(again, catalogue)), dict.fromkeys(Plane, (BETWEEN, BETWEEN))))


def _leaves(machine: Machine, catalogue: Catalogue) -> dict[str, Leaf]:
    leaves: dict[str, Leaf] = {}
    for path, reading in machine.items():
        entry = catalogue.find(path)
        if entry is not None and isinstance(reading, tuple) and entry.kind.type not in {Type.COLLECTION, Type.LIST}:
            continue  # keys of a family (`sysctl.**`), whose items are not listed
        kind, plane = (entry.kind, entry.plane) if entry is not None else (Kind(Type.COLLECTION, ""), Plane.OS)
        leaves[str(path)] = Leaf(reading, kind, plane, f"read {path}")
    return {**_apart(machine, catalogue), **leaves}


def _apart(machine: Machine, catalogue: Catalogue) -> Mapping[str, Leaf]:
    """Give each item a distinguishing value: rules across siblings are proven elsewhere."""
    found: dict[str, Leaf] = {}
    for path in machine:
        for depth, segment in enumerate(path.segments, start=1):
            item = Path(path.segments[:depth])
            collection = Path((*item.segments[:-1], Segment(segment.word))).pattern
            entry = catalogue.entries.get(str(collection)) if segment.key is not None else None
            if entry is None or entry.kind.alike is None:
                continue
            keys = [each.key for each in item.segments if each.key is not None]
            for pattern, word in (*((each, str(item)) for each in entry.kind.alike), (entry.kind.vacant, EMPTY)):
                fact = catalogue.find(parse(pattern)) if pattern else None
                if fact is not None and fact.kind.type is Type.TEXT:
                    at = str(parse(pattern).fill(keys))
                    found[at] = Leaf(word, fact.kind, fact.plane, f"read {at}")
    return found


def put(machine: Machine, path: Path, reading: Reading) -> Machine:
    """Set one fact, and add the items that it belongs to."""
    return {**listed(machine, path), path: reading}


def listed(machine: Machine, path: Path) -> dict[Path, Reading]:
    """Put the items of a path into their collections."""
    held = dict(machine)
    for depth, segment in enumerate(path.segments, start=1):
        if segment.key is not None:
            listing = Path((*path.segments[: depth - 1], type(segment)(segment.word)))
            keys = held.get(listing, ())
            assert isinstance(keys, tuple)
            held[listing] = keys if segment.key in keys else (*keys, segment.key)
    return held


def without(machine: Machine, item: Path) -> Machine:
    """Remove an item, with all facts below it."""
    if Path((THEN, *item.segments[:-1], type(item.segments[-1])(item.segments[-1].word))) in machine:
        machine = without(machine, then(item))
    *before, last = item.segments
    listing = Path((*before, type(last)(last.word)))
    keys = machine[listing]
    assert isinstance(keys, tuple)
    kept = {path: reading for path, reading in machine.items() if path.segments[: len(item.segments)] != item.segments}
    return {**kept, listing: tuple(key for key in keys if key != last.key)}


def copied(machine: Machine, item: Path, to: Path, source: Machine) -> Machine:
    """Copy an item's facts from another item in the source; its own facts are dropped."""
    if any(path.segments[: len(item.segments) + 1] == then(item).segments for path in source):
        machine = copied(machine, then(item), then(to), source)
    depth = len(item.segments)
    held: Machine = listed({p: r for p, r in machine.items() if p.segments[: len(to.segments)] != to.segments}, to)
    for path, reading in source.items():
        if path.segments[:depth] == item.segments:
            held = put(held, to + Path(path.segments[depth:]), reading)
    return held


def spot(clause: Clause, at: Path) -> Path:
    """Return the full path of a clause's fact."""
    return at + clause.fact


def other(clause: Clause, at: Path) -> Path | None:
    """Return the full path of the fact that a clause's fact must equal, if any."""
    return clause.other if clause.other is None or not clause.other_at_item else at + clause.other


def spots(clause: Clause, at: Path) -> tuple[Path, ...]:
    """Return every path that a clause reads."""
    far, here = other(clause, at), spot(clause, at)
    return (here, *((far,) if far is not None else ()), *((then(here),) if clause.twice else ()))


def answer(clause: Clause, at: Path, machine: Machine) -> Status:
    """Return the result of a clause, siblings apart; its facts are known or absent. A counter that fell is unknown."""
    found = Status.PASS
    value, far = machine[spot(clause, at)], other(clause, at)
    for test in clause.tests:
        if test.op in SIBLINGS:
            held = not isinstance(value, Absent)
        elif test.op == "same-as":
            assert far is not None
            held = same(value, machine[far], clause.kind)
        elif test.op in TWICE:
            second = machine[then(spot(clause, at))]
            if test.op == "rate" and isinstance(value, int) and isinstance(second, int) and second < value:
                return Status.UNKNOWN
            held = _held_twice(test, value, second, clause.kind)
        else:
            held = meets(test, value, clause.kind)
        if not held:
            mild = test.op in WARNING and not isinstance(value, Absent)
            found = min(found, Status.WARN if mild else Status.FAIL, key=WORST.index)
    return found


def _held_twice(test: Test, first: Reading, second: Reading, kind: Kind) -> bool:
    """Whether two readings, each known or absent, meet `steady` or `rate`."""
    if test.op == "steady":
        return same(first, second, kind)
    rate = test.operand
    return (
        isinstance(first, int) and isinstance(second, int) and isinstance(rate, int | float) and second - first <= rate
    )


def expected_words(clause: Clause, at: Path, machine: Machine) -> str:
    """Return the words that a reason must contain for a clause: the item, the actual value, the expected value."""
    value = machine[spot(clause, at)]
    assert not isinstance(value, Unknown)
    seen = str(value) if isinstance(value, Absent) else operator.spell(value, clause.kind)
    wanted = " and ".join(filter(None, (_wanted(test, value, clause) for test in clause.tests)))
    if not isinstance(value, Absent) and wanted.endswith(f" {seen}"):
        seen = operator.exact(value, clause.kind) or seen  # unequal values must not be formatted as equal
    if clause.twice:
        second = machine[then(spot(clause, at))]
        assert not isinstance(second, Unknown)
        seen += f", then {second if isinstance(second, Absent) else operator.spell(second, clause.kind)} after 3600 s"
    return f"{spot(clause, at)} is {seen}, {wanted}"


def _wanted(test: Test, value: Reading, clause: Clause) -> str:
    """The words of a test: of a list that fails, only the members that are missing or that must not be there."""
    lists = [each for each in clause.tests if each.op in {"includes", "excludes"}]
    if test not in lists or not isinstance(value, tuple) or all(meets(each, value, clause.kind) for each in lists):
        return operator.expectation(test, clause.kind)
    assert isinstance(test.operand, tuple)
    if test.op == "includes":
        wrong = [str(each) for each in test.operand if each not in value]
        return f"must include {', '.join(wrong)}" if wrong else ""
    wrong = [str(each) for each in test.operand if each in value]
    return f"must not include {', '.join(wrong)}" if wrong else ""


def turned(sentence: str) -> str:
    """Swap required and forbidden results."""
    item, _, wanted = sentence.partition(", must ")
    wanted = f"must {wanted}".replace("must not ", "\0").replace("must ", "must not ").replace("\0", "must ")
    return f"{item}, {wanted}"


@dataclass(frozen=True)
class Want:
    """The required result of a clause."""

    clause: Clause
    at: Path
    status: Status


def solved(wants: Sequence[Want], machine: Machine, catalogue: Catalogue) -> Machine | None:
    """Add facts to a machine until every want is met, without changing its facts; None where that is impossible."""
    for group in _groups(wants):
        read = dict.fromkeys(path for want in group for path in spots(want.clause, want.at))
        pool = dict.fromkeys((*_pool(group), *(machine[path] for path in read if path in machine)))
        found = _search([path for path in read if path not in machine], group, machine, tuple(pool), catalogue)
        if found is None:
            return None
        machine = found
    return machine


def _groups(wants: Sequence[Want]) -> list[list[Want]]:
    """Group the wants that share facts, directly or through others."""
    groups: list[tuple[set[Path], list[Want]]] = []
    for want in wants:
        paths, members = set(spots(want.clause, want.at)), [want]
        apart = []
        for group in groups:
            if group[0] & paths:
                paths |= group[0]
                members = [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (paths, members)]
    return [members for _, members in groups]


def _pool(wants: Sequence[Want]) -> tuple[Reading, ...]:
    """Return the values worth trying: what meets each test, then what does not, any other, and none."""
    tests = [(t, w.clause.kind) for w in wants for t in w.clause.tests if t.op not in SIBLINGS | TWICE | {"same-as"}]
    several = [t.operand for t, _ in tests if t.op == "includes" and isinstance(t.operand, tuple)]
    whole: tuple[Reading, ...] = (tuple(str(one) for operand in several for one in operand),) if several else ()
    anything = [v for w in wants for v in (some(w.clause.kind), *neighbours(some(w.clause.kind), w.clause.kind))]
    met = [value for test, kind in tests for value in meeting(test, kind)]
    missed = [value for test, kind in tests for value in beyond(test, kind)]
    rates = [t.operand for w in wants for t in w.clause.tests if t.op == "rate" and isinstance(t.operand, int | float)]
    risen = [int(n) + more for n in rates for more in (0, 1)]
    return tuple(dict.fromkeys([*met, *whole, *missed, *anything, *risen, ABSENT]))


def _search(
    paths: Sequence[Path], wants: Sequence[Want], machine: Machine, pool: tuple[Reading, ...], catalogue: Catalogue
) -> Machine | None:
    if any(_known(w, machine) and answer(w.clause, w.at, machine) is not w.status for w in wants):
        return None
    if not paths:
        return machine
    entry = catalogue.find(now(paths[0]))
    assert entry is not None
    tried = (_search(paths[1:], wants, put(machine, paths[0], v), pool, catalogue) for v in real(pool, entry.kind))
    return next((found for found in tried if found is not None), None)


def _known(want: Want, machine: Machine) -> bool:
    return all(path in machine for path in spots(want.clause, want.at))
