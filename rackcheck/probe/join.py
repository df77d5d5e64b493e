"""Facts that follow from others: which port a GPU hangs below, which NIC is nearest to it.

A join reads facts of a node's tree and gives others; it asks nobody. It obeys the law of information: what follows
from something unknown is unknown, unless every value of it would give the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.model.fact import Absent, Facts, Plane, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import EVERY, Path
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import typed

Derive = Callable[[Inputs], Facts]


@dataclass(frozen=True)
class Join:
    """Facts from facts: what it needs, what it promises, and how the one gives the other.

    Facts in `also` are read where the run collected them for other reasons: they are never planned for, and add no
    plane.
    """

    name: str
    needs: tuple[str, ...]
    gives: Mapping[str, Kind]
    derive: Derive = field(compare=False)
    help: str = ""
    planes: Mapping[str, Plane] = field(default_factory=dict, compare=False)
    also: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Every fact that it may read."""
        return (*self.needs, *self.also)

    def bound(self, catalogue: Catalogue) -> "Join":
        """The same, knowing on which plane each fact is read that it needs; LookupError on one that nobody gives."""
        planes: dict[str, Plane] = {}
        for need in self.reads:
            entry = catalogue.find(paths.parse(need))
            if entry is None:
                raise LookupError(f"it needs {need}, which no probe gives")
            planes[need] = entry.plane
        return replace(self, planes=planes)

    def entries(self) -> Iterable[Entry]:
        """What this join adds to the catalogue, once it is bound."""
        inputs = frozenset(self.planes[need] for need in self.needs if need in self.planes)
        return (Entry(pattern, kind, Plane.DERIVED, self.name, inputs) for pattern, kind in self.gives.items())


def join(*, needs: Iterable[str], also: Iterable[str] = (), gives: Mapping[str, Kind]) -> Callable[[Derive], Join]:
    """Make a join of the function below; name and help are the function's, as with a probe."""
    needed, beside = tuple(needs), tuple(also)
    for pattern in (*needed, *beside, *gives):
        paths.parse(pattern)

    def made(derive: Derive) -> Join:
        doc = (derive.__doc__ or "").strip().splitlines()
        name = getattr(derive, "__name__", "join")
        return Join(name, needed, dict(gives), derive, doc[0] if doc else "", also=beside)

    return made


def derive(joins: Iterable[Join], tree: Tree, time: str) -> Mapping[str, Leaf]:
    """Give the facts that follow from those of a node."""
    found: dict[str, Leaf] = {}
    for each in joins:
        found |= _told(each, Inputs(tree, each.planes), time)
    return found


def _told(each: Join, inputs: Inputs, time: str) -> Mapping[str, Leaf]:
    """Let one join speak; each of its promises ends as a reading."""
    source = f"from {', '.join(each.needs)}"
    leaves: dict[str, Leaf] = {}
    left: Unknown = Unknown(Reason.NOT_COLLECTED, "what it follows from does not say")
    try:
        for path, told in each.derive(inputs):
            kind = each.gives[str(paths.parse(path).pattern)]
            reading = told.reading if isinstance(told, Sourced) else told
            leaves[path] = Leaf(typed(reading, kind), kind, Plane.DERIVED, source, time)
    except Unreadable as error:
        left = Unknown(error.reason, clean(str(error)))
    except Exception as error:  # noqa: BLE001  a join may be anybody's code: its fault costs its own facts only
        left = Unknown(Reason.UNPARSABLE, f"join {each.name} failed: {clean(repr(error))}")
    for pattern, kind in each.gives.items():
        for place in _places(paths.parse(pattern), inputs.tree):
            if kind.type is not Type.COLLECTION:
                leaves.setdefault(str(place), Leaf(left, kind, Plane.DERIVED, source, time))
    return leaves


def _places(pattern: Path, tree: Tree) -> Iterator[Path]:
    """Every path that a pattern stands for among the items of the tree."""
    star = next((i for i, segment in enumerate(pattern.segments) if segment.key == EVERY), None)
    if star is None:
        yield pattern
        return
    owner = Path((*pattern.segments[:star], paths.Segment(pattern.segments[star].word)))
    for item in tree.select(owner, Plane.DERIVED).items:
        yield from _places(Path(item.segments + pattern.segments[star + 1 :]), tree)


def settled(readings: Iterable[Reading]) -> Unknown | None:
    """Give the first that is not known of readings that must all be; none where they are."""
    return next((reading for reading in readings if isinstance(reading, Unknown)), None)


def known(reading: Reading) -> bool:
    """Whether there is a value: neither absent nor unknown."""
    return not isinstance(reading, (Absent, Unknown))
