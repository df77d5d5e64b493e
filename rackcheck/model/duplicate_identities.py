"""Identities that two machines, or two parts of one machine, both return; each is listed with all its holders. Pure.

A fleet has hundreds of thousands of identities: to save memory, kinds of identity are processed one after the other,
and the list of all holders is kept only for identities found twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from rackcheck.model.fact import Unknown, clean
from rackcheck.model.identity import Spot
from rackcheck.model.text import natural


class Weight(Enum):
    """What nodes must have in common before a shared identity of one kind is reported."""

    EACH = auto()
    """Two nodes must share at least one identity."""

    SEVERAL = auto()
    """Two nodes must share two identities, or three nodes one, because memory vendors reuse serial numbers."""

    WHOLE = auto()
    """Nodes must share some identities, but not all: nodes that share all identities are in a common enclosure."""


Twice = tuple[str, ...] | Unknown
"""The identities that several parts of one node share, as texts without the kind; or why this is unknown."""


@dataclass(frozen=True, slots=True)
class Own:
    """A node's identities of one kind, by normalised form.

    `lost` is the reason if the node may have more identities; `twice` are the identities that several parts of the node
    share.
    """

    spots: Mapping[str, Spot] = field(default_factory=dict)
    lost: Unknown | None = None
    twice: Twice = ()


@dataclass(frozen=True, slots=True)
class IdentityKind:
    """One kind of identity: its name, the identities of each node, and what nodes must have in common for a report."""

    word: str
    several: str
    nodes: Sequence[Own]
    weight: Weight = Weight.EACH


HOLDERS, SENTENCES = 8, 64
"""Maximum number of nodes named in one sentence, and maximum number of sentences."""


def repeated(kinds: Sequence[IdentityKind], names: Sequence[str]) -> tuple[str, ...] | Unknown:
    """Return a sentence for each duplicate identity; Unknown if none is found but some identities are unknown."""
    found: list[str] = []
    lost: Unknown | None = None
    for kind in kinds:
        rows, doubt = _across(kind, names)
        within, more = _within(kind, names)
        found += [*rows, *within]
        lost = lost or doubt or more
    if found:
        left = len(found) - SENTENCES
        return (*found[:SENTENCES], *([f"and {left} more of this sort"] if left > 0 else []))
    return lost if lost is not None else ()


def named(why: Unknown, name: str) -> Unknown:
    """Return a reason with the node's name in front of the detail."""
    return Unknown(why.reason, f"{name}: {why.detail}".rstrip(": "))


def _within(kind: IdentityKind, names: Sequence[str]) -> tuple[list[str], Unknown | None]:
    found: list[tuple[str, str]] = []
    lost: Unknown | None = None
    for number, name in enumerate(names):
        reading = kind.nodes[number].twice
        if isinstance(reading, Unknown):
            lost = lost or named(reading, name)
        else:
            found += [(name, f"{kind.word} {each} of {name}") for each in reading]
    return [sentence for _, sentence in sorted(found, key=lambda reading: natural(reading[0]))], lost


def _across(kind: IdentityKind, names: Sequence[str]) -> tuple[list[str], Unknown | None]:
    """Find identities that several nodes share; also return why more may be shared, if some identities are unknown."""
    seen: dict[str, int] = {}
    twice: dict[str, set[int]] = {}
    unsure: set[int] = set()
    first: Unknown | None = None
    holders = 0
    for number, name in enumerate(names):
        own = kind.nodes[number]
        if own.lost is not None:
            unsure.add(number)
            first = first or named(own.lost, name)
        holders += bool(own.spots) or own.lost is not None
        for key in own.spots:
            other = seen.setdefault(key, number)
            if other != number:
                twice.setdefault(key, {other}).add(number)
    lost = first if holders > 1 else None
    if not twice:
        return [], lost
    if kind.weight is Weight.SEVERAL:
        twice = _several(twice)
    elif kind.weight is Weight.WHOLE:
        twice = _partly(twice, kind, unsure)
    return list(_sentences(kind, twice, names)), lost


def _several(twice: Mapping[str, set[int]]) -> dict[str, set[int]]:
    """Remove each identity that only two nodes hold, unless the same two nodes alone share another identity."""
    pairs = Counter(tuple(sorted(nodes)) for nodes in twice.values() if len(nodes) == 2)
    return {key: nodes for key, nodes in twice.items() if len(nodes) != 2 or pairs[tuple(sorted(nodes))] > 1}


def _partly(twice: Mapping[str, set[int]], kind: IdentityKind, unsure: Set[int]) -> dict[str, set[int]]:
    """Remove each identity that is held only by nodes with exactly the same identities.

    A node with unknown identities counts as different only if it has an identity that a node without unknown identities
    lacks.
    """
    own = {node: frozenset(kind.nodes[node].spots) for node in {n for nodes in twice.values() for n in nodes}}
    return {key: nodes for key, nodes in twice.items() if _differ({n: own[n] for n in nodes}, unsure)}


def _differ(own: Mapping[int, frozenset[str]], unsure: Set[int]) -> bool:
    whole = {keys for node, keys in own.items() if node not in unsure}
    return len(whole) > 1 or any(own[node] - keys for keys in whole for node in own.keys() & unsure)


def _sentences(kind: IdentityKind, twice: Mapping[str, Set[int]], names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each identity with all its holders; identities with the same holders share one sentence."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for key in sorted(twice):
        groups.setdefault(tuple(sorted(twice[key], key=lambda node: natural(names[node]))), []).append(key)
    for nodes, keys in sorted(groups.items(), key=lambda item: [natural(names[n]) for n in item[0]]):
        if len(keys) == 1:
            spots = [kind.nodes[node].spots[keys[0]] for node in nodes[:HOLDERS]]
            who = [f"{names[node]} {spot.place}".rstrip() for node, spot in zip(nodes, spots, strict=False)]
            yield f"{kind.word} {clean(spots[0].spelled, 80)}: {enumerated(who, len(nodes))}"
        else:
            who = [names[node] for node in nodes[:HOLDERS]]
            message = kind.nodes[nodes[0]].spots[keys[0]].spelled
            yield f"{len(keys)} {kind.several}, {clean(message, 80)} first: {enumerated(who, len(nodes))}"


def enumerated(shown: Sequence[str], count: int) -> str:
    """Join names as `a, b and c`, or as `a, b and 3 more` if `count` is greater than the number of names shown."""
    left = count - len(shown)
    *first, last = [*shown, *([f"{left} more"] if left > 0 else [])]
    return f"{', '.join(first)} and {last}" if first else last


NamedParts = Mapping[str, tuple[str, str]]
"""The parts of one node: for each position, the identity of the part, normalised and as originally spelled."""


def within(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> tuple[str, ...] | Unknown:
    """Return the identities that several parts of one node share, with the positions of these parts.

    `unsure` has the reason for each part whose identity is unknown; `cut` is set if there may be more parts.
    """
    found = _places(places)
    return found or _doubt(places, unsure, cut) or ()


def boards(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> tuple[str, ...] | Unknown:
    """Return shared serial numbers as `within` does, but none if all serial numbers occur equally often.

    If all serial numbers occur equally often, each belongs to a board with several parts and is not a duplicate.
    """
    counts = Counter(key for key, _ in places.values())
    doubt = _doubt(places, unsure, cut)
    if doubt is None:
        return _places(places) if len(set(counts.values())) > 1 else ()
    return doubt if cut is not None or not counts or _evened(counts, len(unsure)) else _places(places)


def _doubt(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> Unknown | None:
    """Return why it is unknown whether two parts share an identity; None if it is known, or for a single part."""
    if cut is not None:
        return cut
    return unsure[0] if unsure and len(places) + len(unsure) > 1 else None


def _evened(counts: Mapping[str, int], more: int) -> bool:
    """Whether `more` additional parts could make all serial numbers equally frequent; true if none occurs twice."""
    most = max(counts.values())
    return most < 2 or any(
        (left := more - sum(each - count for count in counts.values())) >= 0 and left % each == 0
        for each in range(most, most + more + 1)
    )


def _places(places: NamedParts) -> tuple[str, ...]:
    groups: dict[str, list[str]] = {}
    for place in sorted(places, key=natural):
        groups.setdefault(places[place][0], []).append(place)
    return tuple(
        f"{clean(places[at[0]][1], 80)}: {enumerated(at[:HOLDERS], len(at))}"
        for _, at in sorted(groups.items())
        if len(at) > 1
    )
