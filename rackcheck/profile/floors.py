"""Finds the floors of a rule (minimum values that it requires), and compares them with the peaks of hardware parts."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rackcheck.model import unit
from rackcheck.model.catalogue import Type
from rackcheck.model.operator import Test, Within
from rackcheck.model.path import Path
from rackcheck.model.profile import Clause, Profile, Rule
from rackcheck.model.unit import BadUnit
from rackcheck.profile.document import Scalar, YamlNode
from rackcheck.profile.physical_limits import ANY, Peak, closest, of, slip
from rackcheck.profile.physical_limits import peaks as read_peaks

FLOORS = frozenset({"at-least", "above", "warn-below", "within"})
"""Operators that require a minimum.

The values of `is` and `one-of` are also compared with the peak, because they must be possible.
"""

NAMED_BY = frozenset({"name", "model", "product", "type", "device", "part", "architecture", "board"})
"""Last path segments of facts whose value names a hardware part, such as its model."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A minimum that a rule requires, in the unit of its fact, and the peaks of the parts it applies to."""

    clause: Clause
    test: Test
    fact: str
    number: float
    peaks: tuple[Peak, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The dictionary keys that lead from the clause to the minimum: the operator, and `of` for `within`."""
        return (self.test.op, "of") if isinstance(self.test.operand, Within) else (self.test.op,)

    @property
    def for_any_part(self) -> bool:
        """Whether the peak applies to every part, because the profile names no part that the table contains."""
        return any(ANY in peak.parts for peak in self.peaks)

    @property
    def most(self) -> float:
        """The highest of the peaks, in the unit of the fact."""
        return max(self._numbers())

    @property
    def least(self) -> float:
        """The lowest of the peaks, in the unit of the fact."""
        return min(self._numbers())

    @property
    def too_high(self) -> bool:
        """Whether the required minimum exceeds every peak."""
        return all(peak.passed_by(self.number, self.clause.kind.unit) for peak in self.peaks)

    def text(self) -> str:
        """Format a message that the floor is above the peak, or that it is so low that it can hardly fail."""
        name = self.clause.kind.unit
        most = max(self.peaks, key=lambda peak: peak.in_unit(name) or 0.0)
        share = self.number / self.most
        asked = f"{unit.spell(self.number, name)} of {self.fact}"
        can = f"{unit.spell(self.most, name)} ({most.shape}; {most.source})"
        if self.too_high:
            return f"floor {asked} is above the peak of {can}"
        return f"floor {asked} is {share:.2g} of the peak of {can}: it can hardly fail"

    def meant(self, written: str) -> str:
        """Format a hint with the unit in which the written number would be possible (Gb/s for GB/s); empty if none."""
        try:
            quantity = unit.parse(written)
        except BadUnit:
            return ""
        right = slip(quantity.number, quantity.unit, self.most, self.clause.kind.unit)
        return f"; did you mean {quantity.number:.10g} {right}?" if right else ""

    def _numbers(self) -> list[float]:
        found = (peak.in_unit(self.clause.kind.unit) for peak in self.peaks)
        return [number for number in found if number is not None]


def below(floor: Floor, part: int) -> bool:
    """Whether a floor is a minimum, and is below 1/`part` of the lowest peak."""
    return floor.test.op in FLOORS and 0 < floor.number < floor.least / part


def floors(rule: Rule, profile: Profile, table: Sequence[Peak]) -> Iterator[Floor]:
    """Yield every floor of a rule whose fact has a peak in the table."""
    for clause in rule.clauses:
        if clause.kind.type is not Type.QUANTITY:
            continue
        fact = str(_whole(rule, clause).pattern)
        of_fact = [peak for peak in of(table, fact) if peak.in_unit(clause.kind.unit) is not None]
        found = closest(of_fact, words_of(rule, profile)) if of_fact else ()
        for test in clause.tests if found else ():
            for number in _bounds(test):
                yield Floor(clause, test, fact, number, found)


@cache
def shipped_peaks() -> tuple[Peak, ...]:
    """Read the table of physical peaks that is shipped with rackcheck."""
    return read_peaks(json.loads((files("rackcheck") / "peaks.json").read_text("utf-8")))


def as_written(node: YamlNode | None, profile: Profile) -> str:
    """Return an operand as the file writes it, or for `$name` the param's value; empty if it is not a single value."""
    text = node.text if isinstance(node, Scalar) else ""
    return (profile.params.get(text[1:]) or "") if text.startswith("$") else text


def words_of(rule: Rule, profile: Profile) -> tuple[str, ...]:
    """Return the names of hardware parts in a rule's tests.

    If a rule's tests do not name a part, return the part names in all rules of the profile and the products in
    `applies-to`.
    """
    own = tuple(_named(rule))
    if own:
        return own
    others = tuple(word for other in profile.rules for word in _named(other))
    return tuple(dict.fromkeys((*others, *profile.applies_to.get("product", ()))))


def _named(rule: Rule) -> Iterator[str]:
    for clause in rule.parts():
        if not clause.fact.segments or clause.fact.segments[-1].word not in NAMED_BY:
            continue
        for test in clause.tests:
            if test.op in {"is", "like"}:
                yield str(test.operand)
            elif test.op == "one-of" and isinstance(test.operand, tuple):
                yield from map(str, test.operand)


def _whole(rule: Rule, clause: Clause) -> Path:
    return clause.fact if rule.look is None else rule.look.collection.item("*") + clause.fact


def _bounds(test: Test) -> Iterator[float]:
    operand = test.operand
    if isinstance(operand, Within):
        yield operand.of - (abs(operand.of) * operand.by / 100 if operand.share else operand.by)
    elif test.op in FLOORS | {"is"} and isinstance(operand, (int, float)) and not isinstance(operand, bool):
        yield float(operand)
    elif test.op == "one-of" and isinstance(operand, tuple):
        yield from (float(number) for number in operand if isinstance(number, (int, float)))
