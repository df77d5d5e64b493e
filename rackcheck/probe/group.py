"""Facts of a rack, or of the whole fleet: computed from those of its nodes, and judged by ordinary rules. Pure.

They obey the law of information as all facts that follow from others: what a silent node might have said makes them
unknown, unless they would be the same whatever it had said.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Facts, Reading, Unknown, clean
from rackcheck.model.inputs import Inputs
from rackcheck.model.profile import Scope
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.derived import Derivation, Ending, described, leaf


@dataclass(frozen=True, slots=True)
class Seat:
    """A node that the inventory expects: its name, its role and its rack."""

    name: str
    role: str = "compute"
    rack: str = ""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that are judged together; its `name` can be no node's: `@rack:a01`, `@fleet`."""

    name: str
    scope: Scope
    seats: tuple[Seat, ...]


FLEET = "@fleet"


def is_group(name: str) -> bool:
    """Whether a name is that of nodes that are judged together, and no node's."""
    return name.startswith("@")


def groups(expected: Sequence[Seat], asked: frozenset[str]) -> Iterator[NodeGroup]:
    """Every rack all of whose nodes are asked, and the fleet where all nodes are; by name, as their nodes are."""
    racks: dict[str, list[Seat]] = {}
    expected = sorted(expected, key=lambda seat: natural(seat.name))
    for seat in expected:
        if seat.rack:
            racks.setdefault(seat.rack, []).append(seat)
    for rack, seats in sorted(racks.items(), key=lambda item: natural(item[0])):
        if all(seat.name in asked for seat in seats):
            yield NodeGroup(f"@rack:{rack}", Scope.RACK, tuple(seats))
    if len(expected) > 1 and all(seat.name in asked for seat in expected):
        yield NodeGroup(FLEET, Scope.FLEET, tuple(expected))


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


class GroupFault(str):
    """Why nothing could be made of a node's facts."""


@dataclass(frozen=True)
class Aggregate(Derivation[Gather]):
    """Facts of a group from those of its nodes, all of which must be there."""

    scope: Scope = Scope.FLEET
    distil: Distil | None = field(default=None, compare=False)

    def distilled(self, tree: Tree) -> Distilled:
        """Make what is held of a node in place of its facts."""
        assert self.distil is not None
        newest = max((leaf.time for path in self.reads if (leaf := tree.leaves.get(path)) is not None), default="")
        try:
            return Distilled(self.distil(Inputs(tree, self.planes)), newest)
        except Exception as error:  # noqa: BLE001  it may be anybody's code: its fault costs its own facts only
            return Distilled(GroupFault(clean(repr(error))), newest)

    def member(self, seat: Seat, held: Tree | Distilled) -> Member:
        """Give a node as it is gathered, from its facts or from what was made of them."""
        if isinstance(held, Tree) and self.distil is None:
            return Member(seat, Inputs(held, self.planes))
        own = self.distilled(held).own if isinstance(held, Tree) else held.own
        if isinstance(own, GroupFault):
            raise TypeError(own)
        return Member(seat, Inputs(_EMPTY, self.planes), own)


def gathering(
    scope: Scope,
    *,
    needs: Iterable[str] = (),
    also: Iterable[str] = (),
    beside: Iterable[str] = (),
    gives: Mapping[str, Kind],
    distil: Distil | None = None,
) -> Callable[[Gather], Aggregate]:
    """Make one of the function below; name and help are the function's, as with a probe."""
    needed, read, planned = tuple(needs), tuple(also), tuple(beside)
    for pattern in gives:
        if paths.parse(pattern).segments[0].word != scope.value:
            raise ValueError(f"{pattern} is no fact of a {scope.value}")

    def made(function: Gather) -> Aggregate:
        name, words = described(function)
        return Aggregate(
            name, needed, dict(gives), function, words, also=read, beside=planned, scope=scope, distil=distil
        )

    return made


_EMPTY = Tree({})


def gathered(group: NodeGroup, known: Iterable[Aggregate], held: Mapping[str, Tree | Distilled], time: str) -> Tree:
    """Compute the facts of a group from what is held of its nodes, all of which must be there."""
    leaves: dict[str, Leaf] = {}
    count = f"{len(group.seats)} {'node' if len(group.seats) == 1 else 'nodes'}"
    for each in known:
        if each.scope is not group.scope:
            continue
        source = f"from {', '.join((*each.needs, *each.beside))} of {count}"
        found: dict[str, Leaf] = {}
        with Ending(each.name) as ending:
            for path, value in each.function(tuple(each.member(seat, held[seat.name]) for seat in group.seats)):
                found[path] = leaf(each, path, value, source, time)
        leaves |= ending.fill(found, each, lambda pattern: (pattern,), source, time)
    return Tree(leaves)
