"""The common code of derived facts: of a node, of a node among its siblings, of a rack and of the fleet. Pure.

A derivation declares its inputs and the facts it provides, and collects nothing. All derivations obey the law of
information: a fact derived from an unknown fact is unknown, unless every possible value of the unknown fact gives the
same result. Each fact that a derivation declares gets a reading, which is unknown if the derivation yields none.
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
    """Derived facts: the inputs, the declared facts, and the function that computes them.

    Facts in `also` are optional: they are read if they are collected for other reasons, and they add no plane. Facts in
    `beside` are optional, but are added to the plan if their plane is collected for other reasons. `inputs` are the
    planes from which the facts in `needs` are collected.
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
        """Return every fact that the derivation may read."""
        return (*self.needs, *self.beside, *self.also)

    def bound(self, catalogue: Catalogue) -> Self:
        """Return a copy with the plane of each fact; raises LookupError for a fact that no probe provides."""
        planes: dict[str, Plane] = {}
        inputs: set[Plane] = set()
        for need in self.reads:
            entry = catalogue.find(paths.parse(need))
            if entry is None:
                raise LookupError(f"it needs {need}, which no probe provides")
            planes[need] = entry.plane
            inputs |= (entry.inputs or {entry.plane}) if need in self.needs else set()
        return replace(self, planes=planes, inputs=frozenset(inputs))

    def entries(self) -> Iterable[Entry]:
        """Return the catalogue entries of the declared facts; `bound` must have been called before."""
        return (Entry(pattern, kind, Plane.DERIVED, self.name, self.inputs) for pattern, kind in self.gives.items())


def described(function: Callable[..., object]) -> tuple[str, str]:
    """Return the name and the help of a derivation: the name of its function, and the first line of the docstring."""
    doc = (function.__doc__ or "").strip().splitlines()
    return getattr(function, "__name__", "derivation"), doc[0] if doc else ""


ItemPlaces = Callable[[str], Iterable[str]]
"""A function that returns the paths of one node that match a declared pattern."""


def leaf(each: Derivation[Function], path: str, value: Reading | Sourced, source: str) -> Leaf:
    """Make a leaf of one reading; raises KeyError if the path was not declared."""
    kind = each.gives[str(paths.parse(path).pattern)]
    reading = value.reading if isinstance(value, Sourced) else value
    return Leaf(typed(reading, kind), kind, Plane.DERIVED, source)


class Ending:
    """Catches the exceptions of a derivation, which may be third-party code: only its own facts become unknown.

    If the exception was not expected, the name of the derivation is appended to `failures`.
    """

    def __init__(self, what: str, failures: list[str] | None = None) -> None:
        self._what, self._failures = what, failures
        self._left = Unknown(Reason.NOT_COLLECTED, "cannot be derived from its inputs")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, Unreadable):
            self._left = Unknown(error.reason, clean(str(error)))
        elif isinstance(error, Exception):
            self._left = Unknown(Reason.UNPARSABLE, f"{self._what} failed: {clean(repr(error))}")
            if self._failures is not None:
                self._failures.append(self._what)
        return error is None or isinstance(error, Exception)

    def fill(
        self, leaves: dict[str, Leaf], each: Derivation[Function], places: ItemPlaces, source: str
    ) -> Mapping[str, Leaf]:
        """Set each declared fact without a reading to unknown, with the reason."""
        for pattern, kind in each.gives.items():
            for place in places(pattern):
                leaves.setdefault(place, Leaf(self._left, kind, Plane.DERIVED, source))
        return leaves


def places_of(each: Derivation[Function], tree: Tree) -> ItemPlaces:
    """Return a function that lists the paths of one node that match a declared pattern.

    For the pattern of a collection, the function lists no paths.
    """

    def places(pattern: str) -> Iterable[str]:
        if each.gives[pattern].type is Type.COLLECTION:
            return ()
        return map(str, _places(paths.parse(pattern), tree))

    return places


def _places(pattern: Path, tree: Tree) -> Iterator[Path]:
    """Yield every path that a pattern matches among the known items of a tree."""
    star = next((i for i, segment in enumerate(pattern.segments) if segment.key == EVERY), None)
    if star is None:
        yield pattern
        return
    owner = Path((*pattern.segments[:star], paths.Segment(pattern.segments[star].word)))
    for item in tree.select(owner, Plane.DERIVED).items:
        yield from _places(Path(item.segments + pattern.segments[star + 1 :]), tree)
