"""Test machines for one rule: the places where it holds, and each slight change that breaks it there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from machines import WORST, Machine, Want, answer, expected_words, now, other, put, solved, spot, spots, then
from near_values import ABSENT, beyond, neighbours

from rackcheck.evaluate.verdict import Status
from rackcheck.model.catalogue import Catalogue, Kind
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.operator import SIBLINGS, TWICE, Test
from rackcheck.model.path import Path
from rackcheck.model.profile import Clause, Rule

NODE = Path(())
HIDDEN = Unknown(Reason.DENIED, "taken away")
EXPECTED = "`expect-count`"
BEST = (Status.PASS, Status.WARN, Status.FAIL)


@dataclass(frozen=True)
class Case:
    """A machine, its expected verdict, and expected words of the reason; `word` is the rule's word that it breaks."""

    what: str
    machine: Machine
    status: Status
    says: str = ""
    word: str = ""


@dataclass(frozen=True)
class Gap:
    """Why a rule, or one of its words, cannot be proven."""

    text: str


Cases = Iterator[Case | Gap]


@dataclass(frozen=True)
class Bench:
    """A rule, and the machine on which the rules that it needs hold."""

    rule: Rule
    catalogue: Catalogue
    given: Machine

    def gates(self, at: Path) -> list[Want]:
        """Return what must hold for the rule to apply to a place at all."""
        where = self.rule.look.where if self.rule.look is not None else None
        return [Want(c, place, Status.PASS) for c, place in ((self.rule.when, NODE), (where, at)) if c is not None]

    def fits(self, at: Path, machine: Machine) -> bool:
        """Whether the rule's condition holds, and its look includes the item."""
        return all(answer(want.clause, want.at, machine) is want.status for want in self.gates(at))

    def comes_to(self, at: Path, machine: Machine) -> Status:
        """Return the result of the clauses at a place, siblings apart."""
        found = {answer(clause, at, machine) for clause in self.rule.clauses}
        order = WORST if self.rule.join == "all" else BEST
        return Status.UNKNOWN if Status.UNKNOWN in found else next(s for s in order if s in found)

    def variants(self, at: Path) -> Iterator[tuple[Machine, tuple[Clause, ...]]]:
        """Yield machines on which the rule holds at a place, each with the clauses that alone decide that."""
        gates, clauses = self.gates(at), self.rule.clauses
        if self.rule.join == "all":
            found = solved([*gates, *(Want(c, at, Status.PASS) for c in clauses)], self.given, self.catalogue)
            if found is not None:
                yield found, clauses
            return
        for one in clauses:
            rest = [Want(c, at, Status.FAIL) for c in clauses if c is not one]
            found = solved([*gates, Want(one, at, Status.PASS), *rest], self.given, self.catalogue)
            if found is not None:
                yield found, (one,)

    def wrong(self, machine: Machine, at: Path) -> Machine | None:
        """Break a place as slightly as possible: one clause of it, or all of them where one is enough to hold."""
        if self.rule.join == "all":
            changes = (c for clause in self.rule.clauses for c in self.changes(clause, at, machine))
            return next((m for _, m in changes if self.comes_to(at, m) is Status.FAIL and self.fits(at, m)), None)
        paths = {path for clause in self.rule.clauses for path in spots(clause, at)}
        kept = {path: reading for path, reading in machine.items() if path not in paths}
        return solved([*self.gates(at), *(Want(c, at, Status.FAIL) for c in self.rule.clauses)], kept, self.catalogue)

    def changes(self, clause: Clause, at: Path, machine: Machine) -> Iterator[tuple[str, Machine]]:
        """Change a clause's facts just enough to break it, for each of its words; then make the fact absent."""
        here, far = spot(clause, at), other(clause, at)
        for test in clause.tests:
            if test.op in SIBLINGS:
                continue
            if test.op in TWICE:
                tried = [(then(here), value) for value in _moved(test, machine[here], clause.kind)]
            elif far is None or test.op != "same-as":
                tried = [(here, value) for value in beyond(test, clause.kind)]
            else:
                tried = [(path, value) for path in (here, far) for value in self._others(path, machine)]
            for path, value in tried:
                changed = put(machine, path, value)
                if clause.twice and path == here and not isinstance(value, Absent):
                    changed = put(changed, then(here), value)  # the value is wrong, and not its change
                yield self.word(clause, test), changed
        if not any(test.op == "present" for test in clause.tests):
            yield "", put(machine, here, ABSENT)

    def _others(self, path: Path, machine: Machine) -> tuple[Reading, ...]:
        entry, value = self.catalogue.find(path), machine[path]
        assert entry is not None
        assert not isinstance(value, (Absent, Unknown))
        return (*neighbours(value, entry.kind), ABSENT)

    def word(self, clause: Clause, test: Test) -> str:
        return f"`{test.op}` of {clause.fact}" if clause.fact.segments else f"`{test.op}`"

    def words(self) -> set[str]:
        """Every word of the rule that must be able to decide it."""
        number = {EXPECTED} if self.rule.look is not None and self.rule.look.expect_count is not None else set[str]()
        return number | {self.word(clause, test) for clause in self.rule.clauses for test in clause.tests}

    def idle(self) -> set[str]:
        """Return every word of a condition or a choice that every value of its fact meets."""
        gates = [want.clause for want in self.gates(NODE)]
        tests = [(c, t) for c in gates for t in c.tests if t.op not in TWICE | {"same-as"} and not beyond(t, c.kind)]
        return {self.word(clause, test) for clause, test in tests}

    def broken(
        self, machine: Machine, at: Path, deciding: Sequence[Clause]
    ) -> Iterator[tuple[str, Machine, Status, str]]:
        """Yield each change that breaks a place: the broken word, the machine, the result, and words of the reason."""
        for clause in deciding:
            for word, change in self.changes(clause, at, machine):
                changed = self.regated(at, change)
                status = self.comes_to(at, changed)
                if status in {Status.FAIL, Status.WARN} and self.fits(at, changed):
                    guilty = next(c for c in self.rule.clauses if answer(c, at, changed) is status)
                    yield word, changed, status, expected_words(guilty, at, changed)

    def risen(self, machine: Machine, at: Path, deciding: Sequence[Clause]) -> Iterator[tuple[str, Machine]]:
        """Increase each counter by the greatest permitted amount."""
        for clause in deciding:
            here = spot(clause, at)
            for test in (t for t in clause.tests if t.op == "rate"):
                first = machine[here]
                assert isinstance(first, int)
                assert isinstance(test.operand, int | float)
                yield self.word(clause, test), put(machine, then(here), first + int(test.operand))

    def regated(self, at: Path, machine: Machine) -> Machine:
        """Adapt the other facts of the rule's gates to a change of a fact that both read."""
        if self.fits(at, machine):
            return machine
        judged = {path for clause in self.rule.clauses for path in spots(clause, at)}
        free = {path for want in self.gates(at) for path in spots(want.clause, want.at)} - judged
        kept = {path: reading for path, reading in machine.items() if path not in free}
        return solved(self.gates(at), kept, self.catalogue) or machine

    def hidden(self, machine: Machine, at: Path, deciding: Sequence[Clause]) -> Cases:
        """Hide each deciding fact in turn: the result is unknown."""
        where = self.rule.look.where if self.rule.look is not None else None
        for clause in (*deciding, *((where,) if where is not None else ())):
            yield from _hidden(clause, at, machine)

    def condition(self, machine: Machine) -> Cases:
        """Break the rule's condition, then hide its facts."""
        if self.rule.when is None:
            return
        for _, changed in self.changes(self.rule.when, NODE, machine):
            if answer(self.rule.when, NODE, changed) is not Status.PASS:
                yield Case(
                    "`when` false", changed, Status.NA, expected_words(self.rule.when, NODE, changed).partition(", ")[0]
                )
        yield from _hidden(self.rule.when, NODE, machine)


def _hidden(clause: Clause, at: Path, machine: Machine) -> Cases:
    """Hide each fact of a clause; the reason must name it."""
    here, *far = spots(clause, at)
    says = {here: f"{here} unknown ({HIDDEN})"} | {p: str(p) if now(p) is p else "second reading" for p in far}
    yield from (Case(f"{p} unknown", put(machine, p, HIDDEN), Status.UNKNOWN, says[p]) for p in says)


def _moved(test: Test, first: Reading, kind: Kind) -> tuple[Reading, ...]:
    """Return second readings that are only just too far from the first, and an absent one."""
    assert not isinstance(first, Absent | Unknown)
    if test.op == "steady":
        return (*neighbours(first, kind), ABSENT)
    assert isinstance(first, int)
    assert isinstance(test.operand, int | float)
    return (first + int(test.operand) + 1, ABSENT)
