"""Rules of every kind that a profile can hold, drawn in two forms: as judged values, and as profile text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeVar

from hypothesis import strategies as st
from law_facts import CATALOGUE, COLLECTIONS, GROUP_FACTS, KINDS, OF_A_SEAT, kin

from rackcheck.model import operator
from rackcheck.model.catalogue import Entry, Kind, Type
from rackcheck.model.fact import Plane, Value
from rackcheck.model.operator import SIBLINGS, TWICE, WARNING, WORDS, Mask, Operand, Within
from rackcheck.model.path import Path, parse
from rackcheck.model.profile import Across, AgreedFact, Clause, Rule, RuleSelection, Scope, Severity

Yaml = dict[str, Any]

OPERANDS: Mapping[str, tuple[tuple[str, Value], ...]] = {
    "flag": (("true", True), ("false", False)),
    "number": (("1", 1), ("2", 2), ("0x2", 2), ("+0", 0), ("-1", -1)),
    "events": (("1", 1), ("60", 60), ("0", 0)),
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
RATES = (("0/h", 0.0), ("60/h", 60.0), ("1/min", 60.0), ("3600/h", 3600.0))


@dataclass(frozen=True)
class Spelt:
    """A piece of a rule in two forms: as the judged value, and as profile text."""

    value: Any
    yaml: Any


@dataclass(frozen=True)
class Few:
    """The variety of one case: sometimes everything, else few kinds and operators that meet often."""

    kinds: tuple[str, ...] = tuple(KINDS)
    operators: tuple[str, ...] = tuple(WORDS)


FEW = (
    Few(),
    Few(),
    Few(),
    Few(("number",), ("is", "at-least", "warn-above", "equal")),
    Few(("power",), ("at-most", "warn-below", "equal", "spread")),
    Few(("number", "flag"), ("is", "is-not", "present", "same-as", "warn-below")),
    Few(("version", "text"), ("at-least", "like", "one-of", "same-as", "warn-above")),
    Few(("number", "flag"), ("present",)),
    Few(("number", "flag"), ("present", "is")),
)
FEW_TWICE = (
    Few(("events",), ("rate",)),
    Few(("events",), ("rate",)),
    Few(("events",), ("rate", "steady", "at-most")),
    Few(("flag", "setting"), ("steady", "is")),
)

T = TypeVar("T")


def pick(draw: st.DrawFn, several: Sequence[T]) -> T:
    """Draw one of several, shrinking to the first; cheaper than a strategy for each draw."""
    return several[draw(st.integers(0, len(several) - 1))]


SMALL = st.sampled_from([1, 1, 1, 2])
"""The number of things: mostly one, because a rule of one thing is the easiest to turn."""

# ---- rules -----------------------------------------------------------------------------------------------------------


def operators_of(kind: Kind) -> tuple[str, ...]:
    """Every operator that applies to a fact of this kind."""

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
        case "equal" | "steady":
            return Spelt(operator.Test(op, True), "true")
        case "rate":
            text, most = pick(draw, RATES)
            return Spelt(operator.Test(op, most), {"at-most": text})
        case "spread":
            text, share = pick(draw, [("0 %", 0.0), ("40 %", 40.0), ("100 %", 100.0)])
            return Spelt(operator.Test(op, share), {"at-most": text})
        case "mask":
            mask = pick(draw, MASKS)
            return Spelt(operator.Test(op, mask), {"bits": hex(mask.bits), "is": str(mask.is_)})
        case "within":
            of_text, of = pick(draw, [o for o in few if o[1] != inf])
            by_text, by, share = pick(draw, BANDS)
            unit = f" {kind.unit}" if kind.unit and not share else ""
            assert isinstance(of, (int, float))
            return Spelt(operator.Test(op, Within(float(of), by, share)), {"of": of_text, "by": by_text + unit})
        case "like":
            pattern = pick(draw, ["a*", "*", "1.?", "?"])
            return Spelt(operator.Test(op, pattern), pattern)
        case "matches":
            pattern = pick(draw, ["^a", "b$", "[0-9]"])
            return Spelt(operator.Test(op, pattern), pattern)
        case "one-of" | "none-of" | "includes" | "excludes":
            several = draw(st.lists(st.sampled_from(few), min_size=1, max_size=2, unique=True))
            return Spelt(operator.Test(op, tuple(v for _, v in several)), [t for t, _ in several])
    if kind.type is Type.LIST and op in {"is", "is-not"}:
        return Spelt(operator.Test(op, ()), "none")
    if op in operator.ORDER and kind.type is Type.SETTING:
        few = tuple(o for o in few if o[1] in {"1", "2"})
    text, given_value = pick(draw, few)
    return Spelt(operator.Test(op, given_value), text)


def _entry(path: str) -> Entry:
    entry = CATALOGUE.find(parse(path))
    assert entry is not None
    return entry


OWN = tuple(pattern.removeprefix("own.") for pattern in CATALOGUE.entries if pattern.startswith("own."))
"""Kinds of the facts that are derived from others of the node itself."""


def _kinds(scope: Scope, within: str | None) -> tuple[str, ...]:
    """The kinds of the facts at a place."""
    if scope is Scope.NODE:
        return tuple(KINDS)
    return tuple(GROUP_FACTS[scope]) if within is None else OF_A_SEAT


def _places(name: str, scope: Scope, within: str | None) -> tuple[str, ...]:
    """The places of facts of a kind, as a rule names them."""
    if within is not None:
        return (name, f"more.{name}") if within == "box" else (name,)
    if scope is not Scope.NODE:
        return (*GROUP_FACTS[scope][name], *((f"{scope}.seat/n0.{name}",) if name in OF_A_SEAT else ()))
    own = (f"own.{name}",) if name in OWN else ()
    return (f"here.{name}", f"there.{name}", f"box/0.{name}", f"shelf/a.slot/1.{name}", f"box/9.{name}", *own)


def _compared_with(name: str, scope: Scope) -> tuple[str, ...]:
    """Facts that one of a kind may have to equal."""
    if scope is not Scope.NODE:
        return tuple(fact for fact in GROUP_FACTS[scope].get(name, ()) if not fact.endswith(".leaks"))
    return (f"there.{name}", f"here.{name}", f"box/1.{name}")


@st.composite
def clauses(
    draw: st.DrawFn,
    few: Few,
    within: str | None,
    *,
    warns: bool = False,
    siblings: bool = False,
    twice: bool = False,
    scope: Scope = Scope.NODE,
) -> Spelt:
    """A leaf at the node or the group, or at the items of a look."""
    alike = siblings and not draw(st.integers(0, 2))
    twice = twice and scope is Scope.NODE
    kinds = tuple(name for name in few.kinds if name in _kinds(scope, within)) or _kinds(scope, within)
    lead = [op for op in WORDS if (warns or op not in WARNING) and (siblings or op not in SIBLINGS)]
    lead = [op for op in lead if twice or op not in TWICE]
    lead = [op for op in lead if any(op in OPERATORS[name] for name in kinds)]
    lead = [op for op in lead if op in (SIBLINGS if alike else few.operators)] or lead
    op = pick(draw, lead)
    name = pick(draw, [name for name in kinds if op in OPERATORS[name]])
    places = _places(name, scope, within)
    if op in TWICE and within is None:
        places = tuple(place for place in places if place.startswith(("here", "there", "own")))
    fact = pick(draw, places)
    prefix = "" if within is None else f"{within}/*."
    entry = _entry(prefix + fact)
    known = [op for op in lead if op in OPERATORS[name]]
    chosen = {op, *(draw(st.lists(st.sampled_from(known), max_size=1)) if draw(SMALL) == 2 else ())}
    found: list[operator.Test] = []
    yaml: Yaml = {"fact": fact}
    other, other_plane, at_item, inputs, beside = None, entry.plane, False, entry.inputs, None
    for op in sorted(chosen, key=list(WORDS).index):
        if op == "same-as":
            at_item = within is not None and (draw(st.booleans()) or not _compared_with(name, scope))
            target = name if at_item else pick(draw, _compared_with(name, scope))
            found_at = _entry(prefix + target if at_item else target)
            other, other_plane, inputs = parse(target), found_at.plane, inputs | found_at.inputs
            beside = None if warns else kin(prefix + target if at_item else target)
            found.append(operator.Test(op, other))
            yaml[op] = f".{target}" if at_item else target
        else:
            spelt = draw(asserted(name, op))
            found.append(spelt.value)
            yaml[op] = spelt.yaml
    excuses = not warns or {test.op for test in found} == {"present"}
    family = kin(prefix + fact) if excuses else None
    made = Clause(parse(fact), entry.kind, entry.plane, tuple(found), other, other_plane, at_item, inputs)
    return Spelt(replace(made, siblings=family, other_siblings=beside), yaml)


COUNTED = Kind(Type.INTEGER, "how many items")


@st.composite
def counts(draw: st.DrawFn) -> Spelt:
    """The tests of a `count` on the number of items."""
    ops = ("is", "is-not", "one-of", "none-of", "at-least", "at-most", "above", "below", "within")
    chosen = sorted(draw(st.lists(st.sampled_from(ops), min_size=1, max_size=2, unique=True)), key=list(WORDS).index)
    spelt = [draw(asserted("number", op)) for op in chosen]
    clause = Clause(Path(()), COUNTED, Plane.DERIVED, tuple(s.value for s in spelt))
    return Spelt(clause, {op: s.yaml for op, s in zip(chosen, spelt, strict=True)})


@st.composite
def looks(draw: st.DrawFn, few: Few, scope: Scope) -> Spelt:
    """The look of a rule, with everything that narrows it."""
    mode = pick(draw, ["each", "each", "any", "no", "count"])
    place = pick(draw, [*COLLECTIONS, "shelf/a.slot"]) if scope is Scope.NODE else f"{scope}.seat"
    look = RuleSelection(mode, parse(place), _entry(place).plane)
    yaml: Yaml = {mode: place}
    if not draw(st.integers(0, 2)):
        where = draw(clauses(few, place, scope=scope))
        look, yaml["where"] = replace(look, where=where.value), where.yaml
    if mode in {"each", "any"} and not draw(st.integers(0, 2)):
        number = draw(st.integers(1, 3))
        look, yaml["expect-count"] = replace(look, expect_count=number), str(number)
    if mode in {"each", "any"} and not draw(st.integers(0, 2)):
        look, yaml["allow-empty"] = replace(look, allow_empty=True), "true"
    if mode != "count" or look.where is not None:
        look = replace(look, siblings=kin(place) if scope is Scope.NODE else None)
    if mode == "each" and not draw(st.integers(0, 2)):
        number = draw(st.integers(1, 2))
        look, yaml["allow-failing"] = replace(look, allow_failing=number), str(number)
    return Spelt(look, yaml)


@st.composite
def looking(draw: st.DrawFn, few: Few, rule_id: str, scope: Scope) -> Spelt:
    """A rule about facts of a node or a group, with or without a look."""
    yaml: Yaml = {}
    rule = Rule(rule_id, (), scope=scope)
    if draw(st.integers(0, 3)) if scope is Scope.NODE else not draw(st.integers(0, 2)):
        look = draw(looks(few, scope))
        rule, yaml = replace(rule, look=look.value), dict(look.yaml)
    mode = rule.look.mode if rule.look is not None else ""
    if mode == "count":
        counted = draw(counts())
        rule = replace(rule, clauses=(counted.value,))
        yaml |= counted.yaml
    else:
        within = str(rule.look.collection) if rule.look is not None else None
        alike = mode == "each" and rule.look is not None and not rule.look.allow_failing
        form = pick(draw, ["all-of", "any-of", "fact"])
        alike = alike and form != "any-of"
        leaf_of = clauses(few, within, warns=mode != "no", siblings=alike, twice=mode != "no", scope=scope)
        leaves = draw(st.lists(leaf_of, min_size=1, max_size=draw(SMALL)))
        rule = replace(rule, clauses=tuple(leaf.value for leaf in leaves))
        if form == "fact" and len(leaves) == 1:
            yaml |= leaves[0].yaml if draw(st.booleans()) else {"fact": leaves[0].yaml}
        else:
            form = "all-of" if form == "fact" else form
            rule = replace(rule, join="any" if form == "any-of" else "all")
            yaml[form] = [leaf.yaml for leaf in leaves]
    if scope is not Scope.NODE:
        yaml["scope"] = scope.value
    elif not draw(st.integers(0, 7)):
        roles = pick(draw, [("any",), ("compute", "power-shelf")])
        rule, yaml["role"] = replace(rule, roles=roles), list(roles)
    return Spelt(rule, yaml)


@st.composite
def alike(draw: st.DrawFn, few: Few, rule_id: str) -> Spelt:
    """A rule across nodes: facts of the node, of items, one derived from others; some of them left out."""
    names = st.sampled_from(tuple(name for name in few.kinds if name != "list") or tuple(KINDS))
    places = ("here.{}", "there.{}", "box/*.{}", "box/*.{}", "shelf/*.slot/*.{}", "box/0.{}")
    own = [f"own.{name}" for name in OWN]
    facts = dict.fromkeys(
        pick(draw, places).format(draw(names)) if draw(st.integers(0, 5)) else pick(draw, own)
        for _ in range(draw(SMALL))
    )
    shared = tuple(AgreedFact(parse(fact), *_kind_and_planes(fact)) for fact in facts)
    text, quorum = pick(draw, [("51 %", 51.0), ("67 %", 67.0), ("75 %", 75.0), ("100 %", 100.0)])
    role = pick(draw, ["compute"] * 5 + ["power-shelf"])
    left = [fact.replace("box/*", "box/0") for fact in facts if fact.startswith("box/*") and draw(st.booleans())]
    kept = tuple(each for each in shared if str(each.fact) not in left)
    across = Across(role, kept or shared, quorum, frozenset(map(parse, left)) if kept else frozenset())
    yaml: Yaml = {"across": {"role": role, "facts": [*facts]}, "agree": {"quorum": text}}
    if kept and left:
        yaml["across"]["except"] = left
    return Spelt(Rule(rule_id, (), roles=(role,), across=across), yaml)


def _kind_and_planes(fact: str) -> tuple[Kind, Plane, frozenset[Plane]]:
    entry = _entry(fact)
    return entry.kind, entry.plane, entry.inputs


@st.composite
def rules(draw: st.DrawFn, few: Few, sort: str, before: Mapping[str, Rule]) -> Spelt:
    """A rule that a profile can hold; it may need earlier rules."""
    rule_id = f"r{len(before)}"
    made: st.SearchStrategy[Spelt] = alike(few, rule_id) if sort == "across" else looking(few, rule_id, Scope(sort))
    spelt = draw(made)
    rule, yaml = spelt.value, dict(spelt.yaml)
    if not draw(st.integers(0, 3)):
        when = draw(clauses(few, None, scope=rule.scope))
        rule, yaml["when"] = replace(rule, when=when.value), when.yaml
    alone = rule.across is None
    first = [r.id for r in before.values() if r.scope is rule.scope and not (alone and r.across is not None)]
    if draw(st.booleans()) and first:
        needs = draw(st.lists(st.sampled_from(first), min_size=1, max_size=2, unique=True))
        rule, yaml["needs"] = replace(rule, needs=tuple(needs)), needs
    weights = [each for each in Severity if each is not Severity.BLOCKER or rule.across is None]
    severity = pick(draw, weights)
    return Spelt(replace(rule, severity=severity), yaml | {"severity": severity.value})


MIXES: st.SearchStrategy[tuple[str, ...]] = st.sampled_from(
    [
        *[("node",)] * 8,
        *[("across", "node")] * 3,
        *[("across",)] * 2,
        *[("rack",)] * 4,
        *[("fleet",)] * 2,
        ("rack", "fleet", "across", "node"),
    ]
)
"""The kinds of rules that a profile holds."""


@st.composite
def profiles(draw: st.DrawFn, mixes: st.SearchStrategy[tuple[str, ...]] = MIXES) -> tuple[tuple[Rule, ...], Yaml]:
    """One to three rules."""
    sorts = draw(mixes)
    few = pick(draw, (*FEW, *FEW_TWICE) if sorts == ("node",) else FEW)
    found: dict[str, Rule] = {}
    written: Yaml = {}
    for _ in range(max(pick(draw, [1, 1, 2, 3]), len(sorts))):
        spelt = draw(rules(few, pick(draw, sorts), found))
        written[spelt.value.id] = spelt.yaml
        found[spelt.value.id] = spelt.value
    return tuple(found.values()), written


ALONE: st.SearchStrategy[tuple[str, ...]] = st.just(("node",))
"""A profile that judges each node alone."""


@st.composite
def judged_rules(draw: st.DrawFn, mixes: st.SearchStrategy[tuple[str, ...]] = ALONE) -> tuple[Rule, ...]:
    """The same as values, with the profile's entries beside its rules: memory, and site values."""
    found, _ = draw(profiles(mixes))
    return tuple(
        replace(rule, from_memory=not draw(st.integers(0, 7)), unset=("x",) if not draw(st.integers(0, 15)) else ())
        for rule in found
    )
