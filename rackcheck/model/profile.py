"""A profile as typed values: what its rules select, what they require, and the texts for users."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256

from rackcheck.model.catalogue import Kind
from rackcheck.model.evidence import Evidence, Status
from rackcheck.model.fact import Plane
from rackcheck.model.fit import wanted
from rackcheck.model.operator import TWICE, Test, expectation
from rackcheck.model.path import Path, parse
from rackcheck.model.python_rule import Called
from rackcheck.model.sibling_silence import Siblings

FIRST, SECOND, LAW = 1, 2, 3
"""Versions of the law of evidence, which derives a node's outcome from its verdicts.

`FIRST` requires no evidence. `SECOND` excuses each unknown verdict of a rule with `unknown: minor`. `LAW`, the current
version, does not excuse such a verdict on a node if a source returned a reply that is broken, cut or late.
"""


class Severity(StrEnum):
    """How serious the failure of a rule is."""

    BLOCKER = "blocker"
    MAJOR = "major"
    MINOR = "minor"
    ADVISORY = "advisory"

    @property
    def decides(self) -> bool:
        """Whether a rule of this severity can make a node FAIL or INCOMPLETE."""
        return self in {Severity.BLOCKER, Severity.MAJOR}


class Phase(StrEnum):
    """The kind of check in which a rule is judged: of the configuration, in a burn-in, or of the fabric."""

    CONFIG = "config"
    BURN_IN = "burn-in"
    FABRIC = "fabric"


class Scope(StrEnum):
    """The object that a rule judges: a node, a whole rack, or the whole inventory."""

    NODE = "node"
    RACK = "rack"
    FLEET = "fleet"


@dataclass(frozen=True, slots=True)
class Clause:
    """One fact and its tests, all of which must hold.

    `other` is the fact with which `same-as` compares, and `other_plane` its plane; `other_at_item` is set if the path
    `other` starts at the selected item. `siblings` is set if the tests could pass because `fact` is absent, and if the
    items with `fact` have siblings; `other_siblings` is set under the same two conditions for the fact `other`.
    """

    fact: Path
    kind: Kind
    plane: Plane
    tests: tuple[Test, ...]
    other: Path | None = None
    other_plane: Plane = Plane.OS
    other_at_item: bool = False
    inputs: frozenset[Plane] = frozenset()  # planes of the inputs of a derived fact
    siblings: Siblings | None = None
    other_siblings: Siblings | None = None
    expected: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = " and ".join(expectation(test, self.kind) for test in self.tests)
        object.__setattr__(self, "expected", text)  # computed once, and not for each item of each node

    @property
    def twice(self) -> bool:
        """Whether two readings of the fact are compared."""
        return any(test.op in TWICE for test in self.tests)

    def without_siblings(self) -> "Clause":
        """Return a copy of the clause that is judged without regard to siblings."""
        return replace(self, siblings=None, other_siblings=None)


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The items that a rule selects; `mode` is each, any, no or count.

    `siblings` is set if the collection is inside items that have siblings, so that an empty collection may be
    incomplete.
    """

    mode: str
    collection: Path
    plane: Plane
    where: Clause | None = None
    expect_count: int | None = None
    allow_failing: int = 0
    allow_empty: bool = False
    siblings: Siblings | None = None


@dataclass(frozen=True, slots=True)
class AgreedFact:
    """A fact on which nodes must agree; a pattern (`nic/*.firmware`) means the fact of every item."""

    fact: Path
    kind: Kind
    plane: Plane
    inputs: frozenset[Plane] = frozenset()


@dataclass(frozen=True, slots=True)
class Across:
    """Nodes of one role that must agree: a value is right if `quorum` % of the expected nodes have it."""

    role: str
    shared: tuple[AgreedFact, ...]
    quorum: float
    left: frozenset[Path] = frozenset()  # facts of individual items that may differ


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a figure or a rule."""

    id: str
    title: str
    section: str
    publisher: str
    date: str
    confidence: str

    @property
    def from_memory(self) -> bool:
        """Whether the figure is cited from memory, without a check against the source.

        A rule that cites only sources with unchecked figures may warn, but never fails.
        """
        return self.confidence.startswith("from memory")


@dataclass(frozen=True, slots=True)
class Rule:
    """One complete rule: its selection, clauses and texts; `digest` covers everything that decides its verdict.

    `built_in` rules belong to every profile. With `unknown_is_minor`, an unknown verdict is shown, but does not affect
    the outcome, unless a reply was unusable; `excuses_all` removes this exception.
    """

    id: str
    clauses: tuple[Clause, ...]
    look: RuleSelection | None = None
    join: str = "all"
    when: Clause | None = None
    needs: tuple[str, ...] = ()
    severity: Severity = Severity.MAJOR
    phase: Phase = Phase.CONFIG
    roles: tuple[str, ...] = ("compute",)
    title: str = ""
    why: str = ""
    fix: str = ""
    refs: tuple[str, ...] = ()
    from_memory: bool = False
    unset: tuple[str, ...] = ()
    place: str = ""
    digest: str = field(default="", compare=False)
    scope: Scope = Scope.NODE
    across: Across | None = None
    called: Called | None = None
    built_in: bool = False
    unknown_is_minor: bool = False
    excuses_all: bool = False

    def decides(self, status: Status, evidence: Iterable[Evidence] = ()) -> bool:
        """Whether a verdict of this rule with this status and evidence affects the outcome of a node.

        Verdicts of blocker and major rules affect the outcome, except those that the rule excuses.
        """
        return self.severity.decides and not self.excuses(status, evidence)

    def excuses(self, status: Status, evidence: Iterable[Evidence]) -> bool:
        """Whether a verdict is unknown without an effect on the outcome: a machine may lack a source of the facts.

        A source that exists and returns a broken, cut or late reply is not excused: the reply may hide a failure. A
        rule about a rack or the fleet excuses such a source, too: in most cases its node returned nothing at all, and
        is INCOMPLETE by the rules about the node itself.
        """
        if not self.unknown_is_minor or status is not Status.UNKNOWN:
            return False
        return self.excuses_all or self.scope is not Scope.NODE or not any(each.unusable for each in evidence)

    @property
    def planes(self) -> frozenset[Plane]:
        """Every plane this rule reads."""
        found = {clause.plane for clause in self.parts()}
        found |= {clause.other_plane for clause in self.parts() if clause.other is not None}
        if self.look is not None:
            found.add(self.look.plane)
        if self.called is not None:
            found |= self.called.inputs
        shared = self.across.shared if self.across is not None else ()
        found |= {each.plane for each in shared}
        return frozenset(found).union(*(c.inputs for c in self.parts()), *(each.inputs for each in shared))

    @property
    def twice(self) -> bool:
        """Whether this rule compares two readings of one run."""
        return any(clause.twice for clause in self.clauses)

    def parts(self) -> tuple[Clause, ...]:
        """Every clause, including the clauses of `where` and `when`."""
        where = self.look.where if self.look is not None else None
        return (*self.clauses, *(c for c in (where, self.when) if c is not None))

    def kin(self) -> frozenset[Path]:
        """The facts that are read to compare items with their siblings, in addition to `facts`; none adds a plane."""
        found: set[Path] = set()
        item = Path(()) if self.look is None else self.look.collection.item("*")
        if self.look is not None and self.look.siblings is not None:
            found |= {self.look.collection.pattern, *self.look.siblings.facts()}
        for clause in self.parts():
            at = Path(()) if clause is self.when else item
            if clause.siblings is not None:
                found |= {(at + clause.fact).pattern, *clause.siblings.facts()}
            if clause.other is not None and clause.other_siblings is not None:
                other = item + clause.other if clause.other_at_item else clause.other
                found |= {other.pattern, *clause.other_siblings.facts()}
        return frozenset(found)

    def without_siblings(self) -> "Rule":
        """Return a copy of the rule that is judged without regard to siblings."""
        look, when = self.look, self.when
        if look is not None:
            where = look.where.without_siblings() if look.where is not None else None
            look = replace(look, where=where, siblings=None)
        return replace(
            self,
            clauses=tuple(clause.without_siblings() for clause in self.clauses),
            look=look,
            when=when.without_siblings() if when is not None else None,
        )

    def facts(self) -> frozenset[Path]:
        """Every fact and collection that this rule reads, as path patterns that start at the node."""
        found: set[Path] = {each.fact for each in self.across.shared} if self.across is not None else set()
        if self.called is not None:
            found |= set(map(parse, self.called.facts))
        item = Path(()) if self.look is None else self.look.collection.item("*")
        if self.look is not None:
            found.add(self.look.collection)
        for clause in self.parts():
            inside = self.look is not None and clause is not self.when and clause.fact.segments
            if clause.fact.segments:
                found.add(item + clause.fact if inside else clause.fact)
            if clause.other is not None:
                found.add(item + clause.other if clause.other_at_item else clause.other)
        return frozenset(found)


@dataclass(frozen=True)
class Profile:
    """A profile with its parents merged in; `dropped` maps each removed rule to its reason.

    `files` contains the texts of the profile's files, so that a stored run can be judged the same way later.
    `applies_to` contains the globs of the machines that the profile is for, by key (product, board, cpu, device, role).
    A `fragment` gives no verdict on a machine; `meant` names the profile that the user may have meant instead.
    """

    name: str
    version: str
    title: str
    rules: tuple[Rule, ...]
    applies_to: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    params: Mapping[str, str | None] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    lineage: tuple[str, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    digest: str = ""
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    fragment: bool = False
    meant: str = field(default="", compare=False)
    law: int = LAW

    @property
    def machines(self) -> str:
        """A digest of `applies_to`, which affects the outcome as rules do; empty if the profile names no machine."""
        if not self.applies_to:
            return ""
        named = {key: list(globs) for key, globs in self.applies_to.items()}
        return sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()

    @property
    def own(self) -> tuple[Rule, ...]:
        """The rules of the profile, its parents and its fragments, without the built-in rules."""
        return tuple(rule for rule in self.rules if not rule.built_in)

    def facts(self) -> frozenset[Path]:
        """Every fact that the rules read, and the facts that identify the machine.

        A built-in rule is included only if the profile's own rules, apart from rules of the burn-in, read all planes
        from which its facts are collected. Facts that identify the machine are included only for planes that the
        profile's own rules, apart from rules of the burn-in, read.
        """
        own = self.own
        planes = frozenset[Plane]().union(*(rule.planes for rule in own if rule.phase is not Phase.BURN_IN))
        beside = (rule for rule in self.rules if rule.built_in and rule.planes <= planes | {Plane.DERIVED})
        machine = wanted(self.applies_to, planes) if planes and self.law != FIRST else frozenset[Path]()
        return machine.union(*(each for rule in (*own, *beside) for each in (rule.facts(), rule.kin())))

    def spare_facts(self) -> frozenset[Path]:
        """Every fact that only rules with `unknown_is_minor` read."""
        needed = (r for r in self.rules if not r.unknown_is_minor)
        return self.facts().difference(*(each for r in needed for each in (r.facts(), r.kin())))

    def under(self, law: int) -> "Profile":
        """Return the profile under an earlier law.

        The laws before `LAW` excuse every unknown verdict of a rule with `unknown_is_minor`. Under the first
        law, there are no built-in rules, and siblings are not compared.
        """
        if law == self.law:
            return self
        assert FIRST <= law < self.law, f"law {law} is not one of {FIRST} to {self.law}"
        excusing = tuple(replace(rule, excuses_all=True) for rule in self.rules)
        if law == SECOND:
            return replace(self, law=law, rules=excusing)
        own = tuple(rule.without_siblings() for rule in excusing if not rule.built_in)
        return replace(self, law=law, rules=own, fragment=False)

    def twice(self) -> frozenset[Path]:
        """Every fact for which a rule compares two readings."""
        found: set[Path] = set()
        for rule in self.rules:
            item = Path(()) if rule.look is None else rule.look.collection.item("*")
            found |= {item + clause.fact for clause in rule.clauses if clause.twice}
        return frozenset(found)
