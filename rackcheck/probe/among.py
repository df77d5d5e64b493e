"""Facts that a node has among its siblings: how far a GPU lies from what others like it reach. Pure.

They are computed once all nodes have told what they need, and then judged by ordinary rules of the node. They obey the
law of information as all facts that follow from others; whoever computes them says what a silent sibling makes unknown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.model.fact import Plane, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import EVERY, Path
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import typed
from rackcheck.probe.group import Member, Seat

Told = Iterator[tuple[str, str, Reading | Sourced]]
"""What a comparison yields: a node's name, a path and its reading."""

Compare = Callable[[Sequence[Member]], Told]


@dataclass(frozen=True)
class Comparison:
    """Facts of nodes from those of all of them: what it needs of each, what it promises of each, and how."""

    name: str
    needs: tuple[str, ...]
    gives: Mapping[str, Kind]
    compare: Compare = field(compare=False)
    help: str = ""
    planes: Mapping[str, Plane] = field(default_factory=dict, compare=False)
    inputs: frozenset[Plane] = field(default_factory=frozenset, compare=False)

    def bound(self, catalogue: Catalogue) -> "Comparison":
        """The same, knowing on which plane each fact is read that it needs; LookupError on one that nobody gives."""
        planes: dict[str, Plane] = {}
        inputs: set[Plane] = set()
        for need in self.needs:
            entry = catalogue.find(paths.parse(need))
            if entry is None:
                raise LookupError(f"it needs {need}, which no probe gives")
            planes[need] = entry.plane
            inputs |= entry.inputs or {entry.plane}
        return replace(self, planes=planes, inputs=frozenset(inputs))

    def entries(self) -> Iterable[Entry]:
        """What it adds to the catalogue, once it is bound."""
        return (Entry(pattern, kind, Plane.DERIVED, self.name, self.inputs) for pattern, kind in self.gives.items())


def comparison(*, needs: Iterable[str], gives: Mapping[str, Kind]) -> Callable[[Compare], Comparison]:
    """Make one of the function below; name and help are the function's, as with a probe."""
    needed = tuple(needs)
    for pattern in (*needed, *gives):
        paths.parse(pattern)

    def made(compare: Compare) -> Comparison:
        doc = (compare.__doc__ or "").strip().splitlines()
        return Comparison(
            getattr(compare, "__name__", "comparison"), needed, dict(gives), compare, doc[0] if doc else ""
        )

    return made


def compared(
    known: Iterable[Comparison], seats: Sequence[Seat], trees: Mapping[str, Tree], time: str
) -> Mapping[str, Mapping[str, Leaf]]:
    """Give the facts that each node has among the others, by node; a seat without a tree says nothing."""
    found: dict[str, dict[str, Leaf]] = {name: {} for name in trees}
    here = [seat for seat in seats if seat.name in trees]
    for each in known:
        members = tuple(Member(seat, Inputs(trees[seat.name], each.planes)) for seat in here)
        for name, leaves in _told(each, members, trees, time).items():
            found[name] |= leaves
    return found


def _told(
    each: Comparison, members: Sequence[Member], trees: Mapping[str, Tree], time: str
) -> Mapping[str, Mapping[str, Leaf]]:
    source = f"from {', '.join(each.needs)} of {len(members)} {'node' if len(members) == 1 else 'nodes'}"
    found: dict[str, dict[str, Leaf]] = {member.seat.name: {} for member in members}
    left = Unknown(Reason.NOT_COLLECTED, "what it follows from does not say")
    try:
        for node, path, told in each.compare(members):
            kind = each.gives[str(paths.parse(path).pattern)]
            reading, said = (told.reading, told.source) if isinstance(told, Sourced) else (told, source)
            found[node][path] = Leaf(typed(reading, kind), kind, Plane.DERIVED, said, time)
    except Unreadable as error:
        left = Unknown(error.reason, clean(str(error)))
    except Exception as error:  # noqa: BLE001  it may be anybody's code: its fault costs its own facts only
        left = Unknown(Reason.UNPARSABLE, f"{each.name} failed: {clean(repr(error))}")
    for member in members:
        for pattern, kind in each.gives.items():
            for place in _places(paths.parse(pattern), trees[member.seat.name]):
                if kind.type is not Type.COLLECTION:
                    found[member.seat.name].setdefault(str(place), Leaf(left, kind, Plane.DERIVED, source, time))
    return found


def _places(pattern: Path, tree: Tree) -> Iterator[Path]:
    """Every path that a pattern stands for among the items of a node; the pattern itself where these are unknown."""
    star = next((i for i, segment in enumerate(pattern.segments) if segment.key == EVERY), None)
    if star is None:
        yield pattern
        return
    owner = Path((*pattern.segments[:star], paths.Segment(pattern.segments[star].word)))
    for item in tree.select(owner, Plane.DERIVED).items:
        yield from _places(Path(item.segments + pattern.segments[star + 1 :]), tree)
