"""The law of unknowns: take knowledge away, and a verdict stays or becomes unknown; it never turns."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from math import inf
from pathlib import Path as FilePath
from secrets import token_hex
from typing import Any

import pytest
import recordings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rackcheck import library
from rackcheck.core import operator
from rackcheck.core.answers import split
from rackcheck.core.capture import NodeCapture, named
from rackcheck.core.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.core.collect import collect
from rackcheck.core.fact import Absent, Plane, Reading, Reason, Unknown, Value
from rackcheck.core.operator import LATER, SIBLINGS, WARNING, WORDS, Mask, Operand, Within
from rackcheck.core.path import EVERY, Path, parse
from rackcheck.core.plan import Plan, plan
from rackcheck.core.probe import Read, Redfish, Shell
from rackcheck.core.profile import Clause, Look, Phase, Profile, Rule, Severity
from rackcheck.core.read import covers
from rackcheck.core.script import compose
from rackcheck.core.tree import Leaf, Tree
from rackcheck.core.verdict import Outcome, Status, Verdict, in_scope, judge, node_outcome
from rackcheck.registry import registry

HIDDEN = Unknown(Reason.DENIED, "taken away")
Yaml = dict[str, Any]

# ---- the machines: a catalogue of every type, on two planes, alone, in a collection and in a nested one ---------------

DOTTED = Kind(Type.VERSION, "", scheme="dotted")
KINDS: Mapping[str, Kind] = {
    "flag": Kind(Type.FLAG, ""),
    "number": Kind(Type.INTEGER, ""),
    "limit": Kind(Type.INTEGER, "", unlimited=True),
    "power": Kind(Type.QUANTITY, "", unit="W", unlimited=True),
    "text": Kind(Type.TEXT, ""),
    "word": Kind(Type.TEXT, "", words=("a", "b")),
    "version": DOTTED,
    "build": Kind(Type.VERSION, "", scheme="opaque"),
    "list": Kind(Type.LIST, ""),
    "setting": Kind(Type.SETTING, ""),
}
VALUES: Mapping[str, tuple[Value, ...]] = {
    "flag": (True, False),
    "number": (0, 1, 2, 3),
    "limit": (0, 1, 2, inf),
    "power": (0.0, 1.0, 1.5, 2.0, -1.0, inf, 1.0 + 8e-10, 1.0 - 8e-10),
    "text": ("a", "b", "ab"),
    "word": ("a", "b"),
    "version": ("1.2", "1.10", "1.2.0", "n/a"),
    "build": ("1", "2"),
    "list": ((), ("a",), ("a", "b")),
    "setting": ("1", "01", "2", "x", "1 2", "1\t2"),
}
OPERANDS: Mapping[str, tuple[tuple[str, Value], ...]] = {
    "flag": (("true", True), ("false", False)),
    "number": (("1", 1), ("2", 2), ("0x2", 2), ("+0", 0), ("-1", -1)),
    "limit": (("1", 1), ("unlimited", inf)),
    "power": (("1 W", 1.0), ("2000 mW", 2.0), ("0.0015 kW", 1.5), ("unlimited", inf)),
    "text": (("a", "a"), ("b", "b")),
    "word": (("a", "a"), ("b", "b")),
    "version": (("1.2", "1.2"), ("1.10", "1.10")),
    "build": (("1", "1"),),
    "list": (("a", "a"), ("b", "b")),
    "setting": (("1", "1"), ("2", "2"), ("x", "x"), ("1   2", "1 2")),
}
MASKS = (Mask(2, 2), Mask(3, 1), Mask(1, 0))
BANDS = (("1 %", 1.0, True), ("100 %", 100.0, True), ("1", 1.0, False), ("0", 0.0, False))
COLLECTIONS = {"box": Plane.OS, "far": Plane.BMC, "shelf/*.slot": Plane.OS, "shelf": Plane.OS}


def _entries() -> Iterable[Entry]:
    for name, kind in KINDS.items():
        yield Entry(f"here.{name}", kind, Plane.OS, "node")
        yield Entry(f"there.{name}", kind, Plane.BMC, "bmc")
        for collection, plane in COLLECTIONS.items():
            yield Entry(f"{collection}/*.{name}", kind, plane, collection)
        yield Entry(f"box/*.more.{name}", kind, Plane.BMC, "of the boxes, seen by the BMC")
    for collection, plane in COLLECTIONS.items():
        yield Entry(collection, Kind(Type.COLLECTION, ""), plane, collection)


CATALOGUE = Catalogue.of(_entries())


@dataclass(frozen=True)
class Spelt:
    """A piece of a rule twice: as the value that is judged, and as a profile writes it."""

    value: Any
    yaml: Any


@dataclass(frozen=True)
class Few:
    """What one case is made of: everything now and then, else few kinds and operators that meet often."""

    kinds: tuple[str, ...] = tuple(KINDS)
    operators: tuple[str, ...] = tuple(WORDS)


FEW = st.sampled_from(
    [
        Few(),
        Few(),
        Few(),
        Few(("number",), ("is", "at-least", "warn-above", "equal")),
        Few(("power",), ("at-most", "warn-below", "equal", "spread")),
        Few(("number", "flag"), ("is", "is-not", "present", "same-as", "warn-below")),
        Few(("version", "text"), ("at-least", "like", "one-of", "same-as", "warn-above")),
    ]
)

SMALL = st.sampled_from([1, 1, 1, 2])
"""How many of a thing: one mostly, because a rule of one thing is the easiest to turn."""

# ---- rules ------------------------------------------------------------------------------------------------------------


def operators_of(kind: Kind) -> tuple[str, ...]:
    """Every operator that may be asked of a fact of this kind."""

    def fits(op: str) -> bool:
        try:
            operator.allowed(op, kind)
        except operator.BadOperand:
            return False
        return True

    return tuple(op for op in WORDS if fits(op))


OPERATORS = {name: operators_of(kind) for name, kind in KINDS.items()}


@st.composite
def asserted(draw: st.DrawFn, name: str, op: str) -> Spelt:
    """One operator with an operand, for a fact of a kind."""
    kind, few = KINDS[name], OPERANDS[name]
    operand: Operand
    match op:
        case "present":
            operand = draw(st.booleans())
            return Spelt(operator.Test(op, operand), str(operand).lower())
        case "equal":
            return Spelt(operator.Test(op, True), "true")
        case "spread":
            text, share = draw(st.sampled_from([("0 %", 0.0), ("40 %", 40.0), ("100 %", 100.0)]))
            return Spelt(operator.Test(op, share), {"at-most": text})
        case "mask":
            mask = draw(st.sampled_from(MASKS))
            return Spelt(operator.Test(op, mask), {"bits": hex(mask.bits), "is": str(mask.is_)})
        case "within":
            of_text, of = draw(st.sampled_from([o for o in few if o[1] != inf]))
            by_text, by, share = draw(st.sampled_from(BANDS))
            unit = f" {kind.unit}" if kind.unit and not share else ""
            assert isinstance(of, (int, float))
            return Spelt(operator.Test(op, Within(float(of), by, share)), {"of": of_text, "by": by_text + unit})
        case "like":
            pattern = draw(st.sampled_from(["a*", "*", "1.?", "?"]))
            return Spelt(operator.Test(op, pattern), pattern)
        case "matches":
            pattern = draw(st.sampled_from(["^a", "b$", "[0-9]"]))
            return Spelt(operator.Test(op, pattern), pattern)
        case "one-of" | "none-of" | "includes" | "excludes":
            several = draw(st.lists(st.sampled_from(few), min_size=1, max_size=2, unique=True))
            return Spelt(operator.Test(op, tuple(v for _, v in several)), [t for t, _ in several])
    if kind.type is Type.LIST and op in {"is", "is-not"}:
        return Spelt(operator.Test(op, ()), "none")
    if op in operator.ORDER and kind.type is Type.SETTING:
        few = tuple(o for o in few if o[1] in {"1", "2"})
    text, given_value = draw(st.sampled_from(few))
    return Spelt(operator.Test(op, given_value), text)


@st.composite
def clauses(draw: st.DrawFn, few: Few, within: str | None, *, warns: bool = False, siblings: bool = False) -> Spelt:
    """A leaf at the node, or at the items of a look."""
    alike = siblings and not draw(st.integers(0, 2))
    lead = [op for op in WORDS if (warns or op not in WARNING) and (siblings or op not in SIBLINGS)]
    lead = [op for op in lead if op in (SIBLINGS if alike else few.operators)] or lead
    op = draw(st.sampled_from([op for op in lead if any(op in OPERATORS[name] for name in few.kinds)]))
    name = draw(st.sampled_from([name for name in few.kinds if op in OPERATORS[name]]))
    if within is None:
        places = [f"here.{name}", f"there.{name}", f"box/0.{name}", f"shelf/a.slot/1.{name}", f"box/9.{name}"]
    else:
        places = [name, f"more.{name}"] if within == "box" else [name]
    fact = draw(st.sampled_from(places))
    prefix = "" if within is None else f"{within}/*."
    entry = CATALOGUE.find(parse(prefix + fact))
    assert entry is not None
    known = [op for op in lead if op in OPERATORS[name]]
    chosen = {op, *(draw(st.lists(st.sampled_from(known), max_size=1)) if draw(SMALL) == 2 else ())}
    found: list[operator.Test] = []
    yaml: Yaml = {"fact": fact}
    other, other_plane, at_item = None, entry.plane, False
    for op in sorted(chosen, key=list(WORDS).index):
        if op == "same-as":
            at_item = within is not None and draw(st.booleans())
            target = name if at_item else draw(st.sampled_from([f"there.{name}", f"here.{name}", f"box/1.{name}"]))
            found_at = CATALOGUE.find(parse(prefix + target if at_item else target))
            assert found_at is not None
            other, other_plane = parse(target), found_at.plane
            found.append(operator.Test(op, other))
            yaml[op] = f".{target}" if at_item else target
        else:
            spelt = draw(asserted(name, op))
            found.append(spelt.value)
            yaml[op] = spelt.yaml
    return Spelt(Clause(parse(fact), entry.kind, entry.plane, tuple(found), other, other_plane, at_item), yaml)


COUNTED = Kind(Type.INTEGER, "how many items")


@st.composite
def counts(draw: st.DrawFn) -> Spelt:
    """What a `count` asks of the number of items."""
    ops = ("is", "is-not", "one-of", "none-of", "at-least", "at-most", "above", "below", "within")
    chosen = sorted(draw(st.lists(st.sampled_from(ops), min_size=1, max_size=2, unique=True)), key=list(WORDS).index)
    spelt = [draw(asserted("number", op)) for op in chosen]
    clause = Clause(Path(()), COUNTED, Plane.DERIVED, tuple(s.value for s in spelt))
    return Spelt(clause, {op: s.yaml for op, s in zip(chosen, spelt, strict=True)})


@st.composite
def looks(draw: st.DrawFn, few: Few) -> Spelt:
    """Where a rule looks, with all that narrows it."""
    mode = draw(st.sampled_from(["each", "each", "any", "no", "count"]))
    place = draw(st.sampled_from([*COLLECTIONS, "shelf/a.slot"]))
    pattern = str(parse(place).pattern)
    look = Look(mode, parse(place), COLLECTIONS[pattern])
    yaml: Yaml = {mode: place}
    if not draw(st.integers(0, 2)):
        where = draw(clauses(few, place))
        look, yaml["where"] = replace(look, where=where.value), where.yaml
    if mode in {"each", "any"} and not draw(st.integers(0, 2)):
        number = draw(st.integers(1, 3))
        look, yaml["expect-count"] = replace(look, expect_count=number), str(number)
    if mode in {"each", "any"} and not draw(st.integers(0, 2)):
        look, yaml["allow-empty"] = replace(look, allow_empty=True), "true"
    if mode == "each" and not draw(st.integers(0, 2)):
        number = draw(st.integers(1, 2))
        look, yaml["allow-failing"] = replace(look, allow_failing=number), str(number)
    return Spelt(look, yaml)


@st.composite
def rules(draw: st.DrawFn, few: Few, rule_id: str, before: tuple[str, ...]) -> Spelt:
    """A rule that a profile can hold; it may need those before it."""
    yaml: Yaml = {}
    rule = Rule(rule_id, ())
    if draw(st.integers(0, 3)):
        look = draw(looks(few))
        rule, yaml = replace(rule, look=look.value), dict(look.yaml)
    mode = rule.look.mode if rule.look is not None else ""
    if mode == "count":
        counted = draw(counts())
        rule = replace(rule, clauses=(counted.value,))
        yaml |= counted.yaml
    else:
        within = str(rule.look.collection) if rule.look is not None else None
        alike = mode == "each" and rule.look is not None and not rule.look.allow_failing
        form = draw(st.sampled_from(["all-of", "any-of", "fact"]))
        alike = alike and form != "any-of"
        leaves = draw(
            st.lists(clauses(few, within, warns=mode != "no", siblings=alike), min_size=1, max_size=draw(SMALL))
        )
        rule = replace(rule, clauses=tuple(leaf.value for leaf in leaves))
        if form == "fact" and len(leaves) == 1:
            yaml |= leaves[0].yaml if draw(st.booleans()) else {"fact": leaves[0].yaml}
        else:
            form = "all-of" if form == "fact" else form
            rule = replace(rule, join="any" if form == "any-of" else "all")
            yaml[form] = [leaf.yaml for leaf in leaves]
    if not draw(st.integers(0, 3)):
        when = draw(clauses(few, None))
        rule, yaml["when"] = replace(rule, when=when.value), when.yaml
    if draw(st.booleans()) and before:
        needs = draw(st.lists(st.sampled_from(before), min_size=1, max_size=2, unique=True))
        rule, yaml["needs"] = replace(rule, needs=tuple(needs)), needs
    severity = draw(st.sampled_from(list(Severity)))
    return Spelt(replace(rule, severity=severity), yaml | {"severity": severity.value})


@st.composite
def profiles(draw: st.DrawFn) -> tuple[tuple[Rule, ...], Yaml]:
    """One to three rules, some of them backed by memory only, some waiting for a site's value."""
    few, found = draw(FEW), list[Spelt]()
    for number in range(draw(st.sampled_from([1, 1, 2, 3]))):
        found.append(draw(rules(few, f"r{number}", tuple(f"r{n}" for n in range(number)))))
    return tuple(rule.value for rule in found), {f"r{n}": rule.yaml for n, rule in enumerate(found)}


@st.composite
def judged_rules(draw: st.DrawFn) -> tuple[Rule, ...]:
    """The same as values, with what a profile says by other means than its rules."""
    found, _ = draw(profiles())
    return tuple(
        replace(rule, from_memory=not draw(st.integers(0, 7)), unset=("x",) if not draw(st.integers(0, 15)) else ())
        for rule in found
    )


# ---- what a machine tells ---------------------------------------------------------------------------------------------

World = dict[str, Leaf]
KEYS = {"box": ("0", "1", "2"), "far": ("0", "1"), "shelf": ("a", "b"), "slot": ("1", "2")}


def readings(values: Iterable[Value]) -> st.SearchStrategy[Reading]:
    """A value mostly; now and then the fact is absent or unknown."""
    return st.sampled_from([*[v for v in values for _ in range(4)], Absent(), Unknown(Reason.TIMEOUT)])


@st.composite
def worlds(draw: st.DrawFn, asked: tuple[Rule, ...]) -> World:
    """What a node tells of the facts that rules ask for."""
    wanted: set[str] = set().union(*({str(f) for f in rule.facts()} for rule in asked))
    world: World = {}

    def put(path: str, reading: Reading) -> None:
        entry = CATALOGUE.find(parse(path))
        assert entry is not None
        world[path] = Leaf(reading, entry.kind, entry.plane, f"cat {path}", "2026-01-01T00:00:00Z")

    def listed(collection: str) -> list[str]:
        keys = draw(st.lists(st.sampled_from(KEYS[parse(collection).segments[-1].word]), unique=True))
        state = draw(st.sampled_from(["whole", "whole", "whole", "whole", "partial", "absent"]))
        listing: Reading = tuple(sorted(keys))
        if state == "partial":
            listing = Unknown(Reason.NOT_READ_FURTHER)
        elif state == "absent" and not keys:
            listing = Absent("no such thing")
        put(collection, listing)
        return [f"{collection}/{key}" for key in sorted(keys)]

    few: dict[str, st.SearchStrategy[Reading]] = {}

    def told(path: str, name: str) -> None:
        # A machine says the same in most places: two or three values of a kind, not all of them.
        if name not in few:
            few[name] = readings(draw(st.lists(st.sampled_from(VALUES[name]), min_size=1, max_size=3)))
        put(path, draw(few[name]))

    items: dict[str, list[str]] = {}
    if any(path.startswith("shelf/") or path == "shelf" for path in wanted):
        items["shelf"] = listed("shelf")
        items["shelf/*.slot"] = [i for rack in items["shelf"] for i in listed(f"{rack}.slot")]
    for collection in ("box", "far"):
        if any(path.startswith((f"{collection}/", f"{collection}.")) or path == collection for path in wanted):
            items[collection] = listed(collection)
    for path in sorted(wanted - COLLECTIONS.keys()):
        entry = CATALOGUE.find(parse(path))
        assert entry is not None
        name = entry.pattern.rpartition(".")[2]
        if entry.kind.type is Type.COLLECTION:
            continue
        pattern = str(parse(path).pattern)
        home = next((c for c in ("shelf/*.slot", "shelf", "box", "far") if pattern.startswith(f"{c}/*.")), "")
        if not home:
            told(path, name)
            continue
        rest = pattern.removeprefix(f"{home}/*.")
        for item in items[home]:
            if f"{item}.{rest}" not in world and draw(st.integers(0, 11)):
                told(f"{item}.{rest}", name)
    return world


@dataclass(frozen=True)
class Case:
    """Rules, what a node tells, and what it tells when some of that is taken away."""

    rules: tuple[Rule, ...]
    whole: Tree
    less: Tree
    taken: tuple[str, ...]

    def __repr__(self) -> str:
        told = {path: leaf.reading for path, leaf in self.whole.leaves.items()}
        return f"{self.rules}\non {told}\nwithout {self.taken}, which leaves {sorted(self.less.leaves)}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def without(tree: Tree, *paths: str) -> Tree:
    """Take facts away; a collection's listing is taken alone, an item (`box/0`) with all that is said of it."""
    left = {p: leaf for p, leaf in tree.leaves.items() if not any(p.startswith(f"{item}.") for item in paths)}
    gone = {p: replace(leaf, reading=HIDDEN) for p, leaf in left.items() if p in paths}
    return Tree(left | gone, tree.silent)


def silenced(tree: Tree, plane: Plane) -> Tree:
    """Take a whole plane away."""
    kept = {p: leaf for p, leaf in tree.leaves.items() if leaf.plane is not plane}
    return Tree(kept, {**tree.silent, plane: HIDDEN})


def inside(tree: Tree, collection: str) -> list[str]:
    """The items that a listing holds or that something is said of."""
    return [str(item) for item in tree.select(parse(collection), Plane.OS).items]


def each_taken(tree: Tree) -> Iterable[tuple[str, Tree]]:
    """Every way to take one thing away: a fact, a listing with none, one or all of its items, a plane."""
    for path, leaf in tree.leaves.items():
        yield path, without(tree, path)
        if leaf.kind.type is Type.COLLECTION:
            items = inside(tree, path)
            yield from ((f"{path} and {item}", without(tree, path, item)) for item in items)
            yield f"{path} and all of it", without(tree, path, *items)
    yield from ((plane.value, silenced(tree, plane)) for plane in (Plane.OS, Plane.BMC))


@st.composite
def taken_away(draw: st.DrawFn, tree: Tree) -> tuple[str, ...]:
    """Choose several things to take away at once."""
    paths = draw(st.lists(st.sampled_from(sorted(tree.leaves)), min_size=1, max_size=3, unique=True))
    items = [i for path in paths if tree.leaves[path].kind.type is Type.COLLECTION for i in inside(tree, path)]
    return (*paths, *(item for item in items if draw(st.booleans())))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    asked = draw(judged_rules())
    whole = Tree(draw(worlds(asked)))
    taken = draw(taken_away(whole)) if whole.leaves else ()
    return Case(asked, whole, without(whole, *taken), taken)


# ---- the law ----------------------------------------------------------------------------------------------------------


def hold(case: Case) -> tuple[Verdict, ...]:
    """Judge with all that is known, with less, and with one thing less than each; no verdict may turn."""
    whole = check(case.rules, case.whole)
    less = compare(case.rules, whole, case.less, " and ".join(case.taken))
    for verdicts, tree in ((whole, case.whole), (less, case.less)):
        for taken, rest in each_taken(tree):
            compare(case.rules, verdicts, rest, taken)
    return whole


def compare(rules: tuple[Rule, ...], before: tuple[Verdict, ...], tree: Tree, taken: str) -> tuple[Verdict, ...]:
    """Judge what is left, and hold it against what was known before."""
    after = check(rules, tree)
    for b, a in zip(before, after, strict=True):
        assert a.status in {b.status, Status.UNKNOWN}, f"{b.status} became {a.status} ({a.reason}) without {taken}"
    known = {rule.id: rule for rule in rules}
    outcome, lesser = node_outcome(before, known), node_outcome(after, known)
    assert lesser in {outcome, Outcome.INCOMPLETE}, f"{outcome} became {lesser} without {taken}"
    return after


def check(rules: tuple[Rule, ...], tree: Tree) -> tuple[Verdict, ...]:
    """Judge; whatever is known, every verdict but a pass says why."""
    verdicts = judge(rules, tree)
    for verdict in verdicts:
        assert verdict.reason or verdict.status is Status.PASS, f"{verdict.status} of {verdict.rule} has no reason"
    return verdicts


RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(RELAXED, max_examples=300)
@given(cases())
def test_taking_facts_away_never_turns_a_verdict(case: Case) -> None:
    hold(case)


@pytest.mark.slow
@settings(RELAXED, max_examples=5000)
@given(cases())
def test_taking_facts_away_never_turns_a_verdict_in_5000_machines(case: Case) -> None:
    hold(case)


# ---- small worlds, all of them ----------------------------------------------------------------------------------------

FLAG, NUMBER = parse("flag"), parse("number")
YES = Clause(FLAG, KINDS["flag"], Plane.OS, (operator.Test("is", True),))
ENOUGH = Clause(NUMBER, KINDS["number"], Plane.OS, (operator.Test("at-least", 2),))
PLENTY = replace(ENOUGH, tests=(*ENOUGH.tests, operator.Test("warn-below", 3)))
NO_IDEA = Unknown(Reason.TIMEOUT)
# What an item can be: outside `where`, passing, warning, failing, unknown, and perhaps outside while it fails or not.
STATES: tuple[tuple[Reading, Reading], ...] = (
    (False, 3), (True, 3), (True, 2), (True, 1), (True, NO_IDEA), (NO_IDEA, 3), (NO_IDEA, 1), (Absent(), 1),
)  # fmt: skip


def boxes(states: Iterable[tuple[Reading, Reading]], listing: Reading) -> Tree:
    """A node of some boxes, each in a state."""
    leaves: World = {"box": Leaf(listing, Kind(Type.COLLECTION, ""), Plane.OS, "", "")}
    for key, (flag, number) in enumerate(states):
        leaves[f"box/{key}.flag"] = Leaf(flag, KINDS["flag"], Plane.OS, "", "")
        leaves[f"box/{key}.number"] = Leaf(number, KINDS["number"], Plane.OS, "", "")
    return Tree(leaves)


def all_looks() -> Iterable[Rule]:
    """Every look with everything that narrows it."""
    for where in (None, YES):
        plain = Look("", parse("box"), Plane.OS, where=where)
        for severity in (Severity.MAJOR, Severity.ADVISORY):
            yield Rule("r", (ENOUGH,), replace(plain, mode="no"), severity=severity)
        for op, operand in (("is", 1), ("at-least", 0), ("at-least", 2), ("at-most", 1), ("is-not", 1), ("below", 0)):
            counted = Clause(Path(()), COUNTED, Plane.DERIVED, (operator.Test(op, operand),))
            yield Rule("r", (counted,), replace(plain, mode="count"))
        for clause, expected, allow_empty in product((ENOUGH, PLENTY), (None, 1, 2, 3), (False, True)):
            narrowed = replace(plain, expect_count=expected, allow_empty=allow_empty)
            yield Rule("r", (clause,), replace(narrowed, mode="any"))
            for failing in (0, 1, 2):
                yield Rule("r", (clause,), replace(narrowed, mode="each", allow_failing=failing))


@pytest.mark.parametrize("listing", ["whole", "partial"])
def test_no_look_over_two_items_turns(listing: str) -> None:
    every_look_holds(2, listing)


@pytest.mark.slow
@pytest.mark.parametrize("listing", ["whole", "partial"])
def test_no_look_over_three_items_turns(listing: str) -> None:
    every_look_holds(3, listing)


def every_look_holds(most: int, listing: str) -> None:
    """Judge every look over every set of so many items, and then with each thing taken away."""
    rules = tuple(replace(rule, id=f"r{n}") for n, rule in enumerate(all_looks()))
    for size in range(most + 1):
        for states in combinations_with_replacement(STATES, size):
            told: Reading = tuple(map(str, range(size))) if listing == "whole" else NO_IDEA
            whole = boxes(states, told)
            before = check(rules, whole)
            for taken, rest in each_taken(whole):
                compare(rules, before, rest, taken)


@pytest.mark.parametrize("op", ["equal", "spread"])
@pytest.mark.parametrize("kind", ["power", "limit", "setting"])
def test_no_comparison_of_siblings_turns(op: str, kind: str) -> None:
    operands: tuple[Operand, ...] = (True,) if op == "equal" else (0.0, 40.0, 99.0, 100.0)
    if op not in OPERATORS[kind]:
        return
    clauses = (Clause(parse("one"), KINDS[kind], Plane.OS, (operator.Test(op, operand),)) for operand in operands)
    look = Look("each", parse("box"), Plane.OS)
    rules = tuple(Rule(f"r{n}", (clause,), look) for n, clause in enumerate(clauses))
    for values in product((*VALUES[kind], Absent(), NO_IDEA), repeat=3):
        leaves = {f"box/{key}.one": Leaf(value, KINDS[kind], Plane.OS, "", "") for key, value in enumerate(values)}
        whole = Tree({"box": Leaf(("0", "1", "2"), Kind(Type.COLLECTION, ""), Plane.OS, "", ""), **leaves})
        before = check(rules, whole)
        for key in "012":
            compare(rules, before, without(whole, f"box/{key}.one"), f"box/{key} of {values}")
            compare(rules, before, without(whole, "box", f"box/{key}"), f"box/{key} of {values} and the listing")


@pytest.mark.parametrize("join", ["all", "any"])
@pytest.mark.parametrize("look", [None, "each", "any"])
def test_no_join_of_two_facts_turns(join: str, look: str | None) -> None:
    prefix = "" if look is None else "box/0."
    facts = ("one", "two")
    clauses = tuple(replace(PLENTY, fact=parse(fact)) for fact in facts)
    where = None if look is None else Look(look, parse("box"), Plane.OS)
    rules = tuple(Rule(s.value, clauses, where, join=join, severity=s) for s in Severity)
    choices: tuple[Reading, ...] = (3, 2, 1, Absent(), NO_IDEA)
    for values in product(choices, repeat=2):
        leaves = {
            f"{prefix}{fact}": Leaf(value, KINDS["number"], Plane.OS, "", "")
            for fact, value in zip(facts, values, strict=True)
        }
        whole = Tree({"box": Leaf(("0",), Kind(Type.COLLECTION, ""), Plane.OS, "", ""), **leaves})
        before = check(rules, whole)
        for taken, rest in each_taken(whole):
            compare(rules, before, rest, taken)


# ---- that the cases above are worth their time -------------------------------------------------------------------------


def seen(case: Case, verdicts: Iterable[Verdict]) -> Iterable[str]:
    """Name what a case exercises."""
    for rule in case.rules:
        look = rule.look
        yield f"look {look.mode if look is not None else 'node'}"
        yield f"join {rule.join} of {len(rule.clauses)}"
        yield from (f"operator {t.op}" for clause in rule.clauses for t in clause.tests)
        yield from (f"{clause.kind.type}" for clause in rule.clauses)
        if look is not None:
            for key in ("where", "expect_count", "allow_failing", "allow_empty"):
                if getattr(look, key):
                    yield f"{look.mode} {key}"
            if any(s.key == EVERY for s in look.collection.segments):
                yield "nested look"
        yield from (key for key in ("when", "needs", "from_memory", "unset") if getattr(rule, key))
        yield from (f"same-as at item {c.other_at_item}" for c in rule.clauses if c.other is not None)
    yield from (f"status {v.status}" for v in verdicts)
    after = judge(case.rules, case.less)
    yield from (f"{b.status} -> {a.status}" for b, a in zip(verdicts, after, strict=True))
    yield from ("a partial collection" for p in case.taken if p in COLLECTIONS and f"{p}/0" not in case.taken)


def test_the_cases_hold_every_operator_look_and_verdict() -> None:
    counted: Counter[str] = Counter()

    @settings(RELAXED, max_examples=600, derandomize=True, database=None)
    @given(cases())
    def gather(case: Case) -> None:
        counted.update(set(seen(case, judge(case.rules, case.whole))))

    gather()
    wanted = {f"operator {op}" for op in WORDS}
    wanted |= {f"look {mode}" for mode in ("node", "each", "any", "no", "count")}
    wanted |= {f"status {s}" for s in Status if s is not Status.WAIVED}
    wanted |= {f"{s} -> unknown" for s in Status if s is not Status.WAIVED}
    wanted |= {f"{mode} {key}" for mode in ("each", "any") for key in ("where", "expect_count", "allow_empty")}
    wanted |= {f"join {join} of {n}" for join in ("all", "any") for n in (1, 2)}
    wanted |= {"each allow_failing", "when", "needs", "from_memory", "unset", "nested look", "a partial collection"}
    wanted |= {"same-as at item True", "same-as at item False", *(t for t in Type if t is not Type.COLLECTION)}
    assert wanted - counted.keys() == set()
    assert not LATER & WORDS.keys()  # an operator that is judged one day is drawn here, too
    for status in ("pass", "fail", "warn", "unknown", "n/a"):
        assert counted[f"status {status}"] >= 40, counted


# ---- what can be written is what is judged ----------------------------------------------------------------------------


def compiled(folder: FilePath, written: Yaml) -> Profile:
    """Read rules as a profile's file holds them."""
    path = folder / "law.yaml"
    path.write_text(json.dumps({"rackcheck": 1, "profile": "law", "version": 1, "rules": written}))
    return library.load(str(path), CATALOGUE)


bare: Callable[[Rule], Rule] = lambda rule: replace(rule, place="")  # noqa: E731


@settings(RELAXED, max_examples=80)
@given(profiles())
def test_a_rule_that_is_written_is_the_rule_that_is_judged(
    tmp_path: FilePath, both: tuple[tuple[Rule, ...], Yaml]
) -> None:
    values, written = both
    assert tuple(map(bare, compiled(tmp_path, written).rules)) == values


@pytest.mark.slow
@settings(RELAXED, max_examples=1500)
@given(profiles())
def test_1500_rules_that_are_written_are_the_rules_that_are_judged(
    tmp_path: FilePath, both: tuple[tuple[Rule, ...], Yaml]
) -> None:
    values, written = both
    assert tuple(map(bare, compiled(tmp_path, written).rules)) == values


# ---- from the wire on: an answer that is missing or cut ----------------------------------------------------------------


@dataclass(frozen=True)
class Audited:
    """This machine, asked by every probe of its operating system, and judged by the shipped profile."""

    plan: Plan
    mark: str
    raw: bytes
    rules: tuple[Rule, ...]

    def capture(self, raw: bytes) -> NodeCapture:
        return split(raw, self.plan.questions, self.mark, HIDDEN).capture

    def leaves(self, capture: NodeCapture, ask: Shell | Read | None = None) -> dict[str, Leaf]:
        """What every probe reads, or each that asks this."""
        wanted = self.plan.wanted
        probes = [p for p in self.plan.probes if ask is None or shares(p.ask.asking(wanted), ask)]
        assert probes, ask
        return collect(probes, capture, "2026-01-01T00:00:00Z", wanted)

    def tree(self, capture: NodeCapture) -> Tree:
        return Tree(self.leaves(capture))


def shares(one: Shell | Read | Redfish, other: Shell | Read) -> bool:
    """Whether a probe's question is part of a plan's, which asks for the files of one place at once."""
    if isinstance(one, Read) and isinstance(other, Read):
        return not set(one.globs).isdisjoint(other.globs)
    return one == other


@pytest.fixture(scope="module")
def audited() -> Audited:
    known = registry()
    profile = library.load("linux-server", known.catalogue)
    every = (parse(pattern) for pattern in known.catalogue.entries if not pattern.endswith("**"))
    asked = plan([*profile.facts(), *every], known.probes, known.catalogue)
    mark = token_hex(16)
    script = compose(asked.questions, mark).encode()
    raw = subprocess.run(["sh", "-s"], input=script, capture_output=True, check=True).stdout
    planes = frozenset({Plane.OS, Plane.DERIVED})
    return Audited(
        asked, mark, raw, tuple(r for r in profile.rules if in_scope(r, "compute", planes, frozenset(Phase)))
    )


def lessened(capture: NodeCapture, ask: Shell | Read) -> Iterable[NodeCapture]:
    """The same answers without one of them, and, for files, with a part of them only."""
    if isinstance(ask, Shell):
        yield replace(capture, commands={**capture.commands, named(ask.command): HIDDEN})
        return
    globs = {**capture.globs, **dict.fromkeys(ask.globs, HIDDEN)}
    mine = [file for file in capture.files if any(covers(glob, file) for glob in ask.globs)]
    for kept in ((), mine[::2], mine[1::2], mine[: len(mine) // 2]):
        files = {file: text for file, text in capture.files.items() if file not in mine or file in kept}
        yield replace(capture, files=files, globs=globs)


def nothing_turned(before: Tree, after: Tree, what: str) -> None:
    """Whatever is told with less is what was told with all, also of items that only one of the two names."""
    for path, leaf in {**before.leaves, **after.leaves}.items():
        was, now = (tree.reading(parse(path), leaf.plane) for tree in (before, after))
        assert isinstance(now, Unknown) or now == was, f"{path} was {was} and is {now} without {what}"


def test_an_answer_that_is_missing_or_cut_turns_no_fact_and_no_verdict(audited: Audited) -> None:
    capture = audited.capture(audited.raw)
    whole = audited.tree(capture)
    before = check(audited.rules, whole)
    assert {v.status for v in before} > {Status.PASS}
    for ask in audited.plan.questions:
        # A probe reads its own answer alone, so only those are read again that asked for this one.
        asking = audited.leaves(capture, ask)
        others = {path: leaf for path, leaf in whole.leaves.items() if path not in asking}
        for less in lessened(capture, ask):
            told = audited.leaves(less, ask)
            nothing_turned(Tree(asking), Tree(told), str(ask))
            tree = Tree({**others, **told})
            compare(audited.rules, before, tree, str(ask))


def test_a_stream_that_is_cut_anywhere_turns_no_fact_and_no_verdict(audited: Audited) -> None:
    whole = audited.tree(audited.capture(audited.raw))
    before = check(audited.rules, whole)
    for cut in range(0, len(audited.raw), len(audited.raw) // 8):
        tree = audited.tree(audited.capture(audited.raw[:cut]))
        nothing_turned(whole, tree, f"what follows byte {cut}")
        compare(audited.rules, before, tree, f"what follows byte {cut}")


@pytest.mark.parametrize("place", recordings.ours(), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_recorded_answer_that_is_cut_turns_no_fact(place: FilePath) -> None:
    probe = recordings.os_probes()[place.parent.name]
    capture, _ = recordings.recorded(place)
    whole = Tree(recordings.leaves(probe, capture))
    for less in lessened(capture, probe.ask):
        nothing_turned(whole, Tree(recordings.leaves(probe, less)), str(probe.ask))
