"""The terms of a filter: what each asks of a row, in three-valued logic. Pure.

A term answers True, False, or None where nobody can tell. Only a comparison of facts can be None: what a row is called
and what its line says is always known.
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

TriState = bool | None

ORDERS: Mapping[str, str] = {"<": "below", "<=": "at-most", ">": "above", ">=": "at-least"}
"""The operators of an order, and what a profile calls each."""

_LIKE_PATH = re.compile(r"[a-z*][^/.*]*[/.*]|[*]")


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A row to be judged: what it has by key, the text it shows, and how its facts are read.

    `words` maps a key of `WORDS` to all that the row has of it; a key that is not there is a row that has none.
    `read` gives every reading of a pattern of facts, Unknown among them where one cannot be known, and none where there
    is no such item. Without it nobody can tell what a comparison asks.
    """

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    read: Callable[[Path], Iterable[Reading]] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """`state:fail,warn`: the row has one of these, by name or by glob."""

    key: str
    values: tuple[str, ...]

    def holds(self, subject: FilterRow) -> TriState:
        """Whether the row has any of them."""
        return any(named(self.key, value, word) for word in subject.words.get(self.key, ()) for value in self.values)

    def __str__(self) -> str:
        return f"{self.key}:{','.join(map(spelt, self.values))}"


@dataclass(frozen=True, slots=True)
class TextTerm:
    """`~sriov`: the row's text holds one of these, letter by letter; capitals make no difference."""

    values: tuple[str, ...]
    key: str = field(default=TEXT, init=False)

    def holds(self, subject: FilterRow) -> TriState:
        """Whether the text holds any of them."""
        return _in_text(self.values, subject)

    def __str__(self) -> str:
        return f"~{','.join(map(spelt, self.values))}"


@dataclass(frozen=True, slots=True)
class Bare:
    """A word alone: a node's name, and else rules and facts by name or glob where it looks so, or text."""

    values: tuple[str, ...]
    key: str = field(default=TEXT, init=False)

    def holds(self, subject: FilterRow) -> TriState:
        """Whether the row is called so, or holds it."""
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
    """`gpu/*.temperature>80C`: one of the facts of this pattern compares so; of several values one is enough."""

    path: Path
    op: str
    values: tuple[str, ...]
    tests: tuple[Test, ...]
    kind: Kind
    key: str = field(default=COMPARED, init=False)

    def holds(self, subject: FilterRow) -> TriState:
        """Whether any of them does; a fact that is absent compares with nothing."""
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
    """One thing that is asked, or its denial."""

    body: TermBody
    denies: bool = False

    def holds(self, subject: FilterRow) -> TriState:
        """Answer for one row; the denial of what nobody can tell is nothing that anybody could."""
        found = self.body.holds(subject)
        return denied(found) if self.denies else found

    def __str__(self) -> str:
        return f"{'!' * self.denies}{self.body}"


def denied(answer: TriState) -> TriState:
    """Deny an answer; None stays None."""
    return None if answer is None else not answer


def any_of(answers: Iterable[TriState]) -> TriState:
    """Join by or: one True is enough, else one None leaves it open."""
    found = set(answers)
    return True if True in found else None if None in found else False


def all_of(answers: Iterable[TriState]) -> TriState:
    """Join by and: one False is enough, else one None leaves it open."""
    found = set(answers)
    return False if False in found else None if None in found else True


def _in_text(values: Iterable[str], subject: FilterRow) -> bool:
    text = subject.text.casefold()
    return any(value.casefold() in text for value in values)


def _in_list(value: str, held: tuple[str, ...]) -> bool:
    return not held if value == "none" else any(operator.glob(value, each) for each in held)


def _fits(reading: Reading, kind: Kind) -> bool:
    """Whether a reading has the form of its kind: what an older release stored need not."""
    if kind.type is Type.LIST:
        return isinstance(reading, tuple)
    if kind.type is Type.FLAG:
        return isinstance(reading, bool)
    if kind.type in {Type.INTEGER, Type.QUANTITY}:
        return isinstance(reading, int | float) and not isinstance(reading, bool) and not math.isnan(reading)
    return not isinstance(reading, tuple)
