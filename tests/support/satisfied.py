"""Machines that satisfy a rule, and for each of its words one that is only just wrong.

One function for each look yields the cases; a look or an operator without an implementation here raises
NotImplementedError, so that no unproven rule is counted as proven.
"""

from collections.abc import Callable, Mapping
from math import ceil, floor

from machines import Machine, Want, copied, expected_words, listed, put, solved, spot, spots, turned, without
from near_values import ABSENT, beyond, meeting, meets, neighbours, real
from rule_bench import EXPECTED, HIDDEN, NODE, Bench, Case, Cases, Gap

from rackcheck.evaluate.verdict import Status
from rackcheck.model import operator
from rackcheck.model.catalogue import Catalogue, Kind, Type
from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.operator import SIBLINGS, WARNING, Test
from rackcheck.model.path import EVERY, Path, Segment
from rackcheck.model.profile import Rule, RuleSelection

MOST = 4096
"""The greatest number of items of a machine."""

STRANGER = 2 * MOST
"""The number of the item outside the look."""


def cases(rule: Rule, catalogue: Catalogue, given: Machine) -> Cases:
    """Yield every case of a rule, a machine that satisfies it first; raises NotImplementedError for other looks."""
    look = "across" if rule.across is not None else rule.look.mode if rule.look is not None else "node"
    if look not in LOOKS:
        raise NotImplementedError(f"no machines are made for the look `{look}`")
    bench = Bench(rule, catalogue, given)
    broken, passed = set[str](), False
    for case in LOOKS[look](bench):
        if isinstance(case, Case):
            passed |= case.status is Status.PASS
            if case.word and (case.status is Status.WARN or not any(f"`{op}`" in case.word for op in WARNING)):
                broken.add(case.word)
        yield case
    if not passed:
        yield Gap("no machine passes it")
    elif not broken:
        yield Gap("no machine fails it")
    else:
        yield from (Gap(f"{word} decides nothing") for word in sorted((bench.words() - broken) | bench.idle()))


def node(bench: Bench) -> Cases:
    """Judge facts of the node itself."""
    for number, (good, deciding) in enumerate(bench.variants(NODE)):
        yield Case("as wanted", good, Status.PASS)
        yield from (Case(f"{word} only just", risen, Status.PASS) for word, risen in bench.risen(good, NODE, deciding))
        for word, changed, status, says in bench.broken(good, NODE, deciding):
            yield Case(f"{word or 'absent'} broken", changed, status, says, word)
        yield from bench.hidden(good, NODE, deciding)
        if not number:
            yield from bench.condition(good)


def _item(look: RuleSelection, number: int) -> Path:
    """Return the path of an item; where a collection belongs to items itself, they take turns."""
    path = look.collection
    return path.fill([str(number % 2)] * sum(s.key == EVERY for s in path.segments)).item(str(number))


def _looking(bench: Bench) -> RuleSelection:
    assert bench.rule.look is not None
    return bench.rule.look


def _crowd(bench: Bench, first: Machine, rest: Machine, count: int) -> Machine:
    """Return a machine with this many items: the first as on one machine, the others as the first item of another."""
    look = _looking(bench)
    machine = first
    for number in range(1, count):
        machine = copied(machine, _item(look, 0), _item(look, number), rest)
    return machine


def _named(bench: Bench) -> list[Path]:
    """Return the items of the looked-at collection that the rule's condition reads."""
    depth, when = len(_looking(bench).collection.segments), bench.rule.when
    heads = [path.segments[:depth] for path in spots(when, NODE)] if when is not None else []
    collection = _looking(bench).collection
    return [Path(head) for head in heads if Path((*head[:-1], Segment(head[-1].word))) == collection and head[-1].key]


def _stranger(bench: Bench, machine: Machine, wanted: Status) -> Machine | Gap:
    """Add an item outside the look, which would make the result worse inside it."""
    look = _looking(bench)
    if look.where is None:
        return machine
    entry = bench.catalogue.find(look.collection)
    if (
        entry
        and entry.kind.alike == ()
        and entry.kind.vacant in {str(path.pattern) for path in spots(look.where, _item(look, STRANGER))}
    ):
        return machine  # an item without the fact is unknown: its siblings have the fact
    for item in _named(bench):  # one that the condition reads may be outside
        machine = solved([Want(look.where, item, Status.FAIL)], machine, bench.catalogue) or machine
    at = _item(look, STRANGER)
    apart = Want(look.where, at, Status.FAIL)
    clauses = [Want(c, at, wanted) for c in bench.rule.clauses if c.fact.segments]
    found = solved([apart, *clauses], machine, bench.catalogue) or solved([apart], machine, bench.catalogue)
    if found is None:
        return Gap("`where` chooses every item")
    for want in clauses:  # facts that conflict with being outside are absent
        for path in spots(want.clause, at):
            found = found if path in found else put(found, path, ABSENT)
    return found


def _listings(look: RuleSelection, machine: Machine) -> list[Path]:
    """Return the collections that contain a look's items."""
    last = look.collection.segments[-1]
    paths = (Path((*_item(look, number).segments[:-1], last)) for number in (0, 1))
    return [path for path in dict.fromkeys(paths) if path in machine]


def _none(bench: Bench, machine: Machine, spared: str = str(STRANGER)) -> Machine:
    """Remove every item of the look; the stranger and the items that the condition reads stay."""
    kept = {spared, *(item.segments[-1].key for item in _named(bench))}
    for listing in _listings(_looking(bench), machine):
        keys = machine[listing]
        assert isinstance(keys, tuple)
        for key in keys:
            machine = machine if key in kept else without(machine, listing.item(key))
    return machine


def _unseen(bench: Bench, machine: Machine) -> Case:
    """Hide the listings of a collection and remove its items."""
    look = _looking(bench)
    empty = dict(_none(bench, machine, spared=""))
    empty |= dict.fromkeys(_listings(look, machine), HIDDEN)
    return Case(f"{look.collection} unknown", empty, Status.UNKNOWN, f"{look.collection} unknown ({HIDDEN})")


def each(bench: Bench) -> Cases:
    """Yield cases of every item: the permitted number of failures, the expected number of items, required equality."""
    look = _looking(bench)
    least, first = look.allow_failing, _item(look, 0)
    count = look.expect_count or max(2, least + 2)
    at = _item(look, min(least, count - 1))
    for number, (made, deciding) in enumerate(bench.variants(first)):
        good = _stranger(bench, _crowd(bench, made, made, count), Status.FAIL)
        if isinstance(good, Gap):
            yield good
            return
        yield Case("all as wanted", good, Status.PASS)
        yield from (Case(f"{word} only just", risen, Status.PASS) for word, risen in bench.risen(good, first, deciding))
        wrong = bench.wrong(made, first)
        for spare in range(least):
            if wrong is not None:
                good = copied(good, first, _item(look, spare), wrong)
        if least and wrong is not None:
            yield Case(
                f"{least} wrong, as many as may be", good, Status.PASS, f"{least} of {count} fail, as the rule allows"
            )
        for word, changed, status, says in bench.broken(good, at, deciding if least < count else ()):
            yield Case(f"one item: {word or 'absent'} broken", changed, status, "" if least else says, word)
        if count > 1:
            yield from _alike(bench, good, at)
        yield from bench.hidden(good, at, deciding if least < count else ())
        if not number:
            yield from _numbered(bench, good, count)
            yield from _empty(bench, good)
            yield from bench.condition(good)


def _numbered(bench: Bench, good: Machine, count: int) -> Cases:
    """Remove one item, and add one, where their number is expected."""
    look = _looking(bench)
    if look.expect_count is None:
        return
    fewer = without(good, _item(look, count - 1))
    more = copied(good, _item(look, count - 1), _item(look, count), good)
    if count > 1:
        yield Case(
            "one item fewer", fewer, Status.FAIL, f"{look.collection} is {count - 1}, must count {count}", EXPECTED
        )
    yield Case("one item more", more, Status.FAIL, f"{look.collection} is {count + 1}, must count {count}", EXPECTED)


def _empty(bench: Bench, good: Machine) -> Cases:
    """Remove every item of the look, then hide their listings."""
    look = _looking(bench)
    if look.allow_empty:
        yield Case("no item", _none(bench, good), Status.NA, f"no {look.collection}")
    else:
        count = f"{look.collection} is 0, must count {look.expect_count}"
        says = f"{look.collection} is empty, must contain" if look.expect_count is None else count
        yield Case("no item", _none(bench, good), Status.FAIL, says)
    yield _unseen(bench, good)


def _alike(bench: Bench, good: Machine, at: Path) -> Cases:
    """Make one item differ from its siblings: by the greatest permitted amount, then by more."""
    first = _item(_looking(bench), 0)
    collection = Path((*first.segments[:-1], _looking(bench).collection.segments[-1]))
    for clause in bench.rule.clauses:
        for test in (t for t in clause.tests if t.op in SIBLINGS):
            here, word = spot(clause, at), bench.word(clause, test)
            value = good[here]
            assert not isinstance(value, (Absent, Unknown))
            alike = test.op == "equal"
            near, far = ((), neighbours(value, clause.kind)) if alike else _apart(test, clause.kind, value)
            for wanted, values in ((Status.PASS, near), (Status.FAIL, far)):
                for changed in (put(good, here, one) for one in values):
                    if bench.comes_to(at, changed) is not Status.PASS or not bench.fits(at, changed):
                        continue
                    seen = {
                        operator.spell(v, clause.kind)
                        for v in (value, changed[here])
                        if not isinstance(v, Unknown | Absent)
                    }
                    says = f"{collection}/*.{clause.fact} is {', '.join(sorted(seen)) if alike else ''}"
                    says = "" if wanted is Status.PASS else says
                    yield Case(f"one item: {word}", changed, wanted, says, word if says else "")


def _apart(test: Test, kind: Kind, value: Reading) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
    """Return values that differ from one by just the permitted share, and by slightly more; for 100 % or more, none."""
    assert isinstance(value, (int, float))
    assert isinstance(test.operand, (int, float))
    if test.operand >= 100:
        return (), ()
    least, most = value * (1 - test.operand / 100), value / (1 - test.operand / 100)
    if kind.type is Type.INTEGER:
        return real((ceil(least), floor(most)), kind), real((ceil(least) - 1, floor(most) + 1), kind)
    slack = value * 1e-6
    return real((min(least + slack, value), max(most - slack, value)), kind), real((least - slack, most + slack), kind)


def some_item(bench: Bench) -> Cases:
    """Yield cases of at least one item that holds: all others are wrong, then that one too."""
    look = _looking(bench)
    first = _item(look, 0)
    for number, (made, deciding) in enumerate(bench.variants(first)):
        wrong = bench.wrong(made, first)
        if wrong is None:
            yield Gap("no item can be wrong")
            return
        count = look.expect_count or 2
        good = _stranger(bench, _crowd(bench, made, wrong, count), Status.PASS)
        if isinstance(good, Gap):
            yield good
            return
        yield Case("one item as wanted", good, Status.PASS)
        for word, changed, status, says in bench.broken(good, first, deciding):
            yield Case(f"no item as wanted: {word or 'absent'} broken", changed, status, says, word)
        yield from bench.hidden(good, first, deciding)
        if not number:
            yield from _numbered(bench, good, count)
            yield from _empty(bench, good)
            yield from bench.condition(good)


def no_item(bench: Bench) -> Cases:
    """Yield cases of no such item: all only just fail the clauses, then one meets them."""
    look = _looking(bench)
    first = _item(look, 0)
    for number, (made, deciding) in enumerate(bench.variants(first)):
        wrong = bench.wrong(made, first)
        if wrong is None:
            yield Gap("every item is what none may be")
            return
        bad = _stranger(bench, _crowd(bench, made, wrong, 2), Status.PASS)
        good = _stranger(bench, _crowd(bench, wrong, wrong, 2), Status.PASS)
        if isinstance(bad, Gap) or isinstance(good, Gap):
            yield Gap("`where` chooses every item")
            return
        yield Case("no item is so", good, Status.PASS)
        for clause in deciding:
            says = turned(expected_words(clause if bench.rule.join == "any" else bench.rule.clauses[0], first, bad))
            for test in clause.tests:
                # A word decides where an item that fails only this word passes.
                word = bench.word(clause, test)
                misses = [m for w, m in bench.changes(clause, first, bad) if w == word and bench.fits(first, m)]
                misses = [m for m in misses if bench.comes_to(first, m) is Status.FAIL]
                yield from (Case(f"{word} only just not so", miss, Status.PASS) for miss in misses)
                if misses:
                    yield Case(f"one item is so: {word}", bad, Status.FAIL, says, word)
        yield from bench.hidden(bad, first, deciding)
        if not number:
            yield Case("no item", _none(bench, good), Status.PASS)
            yield _unseen(bench, good)
            yield from bench.condition(good)


def counted(bench: Bench) -> Cases:
    """Yield cases of the number of items: as many as wanted, then one more or one fewer."""
    look, (clause,) = _looking(bench), bench.rule.clauses
    near = dict.fromkeys(n for t in clause.tests for n in (*meeting(t, clause.kind), *beyond(t, clause.kind)))
    numbers = [n for n in near if isinstance(n, int) and 0 <= n <= MOST]
    right = [n for n in numbers if all(meets(t, n, clause.kind) for t in clause.tests)]
    made = solved(bench.gates(_item(look, 0)), bench.given, bench.catalogue)
    if made is None or not right:
        return
    machines: dict[int, Machine] = {}
    for number in numbers:
        crowd = _stranger(bench, _crowd(bench, listed(made, _item(look, 0)), made, number), Status.PASS)
        if isinstance(crowd, Gap):
            yield crowd
            return
        machines[number] = crowd if number else _none(bench, crowd)
    for number in right:
        yield Case(f"{number} items", machines[number], Status.PASS)
    wanted = " and ".join(operator.expectation(t, clause.kind) for t in clause.tests)
    for test in clause.tests:
        for number in (n for n in numbers if n in beyond(test, clause.kind)):
            yield Case(
                f"{number} items", machines[number], Status.FAIL, f"is {number}, {wanted}", bench.word(clause, test)
            )
    yield _unseen(bench, machines[right[0]])
    for number in right:
        if look.where is not None and number and number - 1 in machines and number - 1 not in right:
            yield from bench.hidden(machines[number], _item(look, 0), ())
    yield from bench.condition(machines[right[0]])


LOOKS: Mapping[str, Callable[[Bench], Cases]] = {
    "node": node,
    "each": each,
    "any": some_item,
    "no": no_item,
    "count": counted,
}
"""The function that makes the machines for a rule, by its look."""
