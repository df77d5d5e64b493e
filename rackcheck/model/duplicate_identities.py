"""Identities that two machines, or two parts of one, both give: each with everyone who gives it. Pure.

One kind of identity is looked at after the other, and only those that came twice are held with where they are: a fleet
has hundreds of thousands of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from rackcheck.model.fact import Unknown, clean
from rackcheck.model.identity import Spot
from rackcheck.model.text import natural


class Weight(Enum):
    """What it takes to say of two nodes that they give one identity."""

    EACH = auto()
    """Any one that both give."""

    SEVERAL = auto()
    """Two that both give, or one that three nodes give: makers of memory give a number twice."""

    WHOLE = auto()
    """One that both give, and others that they do not: what two nodes share wholly belongs to an enclosure of both."""


Twice = tuple[str, ...] | Unknown
"""What comes twice within a node, in words without the kind's own; or why that is not known."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a node gives of one kind, by how it is compared; why there may be more, and what comes twice within."""

    spots: Mapping[str, Spot] = field(default_factory=dict)
    lost: Unknown | None = None
    twice: Twice = ()


@dataclass(frozen=True, slots=True)
class IdentityKind:
    """One kind of identity: its words, what each node gives of it, and what it takes to say so."""

    word: str
    several: str
    nodes: Sequence[Own]
    weight: Weight = Weight.EACH


HOLDERS, SENTENCES = 8, 64
"""Nodes that are named in one sentence, and sentences."""


def repeated(kinds: Sequence[IdentityKind], names: Sequence[str]) -> tuple[str, ...] | Unknown:
    """Say which identities come twice; where none does, unknown if one that is not known might."""
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
    """Give the same reason with the node that it is of."""
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
    """Find what several nodes give; and what is not known, where a second node may give it."""
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
    """Leave out what one pair of nodes shares by itself."""
    pairs = Counter(tuple(sorted(nodes)) for nodes in twice.values() if len(nodes) == 2)
    return {key: nodes for key, nodes in twice.items() if len(nodes) != 2 or pairs[tuple(sorted(nodes))] > 1}


def _partly(twice: Mapping[str, set[int]], kind: IdentityKind, unsure: Set[int]) -> dict[str, set[int]]:
    """Leave out what nodes share that share all; a node that may give more differs only by what others lack."""
    own = {node: frozenset(kind.nodes[node].spots) for node in {n for nodes in twice.values() for n in nodes}}
    return {key: nodes for key, nodes in twice.items() if _differ({n: own[n] for n in nodes}, unsure)}


def _differ(own: Mapping[int, frozenset[str]], unsure: Set[int]) -> bool:
    whole = {keys for node, keys in own.items() if node not in unsure}
    return len(whole) > 1 or any(own[node] - keys for keys in whole for node in own.keys() & unsure)


def _sentences(kind: IdentityKind, twice: Mapping[str, Set[int]], names: Sequence[str]) -> Iterator[str]:
    """Name each identity with everyone who gives it; several that the same nodes give are one sentence."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for key in sorted(twice):
        groups.setdefault(tuple(sorted(twice[key], key=lambda node: natural(names[node]))), []).append(key)
    for nodes, keys in sorted(groups.items(), key=lambda item: [natural(names[n]) for n in item[0]]):
        if len(keys) == 1:
            spots = [kind.nodes[node].spots[keys[0]] for node in nodes[:HOLDERS]]
            who = [f"{names[node]} {spot.place}".rstrip() for node, spot in zip(nodes, spots, strict=False)]
            yield f"{kind.word} {clean(spots[0].said, 80)}: {enumerated(who, len(nodes))}"
        else:
            who = [names[node] for node in nodes[:HOLDERS]]
            message = kind.nodes[nodes[0]].spots[keys[0]].said
            yield f"{len(keys)} {kind.several}, {clean(message, 80)} first: {enumerated(who, len(nodes))}"


def enumerated(shown: Sequence[str], count: int) -> str:
    """Write names one after the other: a, b and c; a, b and 3 more."""
    left = count - len(shown)
    *first, last = [*shown, *([f"{left} more"] if left > 0 else [])]
    return f"{', '.join(first)} and {last}" if first else last


NamedParts = Mapping[str, tuple[str, str]]
"""Parts of one node by place: the identity of each, as it is compared and as it is spelled."""


def within(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> tuple[str, ...] | Unknown:
    """Say which identities several parts of one node give, by place.

    `unsure` are parts whose identity is not known; with `cut`, there may be more parts.
    """
    found = _places(places)
    return found or _doubt(places, unsure, cut) or ()


def boards(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> tuple[str, ...] | Unknown:
    """Say the same of serial numbers; where each is given equally often, it is that of a board with several parts."""
    counts = Counter(key for key, _ in places.values())
    doubt = _doubt(places, unsure, cut)
    if doubt is None:
        return _places(places) if len(set(counts.values())) > 1 else ()
    return doubt if cut is not None or not counts or _evened(counts, len(unsure)) else _places(places)


def _doubt(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> Unknown | None:
    """Give why it is not known whether two parts give one identity; one part alone cannot."""
    if cut is not None:
        return cut
    return unsure[0] if unsure and len(places) + len(unsure) > 1 else None


def _evened(counts: Mapping[str, int], more: int) -> bool:
    """Whether so many parts more could leave a number given twice in doubt: all equally often, or none twice yet."""
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
