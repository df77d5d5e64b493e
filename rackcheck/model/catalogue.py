"""The catalogue of facts: the type, unit, version scheme, class and help of each path pattern."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rackcheck.model import path as paths
from rackcheck.model.fact import Class, Plane
from rackcheck.model.path import EVERY, Path
from rackcheck.model.version import SCHEMES


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
    """What is fixed about a fact, whichever node it is from: its type, unit, class and help."""

    type: Type
    help: str
    unit: str = ""
    scheme: str = ""
    cls: Class = Class.CONFIG
    words: tuple[str, ...] = ()
    unlimited: bool = False
    view: bool = False
    """True if this is the vendor-neutral form of another fact; a machine may report only the other fact."""
    alike: tuple[str, ...] | None = None
    """For a collection: the facts that must be equal for two items to be siblings, as paths that start at the node."""
    vacant: str = ""
    """For a collection: the fact whose value is the text `Absent` if an item's position (slot, socket) is empty."""
    final: bool = False
    """Whether an absent fact stays absent although siblings of the item have the fact."""

    @property
    def ordered(self) -> bool:
        """Whether values of this kind can be ordered, so that `at-least` and similar operators apply."""
        if self.type is Type.VERSION:
            return self.scheme != "opaque"
        return self.type in {Type.INTEGER, Type.QUANTITY, Type.SETTING}

    def __str__(self) -> str:
        extra = self.unit or self.scheme
        return f"{self.type.value} {extra}".strip()


def flag(help: str, cls: Class = Class.CONFIG) -> Kind:  # noqa: A002  the name of the field
    """Return the kind of a fact that is true or false."""
    return Kind(Type.FLAG, help, cls=cls)


def integer(help: str, cls: Class = Class.CONFIG, *, unlimited: bool = False) -> Kind:  # noqa: A002
    """Return the kind of an integer; with `unlimited`, the word `unlimited` is a valid value, above any number."""
    return Kind(Type.INTEGER, help, cls=cls, unlimited=unlimited)


def quantity(unit: str, help: str, cls: Class = Class.CONFIG, *, unlimited: bool = False) -> Kind:  # noqa: A002
    """Return the kind of a number with a unit; `unit` must be a unit of `rackcheck.model.unit`."""
    return Kind(Type.QUANTITY, help, unit=unit, cls=cls, unlimited=unlimited)


def text(help: str, cls: Class = Class.CONFIG, words: Iterable[str] = ()) -> Kind:  # noqa: A002
    """Return the kind of a text; `words` contains all valid values, or is empty if every text is valid."""
    return Kind(Type.TEXT, help, cls=cls, words=tuple(words))


def version(scheme: str, help: str) -> Kind:  # noqa: A002
    """Return the kind of a version that `scheme` can order; `opaque` versions are only compared for equality."""
    if scheme not in SCHEMES:
        raise ValueError(f"no version scheme {scheme!r}; there are {', '.join(SCHEMES)}")
    return Kind(Type.VERSION, help, scheme=scheme, cls=Class.VERSION)


def listing(help: str, cls: Class = Class.CONFIG) -> Kind:  # noqa: A002
    """Return the kind of a list of texts."""
    return Kind(Type.LIST, help, cls=cls)


def setting(help: str, cls: Class = Class.CONFIG) -> Kind:  # noqa: A002
    """Return the kind of a tunable, which is kept as text; two values that are integers are compared as integers."""
    return Kind(Type.SETTING, help, cls=cls)


def collection(help: str, alike: Iterable[str] | None = None, vacant: str = "") -> Kind:  # noqa: A002
    """Return the kind of a collection of named items; the probe that declares the collection lists all items.

    Items are siblings if their facts `alike` are equal; if `alike` is empty, all items are siblings; if `alike` is
    None, no items are siblings. The facts in `alike` belong to the item or to an item above it (`nic/*.type` for
    `nic/*.port`). An item whose fact `vacant` reads `Absent` is an empty position and has no siblings.
    """
    return Kind(Type.COLLECTION, help, alike=None if alike is None else tuple(alike), vacant=vacant)


def view(kind: Kind) -> Kind:
    """Mark a kind as the vendor-neutral form of another fact; a machine may report only the other fact."""
    return replace(kind, view=True)


def final(kind: Kind) -> Kind:
    """Mark a kind for which absence is a valid value: an absent fact stays absent even if siblings have the fact."""
    return replace(kind, final=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """One path pattern of the catalogue, with its kind, its plane, and the probe that provides its facts."""

    pattern: str
    kind: Kind
    plane: Plane
    probe: str
    inputs: frozenset[Plane] = frozenset()  # for a derived fact: the planes of its inputs


FAMILY = ".**"
"""Suffix of a pattern for all paths with the same beginning: `sysctl.**` matches `sysctl.vm.swappiness`."""


KNOWN = 8192
"""Maximum number of paths that a catalogue keeps with their kinds."""


class Clash(ValueError):
    """Raised if two probes provide the same fact."""


@dataclass(frozen=True)
class Catalogue:
    """The catalogue entries of all facts, by path pattern."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    _known: dict[str, Kind | None] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Catalogue":
        """Build a catalogue; a duplicate pattern raises Clash, which names both probes."""
        found: dict[str, Entry] = {}
        for entry in entries:
            other = found.setdefault(entry.pattern, entry)
            if other is not entry:
                raise Clash(f"{entry.pattern} is provided by both {other.probe} and {entry.probe}")
        return cls(found)

    def find(self, path: Path) -> Entry | None:
        """Return the entry of a fact or a pattern of facts; None if no probe provides it."""
        exact = self.entries.get(path.text) or self.entries.get(path.pattern.text)
        if exact is not None:
            return exact
        words = path.segments
        for cut in range(len(words) - 1, 0, -1):
            family = self.entries.get(f"{Path(words[:cut]).pattern}{FAMILY}")
            if family is not None:
                return family
        return None

    def kind(self, text: str) -> Kind | None:
        """Return the kind of the fact with this spelling; None for a pattern, and for an undeclared path.

        Raises BadPath for an invalid path. Results are cached, since the nodes of a run have mostly the same paths.
        """
        try:
            return self._known[text]
        except KeyError:
            pass
        pattern = paths.plain_pattern(text)
        entry = None if pattern is None else self.entries.get(text) or self.entries.get(pattern)
        if entry is None:
            path = paths.parse(text)
            entry = None if path.starred else self.find(path)
        if len(self._known) >= KNOWN:
            self._known.clear()
        found = self._known[text] = None if entry is None else entry.kind
        return found

    def near(self, path: str, *, within: str = "") -> list[str]:
        """Return up to three existing paths with a similar spelling, filled with the keys of the given path.

        `within` is a prefix of patterns, such as `gpu/*.`: only paths with this prefix are searched, and they are
        returned without the prefix.
        """
        known = sorted(e.removeprefix(within) for e in self.entries if e.startswith(within) and not e.endswith(FAMILY))
        bare = path.removeprefix(within)
        try:
            asked: Path | None = paths.parse(bare)
        except paths.BadPath:
            asked = None
        found = _close(bare if asked is None else str(asked.pattern), known)
        if asked is None:
            return found
        whole = str(asked.pattern)
        if within and whole.startswith(within) and whole.removeprefix(within) in known:
            return [str(Path(asked.segments[within.count(".") :]))]  # from the node, not from the item
        keys = [segment.key for segment in asked.segments if segment.key is not None]
        # Patterns (`gpu/*.name`) come last if the path has no key: they need a selection, and are not facts of the
        # node.
        found.sort(key=lambda pattern: not keys and EVERY in pattern)
        return [str(paths.parse(pattern).fill(keys)) for pattern in found]


def _close(asked: str, known: list[str]) -> list[str]:
    near = difflib.get_close_matches(asked, known, n=3, cutoff=0.6)
    if near or "." in asked:
        return near
    # The first word does not exist: the shortest facts below the closest existing word are shown.
    first = difflib.get_close_matches(asked, {pattern.partition(".")[0] for pattern in known}, n=1, cutoff=0.6)
    below = [pattern for pattern in known if first and pattern.startswith(f"{first[0]}.") and EVERY not in pattern]
    return sorted(below, key=len)[:3]
