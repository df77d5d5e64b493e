"""Finds traits that nodes may share: locations, connected switches, versions, and makes of parts. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from rackcheck.model import path as paths
from rackcheck.model.fact import Absent, Class, Unknown, clean
from rackcheck.views.census import Census
from rackcheck.views.items import folded_paths

CELLS = 24
"""Maximum number of characters of a hint in a column."""

LONG = 60
"""Maximum number of characters of a name or a value in a sentence."""

SHOWN = 3
"""Maximum number of shared traits that a sentence lists."""

SWITCH = frozenset({"nic.lldp/*.switch"})
"""Facts with the name of the switch that a port is cabled to."""

MAKE = frozenset({
    "model", "part", "part_number", "parts", "sku", "product", "product_version", "board", "board_version",
    "manufacturer", "vendor", "board_vendor",
})  # fmt: skip
"""Facts whose path ends in one of these words identify a part's make or batch."""


class HintKind(StrEnum):
    """The kinds of hints, the preferred kind first."""

    PROFILE = "profile"
    RACK = "rack"
    ROW = "row"
    SWITCH = "switch"
    PDU = "pdu"
    ROLE = "role"
    SLOT = "slot"
    VERSION = "version"
    BATCH = "batch"
    ALONE = "alone"


_ORDER = {sort: place for place, sort in enumerate(HintKind)}
_PLACED = {
    HintKind.RACK: "in rack",
    HintKind.ROW: "in row",
    HintKind.SWITCH: "cabled to switch",
    HintKind.PDU: "supplied by PDU",
    HintKind.ROLE: "of role",
    HintKind.SLOT: "in slot",
}


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of nodes: a location, or the same value of the facts at `paths`."""

    sort: HintKind
    value: str
    paths: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """The rank of the trait's kind; a lower rank is preferred."""
        return _ORDER[self.sort]

    @property
    def words(self) -> str:
        """The short text of the trait for a column."""
        if not self.paths or self.sort is HintKind.BATCH:
            return _cut(f"{self.sort.value} {self.value}")
        whole = f"{folded_paths(self.paths, 1)} {self.value}"
        return whole if len(whole) <= CELLS else _cut(f"{self.paths[0].rpartition('.')[2]} {self.value}")

    @property
    def phrase(self) -> str:
        """The text of the trait in a sentence: it follows `are` for a location, and `have` for a fact."""
        return f"{folded_paths(self.paths, SHOWN)} {self.value}" if self.paths else f"{_PLACED[self.sort]} {self.value}"


Hit = tuple[int, int, HintKind, str, str]
"""A trait: the nodes with it, the nodes on which it is known, its kind, its fact (empty for a location), its value."""


def traits(census: Census) -> Iterator[Hit]:
    """Yield the traits of the nodes of a census: locations, switches, and versions and makes of parts."""
    return chain(_places(census), _switches(census), _shared(census))


def gathered(found: Iterable[tuple[HintKind, str, str]]) -> list[Trait]:
    """Combine facts of the same kind with the same value to one trait; the preferred kind of trait is first."""
    alike: dict[tuple[HintKind, str], list[str]] = {}
    for sort, path, value in found:
        alike.setdefault((sort, value), []).append(path)
    every = [Trait(sort, value, tuple(filter(None, some))) for (sort, value), some in alike.items()]
    return sorted(every, key=lambda trait: trait.rank)


def pattern(path: str) -> str:
    """Return the pattern of a fact's path; empty for a location."""
    return str(paths.parse(path).pattern) if path else ""


def _places(census: Census) -> Iterator[Hit]:
    for sort in (HintKind.RACK, HintKind.ROW, HintKind.PDU, HintKind.ROLE, HintKind.SLOT):
        held = census.places(sort.value)
        known = _either(held)
        for word, nodes in held.items():
            yield nodes, known, sort, "", clean(word, LONG)


def _switches(census: Census) -> Iterator[Hit]:
    """Yield each switch with its connected nodes; a node is connected if any of its ports is cabled to the switch."""
    held: dict[str, int] = {}
    known = 0
    for path in census.facts():
        if pattern(path) in SWITCH:
            known |= census.known(path)
            for value, nodes in census.sets(path):
                if isinstance(value, str):
                    held[value] = held.get(value, 0) | nodes
    for word, nodes in held.items():
        yield nodes, known, HintKind.SWITCH, "", clean(word, LONG)


def _shared(census: Census) -> Iterator[Hit]:
    """Yield the versions and makes of parts that several nodes share."""
    for path in census.facts():
        kind = census.kind(path)
        version = kind is not None and kind.cls is Class.VERSION
        if version or path.rpartition(".")[2] in MAKE:
            some = [(value, nodes) for value, nodes in census.sets(path) if nodes & (nodes - 1)]
            known = census.known(path) if some else 0
            for value, nodes in some:
                if not isinstance(value, Unknown | Absent):
                    text = clean(census.spell(path, value), LONG)
                    yield nodes, known, HintKind.VERSION if version else HintKind.BATCH, path, text


def _either(sets: Mapping[str, int]) -> int:
    found = 0
    for held in sets.values():
        found |= held
    return found


def _cut(text: str) -> str:
    return text if len(text) <= CELLS else f"{text[: CELLS - 1]}…"
