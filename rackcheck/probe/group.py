"""Facts of a rack, or of the whole fleet: computed from those of its nodes, and judged by ordinary rules. Pure.

They obey the law of information as all facts that follow from others: what a silent node might have said makes them
unknown, unless they would be the same whatever it had said.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry, Kind
from rackcheck.model.fact import Facts, Plane, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.inputs import Inputs
from rackcheck.model.profile import Scope
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import typed


@dataclass(frozen=True, slots=True)
class Seat:
    """A node that the inventory expects: its name, its role and its rack."""

    name: str
    role: str = "compute"
    rack: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are judged together; its `name` can be no node's: `@rack:a01`, `@fleet`."""

    name: str
    scope: Scope
    seats: tuple[Seat, ...]


FLEET = "@fleet"


def is_group(name: str) -> bool:
    """Whether a name is that of nodes that are judged together, and no node's."""
    return name.startswith("@")


def groups(expected: Sequence[Seat], asked: frozenset[str]) -> Iterator[Group]:
    """Every rack all of whose nodes are asked, and the fleet where all nodes are; by name, as their nodes are."""
    racks: dict[str, list[Seat]] = {}
    expected = sorted(expected, key=lambda seat: natural(seat.name))
    for seat in expected:
        if seat.rack:
            racks.setdefault(seat.rack, []).append(seat)
    for rack, seats in sorted(racks.items(), key=lambda item: natural(item[0])):
        if all(seat.name in asked for seat in seats):
            yield Group(f"@rack:{rack}", Scope.RACK, tuple(seats))
    if len(expected) > 1 and all(seat.name in asked for seat in expected):
        yield Group(FLEET, Scope.FLEET, tuple(expected))


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a group, and what may be read of it: the facts that were declared, or what was made of them."""

    seat: Seat
    facts: Inputs
    own: object = None

    def reading(self, path: str) -> Reading:
        """What is known at a path of this node."""
        return self.facts.reading(path)

    def items(self, collection: str) -> tuple[tuple[str, ...], Unknown | None]:
        """The names of a collection's items, and why they may not be all."""
        names, why = self.facts.items(collection)
        return names, self.told(why)

    def told(self, why: Unknown | None) -> Unknown | None:
        """The same reason, with the node that it is of."""
        return None if why is None else Unknown(why.reason, f"{self.seat.name}: {why.detail}".rstrip(": "))


Gather = Callable[[Sequence[Member]], Facts]

Distil = Callable[[Inputs], object]
"""Makes what is held of a node, where a fleet of trees would be too large."""


@dataclass(frozen=True, slots=True)
class Distilled:
    """What one gathering holds of a node in place of its facts, of which the newest came at `newest`."""

    own: object
    newest: str = ""


class Fault(str):
    """Why nothing could be made of a node's facts."""


@dataclass(frozen=True)
class Gathering:
    """Facts of a group from those of its nodes: what it needs of each, what it promises, and how.

    Facts in `also` are read where the run collected them, and add no plane; those of them in `beside` are planned for
    on planes that are asked anyway.
    """

    name: str
    scope: Scope
    needs: tuple[str, ...]
    gives: Mapping[str, Kind]
    gather: Gather = field(compare=False)
    help: str = ""
    planes: Mapping[str, Plane] = field(default_factory=dict, compare=False)
    inputs: frozenset[Plane] = field(default_factory=frozenset, compare=False)
    also: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    distil: Distil | None = field(default=None, compare=False)

    @property
    def reads(self) -> tuple[str, ...]:
        """Every fact of a node that it may read."""
        return (*self.needs, *self.beside, *self.also)

    def bound(self, catalogue: Catalogue) -> "Gathering":
        """The same, knowing on which plane each fact is read that it needs; LookupError on one that nobody gives."""
        planes: dict[str, Plane] = {}
        inputs: set[Plane] = set()
        for need in self.reads:
            entry = catalogue.find(paths.parse(need))
            if entry is None:
                raise LookupError(f"it needs {need}, which no probe gives")
            planes[need] = entry.plane
            inputs |= (entry.inputs or {entry.plane}) if need in self.needs else set()
        return replace(self, planes=planes, inputs=frozenset(inputs))

    def distilled(self, tree: Tree) -> Distilled:
        """Make what is held of a node in place of its facts."""
        assert self.distil is not None
        newest = max((leaf.time for path in self.reads if (leaf := tree.leaves.get(path)) is not None), default="")
        try:
            return Distilled(self.distil(Inputs(tree, self.planes)), newest)
        except Exception as error:  # noqa: BLE001  it may be anybody's code: its fault costs its own facts only
            return Distilled(Fault(clean(repr(error))), newest)

    def member(self, seat: Seat, held: Tree | Distilled) -> Member:
        """Give a node as it is gathered, from its facts or from what was made of them."""
        if isinstance(held, Tree) and self.distil is None:
            return Member(seat, Inputs(held, self.planes))
        own = self.distilled(held).own if isinstance(held, Tree) else held.own
        if isinstance(own, Fault):
            raise TypeError(own)
        return Member(seat, Inputs(_EMPTY, self.planes), own)

    def entries(self) -> Iterable[Entry]:
        """What it adds to the catalogue, once it is bound."""
        return (Entry(pattern, kind, Plane.DERIVED, self.name, self.inputs) for pattern, kind in self.gives.items())


def gathering(
    scope: Scope,
    *,
    needs: Iterable[str] = (),
    also: Iterable[str] = (),
    beside: Iterable[str] = (),
    gives: Mapping[str, Kind],
    distil: Distil | None = None,
) -> Callable[[Gather], Gathering]:
    """Make one of the function below; name and help are the function's, as with a probe."""
    needed, read, planned = tuple(needs), tuple(also), tuple(beside)
    for pattern in gives:
        if paths.parse(pattern).segments[0].word != scope.value:
            raise ValueError(f"{pattern} is no fact of a {scope.value}")

    def made(gather: Gather) -> Gathering:
        doc = (gather.__doc__ or "").strip().splitlines()
        name = getattr(gather, "__name__", "gathering")
        words = doc[0] if doc else ""
        return Gathering(name, scope, needed, dict(gives), gather, words, also=read, beside=planned, distil=distil)

    return made


_EMPTY = Tree({})


def gathered(group: Group, known: Iterable[Gathering], held: Mapping[str, Tree | Distilled], time: str) -> Tree:
    """Compute the facts of a group from what is held of its nodes, all of which must be there."""
    leaves: dict[str, Leaf] = {}
    for each in known:
        if each.scope is group.scope:
            leaves |= _told(each, [(seat, held[seat.name]) for seat in group.seats], time)
    return Tree(leaves)


def _told(each: Gathering, nodes: Sequence[tuple[Seat, Tree | Distilled]], time: str) -> Mapping[str, Leaf]:
    source = f"from {', '.join((*each.needs, *each.beside))} of {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}"
    leaves: dict[str, Leaf] = {}
    left = Unknown(Reason.NOT_COLLECTED, "what it follows from does not say")
    try:
        for path, told in each.gather(tuple(each.member(*node) for node in nodes)):
            kind = each.gives[str(paths.parse(path).pattern)]
            reading = told.reading if isinstance(told, Sourced) else told
            leaves[path] = Leaf(typed(reading, kind), kind, Plane.DERIVED, source, time)
    except Unreadable as error:
        left = Unknown(error.reason, clean(str(error)))
    except Exception as error:  # noqa: BLE001  it may be anybody's code: its fault costs its own facts only
        left = Unknown(Reason.UNPARSABLE, f"{each.name} failed: {clean(repr(error))}")
    for pattern, kind in each.gives.items():
        leaves.setdefault(pattern, Leaf(left, kind, Plane.DERIVED, source, time))
    return leaves
