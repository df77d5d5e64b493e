"""Facts of a rack, or of the whole fleet: computed from the facts of its nodes, and judged by ordinary rules. Pure.

Facts of a group obey the law of information: a silent node makes a fact unknown, unless the fact is the same for every
possible answer of that node.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Facts, Plane, Reading, Unknown, clean, single
from rackcheck.model.inputs import Inputs
from rackcheck.model.profile import Scope
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.derived import Derivation, Ending, described, leaf


@dataclass(frozen=True, slots=True)
class Seat:
    """A node in the inventory: its name, its role and its rack."""

    name: str
    role: str = "compute"
    rack: str = ""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that are judged together; `name` begins with `@`, as no node's name does: `@rack:a01`, `@fleet`."""

    name: str
    scope: Scope
    seats: tuple[Seat, ...]


FLEET = "@fleet"


def is_group(name: str) -> bool:
    """Return whether a name is that of a group of nodes."""
    return name.startswith("@")


def groups(expected: Sequence[Seat], asked: frozenset[str]) -> Iterator[NodeGroup]:
    """Yield every rack whose nodes are all audited, by name, then the fleet if all nodes are audited."""
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
    """A node of a group, with the facts that an aggregate declares, or with the data distilled from these facts."""

    seat: Seat
    facts: Inputs
    own: object = None

    def reading(self, path: str) -> Reading:
        """Return the reading at a path of this node."""
        return self.facts.reading(path)

    def items(self, collection: str) -> tuple[tuple[str, ...], Unknown | None]:
        """Return the names of a collection's items, and the reason if the list may be incomplete."""
        names, why = self.facts.items(collection)
        return names, self.named(why)

    def listed(self) -> tuple[tuple[tuple[str, str], ...], Unknown | None]:
        """Return the pairs of texts that `distil` listed for this node, and the reason if some may be missing."""
        assert isinstance(self.own, tuple)
        found, why = self.own
        return found, self.named(why)

    def named(self, why: Unknown | None) -> Unknown | None:
        """Return a reason with the node's name in front of the detail; None if there is no reason."""
        return None if why is None else Unknown(why.reason, f"{self.seat.name}: {why.detail}".rstrip(": "))


Gather = Callable[[Sequence[Member]], Facts]

Distil = Callable[[Inputs], object]
"""A function that returns the data to keep instead of a node's facts, which need too much memory for a large fleet."""


@dataclass(frozen=True, slots=True)
class Distilled:
    """The data that one aggregate keeps instead of a node's facts; `newest` is the time of the newest fact."""

    own: object
    newest: str = ""


class GroupFault(str):
    """The reason why a node's facts could not be distilled."""


@dataclass(frozen=True)
class Aggregate(Derivation[Gather]):
    """Facts of a group of nodes, computed from the facts of all its nodes, or from data distilled from them."""

    scope: Scope = Scope.FLEET
    distil: Distil | None = field(default=None, compare=False)

    def distilled(self, tree: Tree) -> Distilled:
        """Return the result of `distil` for a node's facts; an exception becomes a GroupFault."""
        assert self.distil is not None
        found = (leaf for path in self.reads if (leaf := tree.leaves.get(path)) is not None)
        newest = max((tree.time(leaf) for leaf in found), default="")
        try:
            return Distilled(self.distil(Inputs(tree, self.planes)), newest)
        except Exception as error:  # noqa: BLE001  third-party code is possible: an error affects only its own facts
            return Distilled(GroupFault(clean(repr(error))), newest)

    def member(self, seat: Seat, held: Tree | Distilled) -> Member:
        """Return a node as a group's member, from its facts or from the data distilled from them."""
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
    """Make an aggregate from the decorated function.

    The aggregate has the name of the function; its help is the first line of the function's docstring.
    """
    needed, read, planned = tuple(needs), tuple(also), tuple(beside)
    for pattern in gives:
        if paths.parse(pattern).segments[0].word != scope.value:
            raise ValueError(f"{pattern} is not a fact of a {scope.value}")

    def made(function: Gather) -> Aggregate:
        name, words = described(function)
        return Aggregate(
            name, needed, dict(gives), function, words, also=read, beside=planned, scope=scope, distil=distil
        )

    return made


_EMPTY = Tree({})


def gathered(group: NodeGroup, known: Iterable[Aggregate], held: Mapping[str, Tree | Distilled], time: str) -> Tree:
    """Compute the facts of a group; `held` must contain the tree or the distilled data of every node of the group."""
    leaves: dict[str, Leaf] = {}
    count = f"{len(group.seats)} {'node' if len(group.seats) == 1 else 'nodes'}"
    for each in known:
        if each.scope is not group.scope:
            continue
        source = f"from {', '.join((*each.needs, *each.beside))} of {count}"
        found: dict[str, Leaf] = {}
        with Ending(each.name) as ending:
            for path, value in single(each.function(tuple(each.member(s, held[s.name]) for s in group.seats))):
                found[path] = leaf(each, path, value, source)
        leaves |= ending.fill(found, each, lambda pattern: (pattern,), source)
    return Tree(leaves, times={Plane.DERIVED: time})
