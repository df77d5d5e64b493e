"""Forms of typed values as JSON and back, for files that the program keeps for itself.

A form is a pair of functions. A value that has no form raises TypeError or ValueError, and so does JSON of another
shape: nothing but the named classes can be made from a file.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, NamedTuple


class Form(NamedTuple):
    """How values of one type are written as JSON, and read back."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _same(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is not a plain value")


PLAIN = Form(_same, _same)
"""The form of texts, numbers, booleans and None."""


def words(kind: type[Enum]) -> Form:
    """Return the form of an enumeration, by the values of its members."""
    known = {member.value: member for member in kind}
    return Form(lambda member: kind(member).value, known.__getitem__)


def several(one: Form) -> Form:
    """Return the form of a tuple of values."""
    return Form(
        lambda values: [one.write(v) for v in _a(tuple, values)], lambda doc: tuple(map(one.read, _a(list, doc)))
    )


def unordered(one: Form) -> Form:
    """Return the form of a frozen set, written in the order of its JSON."""
    return Form(
        lambda values: sorted((one.write(value) for value in _a(frozenset, values)), key=repr),
        lambda doc: frozenset(map(one.read, _a(list, doc))),
    )


def maybe(one: Form) -> Form:
    """Return the form of a value or None."""
    return Form(
        lambda value: None if value is None else one.write(value), lambda doc: None if doc is None else one.read(doc)
    )


def table(one: Form) -> Form:
    """Return the form of a mapping from texts."""
    return Form(
        lambda values: {name: one.write(value) for name, value in values.items()},
        lambda doc: {name: one.read(value) for name, value in _a(dict, doc).items()},
    )


def record(kind: type, /, **forms: Form) -> Form:
    """Return the form of a dataclass: a row of the fields that its constructor takes, plain where no form is given."""
    named = [(each.name, forms.pop(each.name, PLAIN)) for each in fields(kind) if each.init]
    if forms:
        raise TypeError(f"{kind.__name__} has no field {', '.join(forms)}")
    reads = [None if form is PLAIN else form.read for _, form in named]

    def read(row: Any) -> Any:
        if len(row) != len(reads):
            raise ValueError(f"not a {kind.__name__}")
        return kind(*[each if how is None else how(each) for how, each in zip(reads, row, strict=True)])

    return Form(lambda value: [form.write(getattr(_a(kind, value), name)) for name, form in named], read)


@dataclass
class Shared:
    """Values that many others share: each is written once in `rows`, and elsewhere by its number.

    One object is for one document: `form` must write all values before `rows` are stored, and `rows` must be set before
    `form` reads a number. Equal values become one object.
    """

    one: Form

    def __post_init__(self) -> None:
        self.rows: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self._made: dict[int, Any] = {}
        self.form = Form(self._write, self._read)

    def _write(self, value: Hashable) -> int:
        if value not in self._numbers:
            row = self.one.write(value)
            self._numbers[value] = len(self.rows)
            self.rows.append(row)
        return self._numbers[value]

    def _read(self, number: int) -> Any:
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self.one.read(self.rows[number])
        return made


def _a(kind: type, value: Any) -> Any:
    if value.__class__ is not kind:
        raise TypeError(f"{type(value).__name__} in place of {kind.__name__}")
    return value


def only(doc: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the values of a document that has exactly these names; raises ValueError if it has others."""
    if not isinstance(doc, dict) or set(doc) != set(names):
        raise ValueError("a document of another shape")
    return [doc[name] for name in names]
