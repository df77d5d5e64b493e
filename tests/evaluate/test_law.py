"""The law of unknowns: with less known, a verdict stays or becomes unknown; it is never reversed.

One generator (law_facts, law_rules, law_nodes, law_cases) draws rules of every kind with nodes, racks and fleets, and
the tests judge them as an audit does.
"""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from math import inf
from pathlib import Path as FilePath
from secrets import token_hex

import depth
import pytest
import recordings
from hypothesis import given, seed, settings
from law_cases import RELAXED, Audit, Verdicts, audits, hold, judged, trees_of
from law_checks import check, compare, compiled
from law_facts import CATALOGUE, COLLECTIONS, GATHERINGS, JOINS, KINDS, VALUES
from law_nodes import HIDDEN, NodeFacts, World, each_taken
from law_rules import COUNTED, OPERATORS, Yaml, profiles

from rackcheck.evaluate.verdict import Status, in_scope, judge
from rackcheck.evaluate.waiver import Waiver, pinned
from rackcheck.model import operator
from rackcheck.model.capture import NodeCapture, named
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.operator import WORDS, Operand
from rackcheck.model.path import EVERY, Path, parse
from rackcheck.model.profile import Clause, Phase, Rule, RuleSelection, Scope, Severity
from rackcheck.model.question import Ask, Read, Shell
from rackcheck.model.text import covers
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.answers import split
from rackcheck.probe.collect import collect
from rackcheck.probe.plan import Plan, plan
from rackcheck.probe.registry import registry
from rackcheck.probe.script import compose
from rackcheck.profile import library
from rackcheck.profile.compile import unpinned

# ---- the law ---------------------------------------------------------------------------------------------------------


@settings(RELAXED, max_examples=300)
@given(audits())
def test_taking_facts_away_never_turns_a_verdict(audit: Audit) -> None:
    hold(audit)


def _in_many_runs(number: int) -> Callable[[], None]:
    """The same with more, random cases: 5,000 of each number in `make full`, and a few of the first in a usual run."""

    @seed(number)
    @settings(RELAXED, max_examples=depth.examples(150, 5000), derandomize=False, database=None)
    @given(audits())
    def held(audit: Audit) -> None:
        hold(audit)

    return held


@pytest.mark.slow
@pytest.mark.parametrize("number", depth.first(1, range(4)))
def test_taking_facts_away_never_turns_a_verdict_in_many_runs(number: int) -> None:
    _in_many_runs(number)()


# ---- small worlds, all of them ---------------------------------------------------------------------------------------

FLAG, NUMBER = parse("flag"), parse("number")
YES = Clause(FLAG, KINDS["flag"], Plane.OS, (operator.Test("is", True),))
ENOUGH = Clause(NUMBER, KINDS["number"], Plane.OS, (operator.Test("at-least", 2),))
PLENTY = replace(ENOUGH, tests=(*ENOUGH.tests, operator.Test("warn-below", 3)))
NO_IDEA = Unknown(Reason.TIMEOUT)
# States of an item: outside `where`, passing, warning, failing, unknown, and possibly outside, failing or not.
STATES: tuple[tuple[Reading, Reading], ...] = (
    (False, 3), (True, 3), (True, 2), (True, 1), (True, NO_IDEA), (NO_IDEA, 3), (NO_IDEA, 1), (Absent(), 1),
)  # fmt: skip


def boxes(states: Iterable[tuple[Reading, Reading]], listing: Reading) -> NodeFacts:
    """A node of some boxes, each in a state."""
    leaves: World = {"box": Leaf(listing, Kind(Type.COLLECTION, ""), Plane.OS, "")}
    for key, (flag, number) in enumerate(states):
        leaves[f"box/{key}.flag"] = Leaf(flag, KINDS["flag"], Plane.OS, "")
        leaves[f"box/{key}.number"] = Leaf(number, KINDS["number"], Plane.OS, "")
    return NodeFacts(leaves)


def all_looks() -> Iterable[Rule]:
    """Every look with all its filters."""
    for where in (None, YES):
        plain = RuleSelection("", parse("box"), Plane.OS, where=where)
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


@pytest.mark.parametrize("size", depth.first(1, [2, pytest.param(3, marks=pytest.mark.slow)]))
@pytest.mark.parametrize("listing", ["whole", "partial"])
def test_no_look_over_some_items_turns(listing: str, size: int) -> None:
    every_look_holds(size, listing)


def every_look_holds(most: int, listing: str) -> None:
    """Judge every look over every set of this many items, and then with each fact removed."""
    rules = tuple(replace(rule, id=f"r{n}") for n, rule in enumerate(all_looks()))
    for size in range(most + 1):
        for states in combinations_with_replacement(STATES, size):
            reading: Reading = tuple(map(str, range(size))) if listing == "whole" else NO_IDEA
            whole = boxes(states, reading)
            before = check(rules, whole.tree())
            for taken, rest in each_taken(whole):
                compare(rules, before, rest.tree(), taken)


@pytest.mark.parametrize("op", ["equal", "spread"])
@pytest.mark.parametrize("kind", ["power", "limit", "setting"])
def test_no_comparison_of_siblings_turns(op: str, kind: str) -> None:
    operands: tuple[Operand, ...] = (True,) if op == "equal" else (0.0, 40.0, 99.0, 100.0)
    if op not in OPERATORS[kind]:
        return
    clauses = (Clause(parse("one"), KINDS[kind], Plane.OS, (operator.Test(op, operand),)) for operand in operands)
    look = RuleSelection("each", parse("box"), Plane.OS)
    rules = tuple(Rule(f"r{n}", (clause,), look) for n, clause in enumerate(clauses))
    for values in product((*VALUES[kind], Absent(), NO_IDEA), repeat=3):
        leaves = {f"box/{key}.one": Leaf(value, KINDS[kind], Plane.OS, "") for key, value in enumerate(values)}
        whole = NodeFacts({"box": Leaf(("0", "1", "2"), Kind(Type.COLLECTION, ""), Plane.OS, ""), **leaves})
        before = check(rules, whole.tree())
        for key in "012":
            compare(rules, before, whole.without(f"box/{key}.one").tree(), f"box/{key} of {values}")
            compare(rules, before, whole.without("box", f"box/{key}").tree(), f"box/{key} of {values}, and the listing")


@pytest.mark.parametrize("join", ["all", "any"])
@pytest.mark.parametrize("look", [None, "each", "any"])
def test_no_join_of_two_facts_turns(join: str, look: str | None) -> None:
    prefix = "" if look is None else "box/0."
    facts = ("one", "two")
    clauses = tuple(replace(PLENTY, fact=parse(fact)) for fact in facts)
    where = None if look is None else RuleSelection(look, parse("box"), Plane.OS)
    rules = tuple(Rule(s.value, clauses, where, join=join, severity=s) for s in Severity)
    choices: tuple[Reading, ...] = (3, 2, 1, Absent(), NO_IDEA)
    for values in product(choices, repeat=2):
        leaves = {
            f"{prefix}{fact}": Leaf(value, KINDS["number"], Plane.OS, "")
            for fact, value in zip(facts, values, strict=True)
        }
        whole = NodeFacts({"box": Leaf(("0",), Kind(Type.COLLECTION, ""), Plane.OS, ""), **leaves})
        before = check(rules, whole.tree())
        for taken, rest in each_taken(whole):
            compare(rules, before, rest.tree(), taken)


def test_no_comparison_of_two_readings_turns() -> None:
    events = KINDS["events"]
    tests = [("steady", True), ("rate", 0.0), ("rate", 60.0), ("rate", 120.0), ("rate", 3600.0)]
    clauses = [Clause(parse("one"), events, Plane.OS, (operator.Test(op, operand),)) for op, operand in tests]
    clauses += [replace(clauses[1], tests=(*clauses[1].tests, operator.Test("at-most", 1)))]
    rules = tuple(Rule(f"r{n}", (clause,)) for n, clause in enumerate(clauses))
    rules += tuple(
        Rule(f"b{n}", (clause,), RuleSelection("each", parse("box"), Plane.OS)) for n, clause in enumerate(clauses)
    )
    spans = [(0.0, 0.0), (60.0, 60.0), (59.0, 61.0), (3600.0, 3600.0), (30.0, 7200.0), (0.0, inf)]
    choices: tuple[Reading, ...] = (0, 1, 60, Absent(), NO_IDEA)
    for one, two, span in product(choices, choices, spans):
        first, second = ({"box": _listing("0"), **{p: _events(r) for p in ("one", "box/0.one")}} for r in (one, two))
        whole = NodeFacts(first, second, apart={Plane.OS: span})
        before = check(rules, whole.tree())
        for taken, rest in each_taken(whole):
            compare(rules, before, rest.tree(), f"{taken} of {one}, then {two} after {span}")


def _listing(*keys: str) -> Leaf:
    return Leaf(keys, Kind(Type.COLLECTION, ""), Plane.OS, "")


def _events(reading: Reading) -> Leaf:
    return Leaf(reading, KINDS["events"], Plane.OS, "")


# ---- where the law did not hold once ---------------------------------------------------------------------------------


def test_a_second_reading_that_is_missing_does_not_make_the_time_of_what_follows_from_others_exact() -> None:
    entry = CATALOGUE.find(parse("own.events"))
    assert entry is not None
    clause = Clause(parse("own.events"), entry.kind, entry.plane, (operator.Test("rate", 60.0),), inputs=entry.inputs)
    rules = (Rule("r", (clause,)),)
    first, second = ({"here.events": _events(reading)} for reading in (0, 2))
    whole = NodeFacts(first, second, apart={Plane.OS: (60.0, 60.0), Plane.BMC: (0.0, 7200.0)})
    before = check(rules, whole.tree(JOINS))
    compare(rules, before, whole.silenced(Plane.BMC, then=True).tree(JOINS), "the BMC's first reading")


def test_a_waiver_of_what_changed_holds_where_the_time_between_is_known_less() -> None:
    clause = Clause(parse("here.events"), KINDS["events"], Plane.OS, (operator.Test("steady", True),))
    first, second = ({"here.events": _events(reading)} for reading in (0, 2))
    value = NodeFacts(first, second, apart={Plane.OS: (60.0, 60.0)})
    assert _still_waived(clause, value.tree(), replace(value, apart={Plane.OS: (30.0, 120.0)}).tree())


def test_a_waiver_of_what_is_absent_holds_where_what_it_must_equal_is_not_known() -> None:
    equal = (operator.Test("same-as", parse("there.events")),)
    clause = Clause(parse("here.events"), KINDS["events"], Plane.OS, equal, parse("there.events"), Plane.OS)
    value = NodeFacts({"here.events": _events(Absent()), "there.events": _events(1)})
    assert _still_waived(clause, value.tree(), value.without("there.events").tree())


def _still_waived(clause: Clause, before: Tree, after: Tree) -> bool:
    """Whether what is waived on one tree is waived or unknown on the other, of which less is known."""
    rules = (Rule("r", (clause,)),)
    (found,) = judge(rules, before)
    pins = {pinned(e): Waiver("r", "", ("n",), (), "", "Jo", "OPS-1", "part ordered") for e in found.evidence}
    (was,), (now,) = (judge(rules, tree, {"r": pins}) for tree in (before, after))
    assert was.status is Status.WAIVED
    return now.status in {Status.WAIVED, Status.UNKNOWN}


# ---- that the cases above are worth their time -----------------------------------------------------------------------


def seen(audit: Audit, verdicts: Verdicts) -> Iterable[str]:
    """Name what a case exercises."""
    for rule in audit.rules:
        sort = "across" if rule.across is not None else rule.scope.value
        look = rule.look
        mode = look.mode if look is not None else "none"
        yield from (f"sort {sort}", f"look {mode}", f"{sort} look {mode}")
        yield f"join {rule.join} of {len(rule.clauses)}"
        yield from (f"operator {t.op}" for clause in rule.clauses for t in clause.tests)
        yield from (f"{clause.kind.type}" for clause in rule.clauses)
        yield from (f"{clause.fact}" for clause in rule.clauses if clause.plane is Plane.DERIVED and look is None)
        if look is not None:
            for key in ("where", "expect_count", "allow_failing", "allow_empty"):
                if getattr(look, key):
                    yield f"{look.mode} {key}"
            if any(s.key == EVERY for s in look.collection.segments):
                yield "nested look"
        yield from (f"{of}{key}" for key in ("when", "needs") if getattr(rule, key) for of in ("", f"{sort} "))
        yield from (key for key in ("from_memory", "unset") if getattr(rule, key))
        yield from (f"same-as at item {c.other_at_item}" for c in rule.clauses if c.other is not None)
        if rule.across is not None:
            yield from ("a star" for each in rule.across.shared if "*" in str(each.fact))
            yield from ("an exception" for _ in rule.across.left)
    yield from _turns(audit, verdicts)
    yield from ("a partial collection" for word in audit.taken if word.split(": ")[1] in COLLECTIONS)
    yield from (word.partition(": ")[2] for word in audit.taken)
    for value in audit.whole.values():
        yield from ("exact time" if a == b else "no time" if b == inf else "wide time" for a, b in value.apart.values())
        yield from ("read twice" for _ in [value.second] if value.second is not None)


def _turns(audit: Audit, verdicts: Verdicts) -> Iterable[str]:
    """Name the verdicts of a case by the kind of their rule, and what they become when less is known."""
    sorts = {rule.id: "across" if rule.across is not None else rule.scope.value for rule in audit.rules}
    twice = {rule.id for rule in audit.rules if rule.twice}
    after = judged(audit.job, trees_of(audit, audit.less))
    for name, each in verdicts.items():
        for b, a in zip(each.verdicts, after[name].verdicts, strict=True):
            yield f"status {b.status}"
            yield f"{sorts[b.rule]} {b.status}"
            yield f"{sorts[b.rule]} {b.status} -> {a.status}"
            yield f"{b.status} -> {a.status}"
            if b.rule in twice:
                yield f"twice {b.status} -> {a.status}"
            yield from (f"because of {e.unknown.reason}" for e in b.evidence if e.unknown is not None)


def counted_in(examples: int) -> Counter[str]:
    """How many of this many cases exercise each feature."""
    counted: Counter[str] = Counter()

    @settings(RELAXED, max_examples=examples, derandomize=True, database=None)
    @given(audits())
    def gather(audit: Audit) -> None:
        counted.update(set(seen(audit, judged(audit.job, trees_of(audit, audit.whole)))))

    gather()
    return counted


def test_the_cases_hold_every_operator_look_scope_and_verdict() -> None:
    # A usual run shows it of fewer cases, with the same share of each verdict.
    tried = depth.examples(450, 800)
    counted = counted_in(tried)
    wanted = {f"operator {op}" for op in WORDS} | {f"look {m}" for m in ("none", "each", "any", "no", "count")}
    wanted |= {f"sort {sort}" for sort in (*Scope, "across")} | {"when", "needs", "read twice", "nested look"}
    wanted |= {f"status {s}" for s in Status} | {f"{s} -> unknown" for s in Status if s is not Status.WAIVED}
    wanted |= {t for t in Type if t is not Type.COLLECTION}
    assert wanted - counted.keys() == set()
    for status in ("pass", "fail", "warn", "unknown", "n/a"):
        assert counted[f"status {status}"] >= 30 * tried / 800, counted


@pytest.mark.slow
@pytest.mark.skipif(not depth.DEEP, reason=depth.REASON)
def test_the_cases_hold_every_turn_of_every_sort_of_rule() -> None:
    counted = counted_in(2500)
    sorts, modes, firm = (*Scope, "across"), ("none", "each", "any", "no", "count"), (Status.PASS, Status.FAIL)
    wanted = (
        {f"operator {op}" for op in WORDS}
        | {f"{scope} look {mode}" for scope in Scope for mode in modes}
        | {"across look none"}
    )
    wanted |= {f"{sort} {key}" for sort in sorts for key in ("when", "needs")}
    wanted |= {f"{s} -> unknown" for s in Status} | {f"{s} -> {s}" for s in Status}
    wanted |= {f"{sort} {s} -> unknown" for sort in (*sorts, "twice") for s in firm}
    wanted |= {f"{sort} {s} -> {s}" for sort in (*sorts, "twice") for s in (*firm, Status.UNKNOWN)}
    wanted |= {f"{mode} {key}" for mode in ("each", "any") for key in ("where", "expect_count", "allow_empty")}
    wanted |= {f"join {join} of {n}" for join in ("all", "any") for n in (1, 2)}
    wanted |= {"each allow_failing", "from_memory", "unset", "a partial collection", "a star", "an exception"}
    wanted |= {f"because of {why}" for why in (Reason.NO_CONSENSUS, Reason.COUNTER_RESET, Reason.NOT_TESTED)}
    wanted |= {"exact time", "wide time", "no time", "os", "bmc", "os then", "bmc then", "the node"}
    wanted |= {"same-as at item True", "same-as at item False"}
    given_ = (fact for each in GATHERINGS for fact in each.gives.items())
    wanted |= {fact for fact, kind in given_ if "*" not in fact and kind.type not in {Type.COLLECTION, Type.LIST}}
    assert wanted - counted.keys() == set()


# ---- what can be written is what is judged ---------------------------------------------------------------------------


bare: Callable[[Rule], Rule] = lambda rule: replace(rule, place="")  # noqa: E731


@settings(RELAXED, max_examples=80)
@given(profiles())
def test_a_rule_that_is_written_is_the_rule_that_is_judged(
    tmp_path: FilePath, both: tuple[tuple[Rule, ...], Yaml]
) -> None:
    values, written = both
    assert tuple(map(bare, compiled(tmp_path, written).own)) == unpinned(values)


@pytest.mark.slow
@settings(RELAXED, max_examples=depth.cases(1500))
@given(profiles())
def test_many_rules_that_are_written_are_the_rules_that_are_judged(
    tmp_path: FilePath, both: tuple[tuple[Rule, ...], Yaml]
) -> None:
    values, written = both
    assert tuple(map(bare, compiled(tmp_path, written).own)) == unpinned(values)


# ---- from the wire on: an answer that is missing or cut --------------------------------------------------------------


@dataclass(frozen=True)
class Audited:
    """This machine, read by every probe of its operating system, and judged by the shipped profile."""

    plan: Plan
    mark: str
    raw: bytes
    rules: tuple[Rule, ...]

    def capture(self, raw: bytes) -> NodeCapture:
        return split(raw, self.plan.questions, self.mark, HIDDEN).capture

    def leaves(self, capture: NodeCapture, ask: Shell | Read | None = None) -> dict[str, Leaf]:
        """What all probes read, or only those with this request."""
        wanted = self.plan.wanted
        probes = [p for p in self.plan.probes if ask is None or shares(p.ask.asking(wanted), ask)]
        assert probes, ask
        return collect(probes, capture, wanted)

    def tree(self, capture: NodeCapture) -> Tree:
        return Tree(self.leaves(capture))


def shares(one: Ask, other: Shell | Read) -> bool:
    """Whether a probe's request is part of a plan's, which requests the files of one place together."""
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
    return Audited(asked, mark, raw, tuple(r for r in profile.own if in_scope(r, "compute", planes, frozenset(Phase))))


def lessened(capture: NodeCapture, ask: Shell | Read) -> Iterable[NodeCapture]:
    """The same answers without one of them and, for files, with only part of them."""
    if isinstance(ask, Shell):
        yield replace(capture, commands={**capture.commands, named(ask.command): HIDDEN})
        return
    globs = {**capture.globs, **dict.fromkeys(ask.globs, HIDDEN)}
    mine = [file for file in capture.files if any(covers(glob, file) for glob in ask.globs)]
    for kept in ((), mine[::2], mine[1::2], mine[: len(mine) // 2]):
        files = {file: text for file, text in capture.files.items() if file not in mine or file in kept}
        yield replace(capture, files=files, globs=globs)


def nothing_turned(before: Tree, after: Tree, what: str) -> None:
    """Every value known with less data equals that known with all data, also for items that only one of the two has."""
    for path, leaf in {**before.leaves, **after.leaves}.items():
        was, now = (tree.reading(parse(path), leaf.plane) for tree in (before, after))
        assert isinstance(now, Unknown) or now == was, f"{path} was {was} and is {now} without {what}"


def test_an_answer_that_is_missing_or_cut_turns_no_fact_and_no_verdict(audited: Audited) -> None:
    capture = audited.capture(audited.raw)
    whole = audited.tree(capture)
    before = check(audited.rules, whole)
    assert {v.status for v in before} > {Status.PASS}
    for ask in audited.plan.questions:
        # A probe reads only its own answer, so only the probes that requested this one are read again.
        asking = audited.leaves(capture, ask)
        others = {path: leaf for path, leaf in whole.leaves.items() if path not in asking}
        for less in lessened(capture, ask):
            values = audited.leaves(less, ask)
            nothing_turned(Tree(asking), Tree(values), str(ask))
            tree = Tree({**others, **values})
            compare(audited.rules, before, tree, str(ask))


def test_a_stream_that_is_cut_anywhere_turns_no_fact_and_no_verdict(audited: Audited) -> None:
    whole = audited.tree(audited.capture(audited.raw))
    before = check(audited.rules, whole)
    for cut in range(0, len(audited.raw), len(audited.raw) // 8):
        tree = audited.tree(audited.capture(audited.raw[:cut]))
        nothing_turned(whole, tree, f"what follows byte {cut}")
        compare(audited.rules, before, tree, f"what follows byte {cut}")


@pytest.mark.parametrize(("name", "places"), recordings.by_probe().items(), ids=recordings.by_probe())
def test_a_recorded_answer_that_is_cut_turns_no_fact(name: str, places: list[FilePath]) -> None:
    probe = recordings.os_probes()[name]
    for place in places:
        capture, _ = recordings.recorded(place)
        whole = Tree(recordings.leaves(probe, capture))
        for less in lessened(capture, probe.ask):
            nothing_turned(whole, Tree(recordings.leaves(probe, less)), place.name)
