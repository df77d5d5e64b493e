"""The terms of a filter: each is a condition on a row, evaluated in three-valued logic. Pure.

The result of a term is True, False, or None for unknown. Only the comparison of a fact can be None: the names and the
text of a row are always known.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rackcheck.filter.words import COMPARED, TEXT, named, spelt
from rackcheck.model import operator
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.operator import Test
from rackcheck.model.path import Path
from rackcheck.model.regex import regex

TriState = bool | None

ORDERS: Mapping[str, str] = {"<": "below", "<=": "at-most", ">": "above", ">=": "at-least"}
"""The order operators of a filter, and the names of the same operators in a profile."""

_LIKE_PATH = regex(r"[a-z*][^/.*]*[/.*]|[*]")


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A row that a filter may select: its values by key, its visible text, and a function that reads its facts.

    `words` maps each key in `WORDS` to all values that the row has for it; a key without values has no entry. `read`
    returns the values of all facts that match a pattern; the value of an unknown fact is an Unknown. If no fact matches
    the pattern, `read` returns no values. If `read` is None, every comparison of a fact is unknown.
    """

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    read: Callable[[Path], Iterable[Reading]] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A term like `state:fail,warn`: the row has one of these values, in which `*` and `?` are wildcards."""

    key: str
    values: tuple[str, ...]

    def holds(self, subject: FilterRow) -> TriState:
        """Whether the row has one of the values of this term."""
        return any(named(self.key, value, word) for word in subject.words.get(self.key, ()) for value in self.values)

    def __str__(self) -> str:
        return f"{self.key}:{','.join(map(spelt, self.values))}"


@dataclass(frozen=True, slots=True)
class TextTerm:
    """A term like `~sriov`: the row's text contains one of the values; upper and lower case are equal."""

    values: tuple[str, ...]
    key: str = field(default=TEXT, init=False)

    def holds(self, subject: FilterRow) -> TriState:
        """Whether the row's text contains any of the texts."""
        return _in_text(self.values, subject)

    def __str__(self) -> str:
        return f"~{','.join(map(spelt, self.values))}"


@dataclass(frozen=True, slots=True)
class Bare:
    """A word without a key, such as `dgx01` or `bios.*`: it matches a node, a rule, a fact, or the text of a row.

    A word like `bios.*`, in the form of a path, matches rules and facts by glob or by the beginning of their names; a
    word in another form matches the row's text.
    """

    values: tuple[str, ...]
    key: str = field(default=TEXT, init=False)

    def holds(self, subject: FilterRow) -> TriState:
        """Whether any of the words matches a name in the row, or the row's text."""
        return any(self._one(value, subject) for value in self.values)

    def _one(self, value: str, subject: FilterRow) -> bool:
        if any(named("node", value, word) for word in subject.words.get("node", ())):
            return True
        if not _LIKE_PATH.match(value):
            return _in_text((value,), subject)
        names = (word for key in ("rule", "fact") for word in subject.words.get(key, ()))
        return any(operator.glob(value, name) or name.startswith(value) for name in names)

    def __str__(self) -> str:
        return ",".join(f'"{v}"' if '"' not in v and re.search("[<>=]", v) else spelt(v) for v in self.values)


@dataclass(frozen=True, slots=True)
class ComparisonTerm:
    """A term like `gpu/*.temperature>80C`: a fact that matches the path meets the comparison with one of the values."""

    path: Path
    op: str
    values: tuple[str, ...]
    tests: tuple[Test, ...]
    kind: Kind
    key: str = field(default=COMPARED, init=False)

    def holds(self, subject: FilterRow) -> TriState:
        """Whether any fact meets the comparison; an absent fact never meets it."""
        if subject.read is None:
            return None
        return any_of(self._one(reading) for reading in subject.read(self.path))

    def _one(self, reading: Reading) -> TriState:
        if isinstance(reading, Absent):
            return False
        if isinstance(reading, Unknown) or not _fits(reading, self.kind):
            return None
        if isinstance(reading, tuple):
            equal: TriState = any(_in_list(value, reading) for value in self.values)
        else:
            rows = (operator.holds(test, reading, self.kind) for test in self.tests)
            equal = any_of(None if isinstance(each, Unknown) else each for each in rows)
        return denied(equal) if self.op == "!=" else equal

    def __str__(self) -> str:
        values = (f'"{v}"' if '"' not in v and v[0] in "<>=" else spelt(v) for v in self.values)
        return f"{self.path}{self.op}{','.join(values)}"


TermBody = Named | TextTerm | Bare | ComparisonTerm


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a filter: a condition, or the negation of a condition."""

    body: TermBody
    denies: bool = False

    def holds(self, subject: FilterRow) -> TriState:
        """Evaluate the condition for one row; if the condition is unknown, its negation is unknown too."""
        found = self.body.holds(subject)
        return denied(found) if self.denies else found

    def __str__(self) -> str:
        return f"{'!' * self.denies}{self.body}"


def denied(answer: TriState) -> TriState:
    """Negate the result of a term; None (unknown) stays None."""
    return None if answer is None else not answer


def any_of(answers: Iterable[TriState]) -> TriState:
    """Combine results by "or": True if any result is True, else None if any is None, else False."""
    found = set(answers)
    return True if True in found else None if None in found else False


def all_of(answers: Iterable[TriState]) -> TriState:
    """Combine results by "and": False if any result is False, else None if any is None, else True."""
    found = set(answers)
    return False if False in found else None if None in found else True


def _in_text(values: Iterable[str], subject: FilterRow) -> bool:
    text = subject.text.casefold()
    return any(value.casefold() in text for value in values)


def _in_list(value: str, held: tuple[str, ...]) -> bool:
    return not held if value == "none" else any(operator.glob(value, each) for each in held)


def _fits(reading: Reading, kind: Kind) -> bool:
    """Whether the value of a fact has the fact's type; a value stored by an older release may have another type."""
    if kind.type is Type.LIST:
        return isinstance(reading, tuple)
    if kind.type is Type.FLAG:
        return isinstance(reading, bool)
    if kind.type in {Type.INTEGER, Type.QUANTITY}:
        return isinstance(reading, int | float) and not isinstance(reading, bool) and not math.isnan(reading)
    return not isinstance(reading, tuple)
