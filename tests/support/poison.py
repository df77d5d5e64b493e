"""Poison for every sign of damage: one fact of a clean machine is made bad by the smallest step that a rule must catch.

The clean machines are the simulated DGX H100, and, for rules that it does not have, the machine that satisfies the rule.
Poison is the smallest value beyond the rule's bound, one more than the clean count where there is no bound, and the
worst word of a health. A count whose rate a rule judges is raised by powers of ten. It is caught if a blocker or major
rule that reads the fact fails; an unknown is not enough.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from machines import Machine, tree
from rule_bench import Case
from satisfied import cases
from sim_replies import leaves_of

from rackcheck.evaluate.verdict import Status, judge
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Reading, Unknown, Value
from rackcheck.model.operator import Test
from rackcheck.model.path import Path, parse
from rackcheck.model.profile import Clause, Profile, Rule, Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry
from rackcheck.profile import judged, library

CATALOGUE = registry().catalogue

ITEM = "poisoned"
"""The key of an item that is added to a collection that is empty on the clean machine."""

CLEAN: Mapping[Type, Value] = {Type.FLAG: False, Type.INTEGER: 0, Type.QUANTITY: 0.0, Type.LIST: ()}
"""The value of a fact of an added item that is not poisoned; facts of other types are absent."""


@dataclass(frozen=True)
class Poisoning:
    """The result of one poison: the profile, the fact's pattern, where and what it is now, and the rule that fails."""

    profile: str
    pattern: str
    path: str
    value: Value
    caught: str
    spared: str = ""
    """The rule that does not apply to this item of the clean machine, by its own condition."""

    def __str__(self) -> str:
        result = self.caught or (f"n/a under {self.spared}" if self.spared else "NOT CAUGHT")
        return f"{self.profile}: {self.path} is {self.value!r}: {result}"


def readers(profile: Profile, pattern: str) -> list[Rule]:
    """The blocker and major rules of a profile that read a fact and judge nodes."""
    wanted = parse(pattern)
    return [
        rule
        for rule in profile.own
        if rule.severity.decides and rule.scope is Scope.NODE and rule.across is None and rule.called is None
        if wanted in {path.pattern for path in rule.facts()}
    ]


def values(rule: Rule, path: Path, kind: Kind, clean: Reading) -> Iterator[Value]:
    """The smallest bad values of a fact, by the tests of a rule on it."""
    turned = rule.look is not None and rule.look.mode == "no"
    item = Path(()) if rule.look is None else rule.look.collection.item("*")
    for clause in rule.clauses:
        if (item + clause.fact).pattern == path.pattern:
            for test in clause.tests:
                yield from _beyond(test, clause, kind, clean, turned=turned)


def _beyond(test: Test, clause: Clause, kind: Kind, clean: Reading, *, turned: bool) -> Iterator[Value]:
    bound = test.operand
    numeric = kind.type in {Type.INTEGER, Type.QUANTITY} and isinstance(bound, (int, float))
    step: float = 1 if kind.type is Type.INTEGER else 0.001
    match test.op:
        case "is" | "at-most" | "above" if numeric and not isinstance(bound, bool):
            assert isinstance(bound, (int, float))
            yield bound + step if test.op != "above" or turned else bound
        case "below" if numeric:
            yield bound  # type: ignore[misc]
        case "at-least" if numeric:
            assert isinstance(bound, (int, float))
            yield bound - step
        case "is" | "is-not" if kind.type is Type.FLAG:
            yield bool(bound) if turned == (test.op == "is") else not bound
        case "is" | "is-not" if kind.type is Type.LIST:
            yield ("poison",)
        case "includes" | "excludes" if isinstance(bound, tuple):
            yield (str(bound[0]),)
        case "includes" | "excludes":
            yield (str(bound),)
        case "one-of" if turned and isinstance(bound, tuple):
            yield bound[-1]
        case "is" if turned:
            yield bound  # type: ignore[misc]
        case "is" | "is-not" | "one-of" | "none-of" | "like" | "matches":
            yield "Critical"
        case _:
            return


def dgx() -> Tree:
    """The facts of one node of the simulated rack that is clean."""
    leaves = dict(leaves_of())
    return Tree({**leaves, **derive(registry().joins, Tree(leaves))})


def places(clean: Tree, pattern: str) -> Iterator[tuple[Path, Tree]]:
    """Where a fact stands on the clean machine; an item is added to a collection that is empty."""
    wanted = parse(pattern)
    known = [
        path
        for path in map(parse, clean.leaves)
        if path.pattern == wanted and not isinstance(clean.leaves[str(path)].reading, (Absent, Unknown))
    ]
    if known:
        yield known[0], clean
        return
    *_, (collection, _) = wanted.items or [("", "")]
    leaf = clean.leaves.get(collection)
    if leaf is None or leaf.reading != ():
        return
    prefix = f"{collection}/*."
    added = {collection: replace(leaf, reading=(ITEM,))}
    for other, entry in CATALOGUE.entries.items():
        if other.startswith(prefix) and "*" not in other.removeprefix(prefix):
            reading: Reading = CLEAN.get(entry.kind.type, Absent("clean"))
            path = f"{collection}/{ITEM}.{other.removeprefix(prefix)}"
            added[path] = Leaf(reading, entry.kind, entry.plane, "poison")
    yield parse(pattern.replace(prefix, f"{collection}/{ITEM}.")), Tree({**clean.leaves, **added}, clean.silent)


def poisoned_dgx(profile: Profile, pattern: str, clean: Tree) -> Poisoning | None:
    """Poison one fact of the simulated DGX; None if the machine does not have the fact."""
    for path, machine in places(clean, pattern):
        leaf = machine.leaves[str(path)]
        found = Poisoning(profile.name, pattern, str(path), "nothing", "")
        for rule in readers(profile, pattern):
            for value in values(rule, path, leaf.kind, leaf.reading):
                bad = Tree({**machine.leaves, str(path): replace(leaf, reading=value)}, machine.silent)
                status = _judged(rule, bad)
                found = replace(found, value=value, spared=rule.id if status is Status.NA else "")
                if status is Status.FAIL:
                    return replace(found, caught=rule.id)
        return found if found.value != "nothing" else _through_joins(profile, found, machine)
    return None


def _through_joins(profile: Profile, found: Poisoning, machine: Tree) -> Poisoning:
    """Poison a count from which a judged fact is derived: by one more, ten more, a hundred more, until a rule fails."""
    leaf = machine.leaves[found.path]
    for join in (each for each in registry().joins if found.pattern in each.needs):
        rules = {rule.id: rule for given in join.gives for rule in readers(profile, given)}.values()
        for step in (10**power for power in range(7)) if rules and isinstance(leaf.reading, int) else ():
            found = replace(found, value=int(leaf.reading) + step)  # type: ignore[arg-type]
            bad = Tree({**machine.leaves, found.path: replace(leaf, reading=found.value)}, machine.silent)
            bad = Tree({**bad.leaves, **derive((join,), bad)}, bad.silent)
            for rule in rules:
                if _judged(rule, bad) is Status.FAIL:
                    return replace(found, caught=rule.id)
    return found


def poisoned_rule(profile: Profile, pattern: str) -> Poisoning | None:
    """Poison one fact of a machine that satisfies a rule which reads it; None if no rule of the profile reads it."""
    found: Poisoning | None = None
    for rule in readers(profile, pattern):
        good = _satisfying(rule)
        if good is None:
            continue
        for path in [each for each in good if each.pattern == parse(pattern)][:1]:
            entry = CATALOGUE.entries[pattern]
            for value in values(rule, path, entry.kind, good[path]):
                found = Poisoning(profile.name, pattern, str(path), value, "")
                if _judged(rule, tree({**good, path: value}, CATALOGUE)) is Status.FAIL:
                    return replace(found, caught=rule.id)
    return found


def _satisfying(rule: Rule) -> Machine | None:
    made = (case for case in cases(rule, CATALOGUE, {}) if isinstance(case, Case) and case.status is Status.PASS)
    return next((case.machine for case in made), None)


def _judged(rule: Rule, machine: Tree) -> Status:
    return judge([replace(rule, needs=())], machine)[0].status


@cache
def wanted() -> Sequence[str]:
    """The patterns of all facts that need a rule and have no exemption."""
    spared = judged.exemptions()
    return tuple(
        sorted(e.pattern for e in CATALOGUE.entries.values() if judged.needs_rule(e) and e.pattern not in spared)
    )


@cache
def machine_profiles() -> Mapping[str, Profile]:
    """Every shipped profile for machines, with the values that a site must set."""
    loaded = {name: library.load(name, CATALOGUE) for name in library.profiles()}
    return {name: profile for name, profile in loaded.items() if not profile.fragment}


def on_dgx(without: str = "") -> Iterator[Poisoning]:
    """Poison every fact of the simulated DGX H100 that needs a rule; `without` removes a rule and poisons its facts."""
    profile, clean = library.load("h100-dgx", CATALOGUE, {"bmc_log_since": "24 h"}), dgx()
    removed = {str(f.pattern) for rule in profile.rules if rule.id == without for f in rule.facts()}
    profile = replace(profile, rules=tuple(rule for rule in profile.rules if rule.id != without))
    for pattern in wanted() if not without else sorted(removed.intersection(wanted())):
        done = poisoned_dgx(profile, pattern, clean)
        if done is not None:
            yield done


def on_others(*names: str, patterns: Collection[str] = ()) -> Iterator[Poisoning]:
    """Poison every fact that a deciding rule of these profiles reads, or these facts; without names, of all profiles."""
    for name, profile in machine_profiles().items():
        if not names or name in names:
            for pattern in patterns or wanted():
                done = poisoned_rule(profile, pattern)
                if done is not None:
                    yield done


def summary(done: Sequence[Poisoning]) -> str:
    """The numbers of the proof in one line."""
    caught, spared = sum(bool(each.caught) for each in done), sum(bool(each.spared) for each in done)
    reasons = Counter(each.reason.value for each in judged.exemptions().values())
    exempt = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return (
        f"poisoned {len(done)} ({len({each.pattern for each in done})} facts), caught {caught}, "
        f"n/a under the rule's own condition {spared}, missed {len(done) - caught - spared}; "
        f"exempt {sum(reasons.values())} facts: {exempt}"
    )
