"""Facts from facts: of a node, of a node among others, of a rack or the fleet. One engine for all of them. Pure.

A derivation declares what it needs and what it gives. It reads no node, and it obeys the law of information: what
follows from something unknown is unknown, unless every value of it would give the same. Each promise ends as a reading.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.model.fact import Plane, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.path import EVERY, Path
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import typed

Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True)
class Derivation(Generic[Function]):
    """Facts from facts: what it needs, what it promises, and how the one gives the other.

    Facts in `also` are read where the run collected them for other reasons, and add no plane; those of them in `beside`
    are planned for on planes that are asked anyway. `inputs` are the planes that its needs come from.
    """

    name: str
    needs: tuple[str, ...]
    gives: Mapping[str, Kind]
    function: Function = field(compare=False)
    help: str = ""
    planes: Mapping[str, Plane] = field(default_factory=dict, compare=False)
    inputs: frozenset[Plane] = field(default_factory=frozenset, compare=False)
    also: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Every fact that it may read."""
        return (*self.needs, *self.beside, *self.also)

    def bound(self, catalogue: Catalogue) -> Self:
        """The same, knowing on which plane each fact is read; LookupError on one that no probe gives."""
        planes: dict[str, Plane] = {}
        inputs: set[Plane] = set()
        for need in self.reads:
            entry = catalogue.find(paths.parse(need))
            if entry is None:
                raise LookupError(f"it needs {need}, which no probe gives")
            planes[need] = entry.plane
            inputs |= (entry.inputs or {entry.plane}) if need in self.needs else set()
        return replace(self, planes=planes, inputs=frozenset(inputs))

    def entries(self) -> Iterable[Entry]:
        """What it adds to the catalogue, once it is bound."""
        return (Entry(pattern, kind, Plane.DERIVED, self.name, self.inputs) for pattern, kind in self.gives.items())


def described(function: Callable[..., object]) -> tuple[str, str]:
    """Give the name and the help of a derivation: those of its function, as with a probe."""
    doc = (function.__doc__ or "").strip().splitlines()
    return getattr(function, "__name__", "derivation"), doc[0] if doc else ""


ItemPlaces = Callable[[str], Iterable[str]]
"""The paths that a promised pattern stands for."""


def leaf(each: Derivation[Function], path: str, value: Reading | Sourced, source: str, time: str) -> Leaf:
    """Make a leaf of one reading; KeyError for a path that was not promised."""
    kind = each.gives[str(paths.parse(path).pattern)]
    reading = value.reading if isinstance(value, Sourced) else value
    return Leaf(typed(reading, kind), kind, Plane.DERIVED, source, time)


class Ending:
    """Catches what a derivation raises: it may be anybody's code, and its fault costs its own facts only."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._left = Unknown(Reason.NOT_COLLECTED, "what it follows from does not say")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, Unreadable):
            self._left = Unknown(error.reason, clean(str(error)))
        elif isinstance(error, Exception):
            self._left = Unknown(Reason.UNPARSABLE, f"{self._what} failed: {clean(repr(error))}")
        return error is None or isinstance(error, Exception)

    def fill(
        self, leaves: dict[str, Leaf], each: Derivation[Function], places: ItemPlaces, source: str, time: str
    ) -> Mapping[str, Leaf]:
        """Let each promise that has no reading end as unknown, with why."""
        for pattern, kind in each.gives.items():
            for place in places(pattern):
                leaves.setdefault(place, Leaf(self._left, kind, Plane.DERIVED, source, time))
        return leaves


def places_of(each: Derivation[Function], tree: Tree) -> ItemPlaces:
    """Give for a promised pattern its paths among the items of a node; none for a collection, unknown by itself."""

    def places(pattern: str) -> Iterable[str]:
        if each.gives[pattern].type is Type.COLLECTION:
            return ()
        return map(str, _places(paths.parse(pattern), tree))

    return places


def _places(pattern: Path, tree: Tree) -> Iterator[Path]:
    """Every path that a pattern stands for among the items of a tree; of items that are not known, none."""
    star = next((i for i, segment in enumerate(pattern.segments) if segment.key == EVERY), None)
    if star is None:
        yield pattern
        return
    owner = Path((*pattern.segments[:star], paths.Segment(pattern.segments[star].word)))
    for item in tree.select(owner, Plane.DERIVED).items:
        yield from _places(Path(item.segments + pattern.segments[star + 1 :]), tree)
