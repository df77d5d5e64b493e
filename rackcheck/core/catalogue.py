"""What facts there are: type, unit, scheme, class and a sentence of help for each path pattern."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.core import path as paths
from rackcheck.core.fact import Class, Plane
from rackcheck.core.path import Path
from rackcheck.core.version import SCHEMES


class Type(StrEnum):
    """The type of a known reading."""

    FLAG = "flag"
    INTEGER = "integer"
    QUANTITY = "quantity"
    TEXT = "text"
    VERSION = "version"
    LIST = "list"
    SETTING = "setting"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a fact means, wherever it stands."""

    type: Type
    help: str
    unit: str = ""
    scheme: str = ""
    cls: Class = Class.CONFIG
    words: tuple[str, ...] = ()
    unlimited: bool = False

    @property
    def ordered(self) -> bool:
        """Whether `at-least` and its kin make sense."""
        if self.type is Type.VERSION:
            return self.scheme != "opaque"
        return self.type in {Type.INTEGER, Type.QUANTITY, Type.SETTING}

    def __str__(self) -> str:
        extra = self.unit or self.scheme
        return f"{self.type.value} {extra}".strip()


def flag(help: str, cls: Class = Class.CONFIG) -> Kind:  # noqa: A002  the field's word
    """Give a true or false."""
    return Kind(Type.FLAG, help, cls=cls)


def integer(help: str, cls: Class = Class.CONFIG, *, unlimited: bool = False) -> Kind:  # noqa: A002
    """Give a whole number; with `unlimited`, that word is a number above all."""
    return Kind(Type.INTEGER, help, cls=cls, unlimited=unlimited)


def quantity(unit: str, help: str, cls: Class = Class.CONFIG, *, unlimited: bool = False) -> Kind:  # noqa: A002
    """Give a number in a unit of the table."""
    return Kind(Type.QUANTITY, help, unit=unit, cls=cls, unlimited=unlimited)


def text(help: str, cls: Class = Class.CONFIG, words: Iterable[str] = ()) -> Kind:  # noqa: A002
    """Give a text; `words` closes the set of what it may say."""
    return Kind(Type.TEXT, help, cls=cls, words=tuple(words))


def version(scheme: str, help: str) -> Kind:  # noqa: A002
    """Give a version that its scheme can order (or, opaque, only tell apart)."""
    if scheme not in SCHEMES:
        raise ValueError(f"no version scheme {scheme!r}; there are {', '.join(SCHEMES)}")
    return Kind(Type.VERSION, help, scheme=scheme, cls=Class.VERSION)


def listing(help: str, cls: Class = Class.CONFIG) -> Kind:  # noqa: A002
    """Give a list of texts."""
    return Kind(Type.LIST, help, cls=cls)


def setting(help: str, cls: Class = Class.CONFIG) -> Kind:  # noqa: A002
    """Give a tunable as its plane spells it: compared as a number where both sides are one, else as text."""
    return Kind(Type.SETTING, help, cls=cls)


def collection(help: str) -> Kind:  # noqa: A002
    """Declare a map of items by name; the probe that declares it knows all of them."""
    return Kind(Type.COLLECTION, help)


@dataclass(frozen=True, slots=True)
class Entry:
    """One path pattern of the catalogue, with who gives it."""

    pattern: str
    kind: Kind
    plane: Plane
    probe: str
    inputs: frozenset[Plane] = frozenset()  # of a derived fact: the planes of what it follows from


FAMILY = ".**"
"""Ends a pattern that stands for every path below a word (`sysctl.**`)."""


class Clash(ValueError):
    """Two probes give the same fact."""


@dataclass(frozen=True)
class Catalogue:
    """All entries, by pattern."""

    entries: Mapping[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Catalogue":
        """Gather entries; a pattern given twice raises Clash with both givers."""
        found: dict[str, Entry] = {}
        for entry in entries:
            other = found.setdefault(entry.pattern, entry)
            if other is not entry:
                raise Clash(f"{entry.pattern} is given by both {other.probe} and {entry.probe}")
        return cls(found)

    def find(self, path: Path) -> Entry | None:
        """Find the entry of a fact or a pattern of facts; none if no probe gives it."""
        exact = self.entries.get(str(path)) or self.entries.get(str(path.pattern))
        if exact is not None:
            return exact
        words = path.segments
        for cut in range(len(words) - 1, 0, -1):
            family = self.entries.get(f"{Path(words[:cut]).pattern}{FAMILY}")
            if family is not None:
                return family
        return None

    def near(self, path: str, *, within: str = "") -> list[str]:
        """Name the catalogue's closest spellings of a path, at most three; `within` keeps one collection's facts."""
        known = {e.removeprefix(within) for e in self.entries if e.startswith(within)}
        try:
            asked = str(paths.parse(path).pattern)
        except paths.BadPath:
            asked = path
        return difflib.get_close_matches(asked.removeprefix(within), sorted(known), n=3, cutoff=0.6)
