"""Finds outliers: the values that most nodes of a role share, and the nodes with other values. Pure.

A fact is compared only if at least three nodes of the role report the fact, and if more than half of the role's nodes
have the same value. A node on which a fact is unknown is not an outlier; the unknown facts of each node are counted
separately.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck.evaluate.consensus import FEWEST
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Type
from rackcheck.model.change import PCI_ADDRESS
from rackcheck.model.fact import Class, Reading, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.text import natural
from rackcheck.views.census import Census
from rackcheck.views.items import folded

HELD = frozenset({Class.VERSION, Class.CONFIG})
"""Classes of facts that should have the same value on all nodes of a role."""


LONG = 80
"""Maximum number of characters shown of the list that most nodes have; for a longer list, only its length is shown."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """Facts on which the same nodes deviate in the same way; the paths in `paths` differ only in item names.

    `value` is the text of the value that the deviating nodes have. `usual` is the text of the usual value, which
    `count` of the role's `of` nodes have.
    """

    role: str
    paths: tuple[str, ...]
    value: str
    usual: str
    count: int
    of: int
    nodes: tuple[str, ...]
    weight: float
    cls: Class = Class.CONFIG

    @property
    def label(self) -> str:
        """The folded paths of the facts: `gpu/[0-7].vbios`."""
        return ", ".join(folded(self.paths))

    @property
    def text(self) -> str:
        """The deviation as a text: `bios.nps is NPS1, 14 of 16 have NPS4`."""
        return f"{self.label} {self.value}, {self.count:,} of {self.of:,} have {self.usual}"


@dataclass(frozen=True, slots=True)
class Odd:
    """A node that deviates from its role, with its score and its deviations, the highest weight first.

    `unknown` is the number of facts with a majority value that are unknown on this node.
    """

    node: str
    role: str
    score: float
    deviations: tuple[Deviation, ...]
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class RoleMajority:
    """The comparison of a role's nodes; `agreed` is the number of facts with a majority value.

    `split` is the number of facts without a majority value that are known on all nodes; `unknown` is the number of
    facts without a majority value that are unknown on some nodes. `odd` contains the nodes that deviate, the highest
    score first. `silent` contains, for each node, the number of facts with a majority value that are unknown on the
    node. `why` is the reason if no comparison was possible.
    """

    role: str
    nodes: tuple[str, ...]
    agreed: int
    split: int
    unknown: int
    odd: tuple[Odd, ...]
    deviations: tuple[Deviation, ...]
    silent: tuple[tuple[str, int], ...]
    why: str = ""


def odd(census: Census) -> tuple[Odd, ...]:
    """Return the deviating nodes of all roles, the highest score first; see `peers` for the score."""
    every = (each for group in peers(census) for each in group.odd)
    return tuple(sorted(every, key=lambda each: (-each.score, natural(each.node))))


def peers(census: Census) -> tuple[RoleMajority, ...]:
    """Compare the nodes of each role with each other; the roles are sorted by name.

    A fact on which d nodes differ from the majority has the weight 1/d: 1 if a single node differs, 1/40 if 40 of 100
    nodes differ. Items of a collection that deviate in the same way (`gpu/[0-7].vbios`) count as one fact with the
    highest weight. A node's score is the sum of the weights of its deviations.
    """
    return tuple(_peers(census, role, whole) for role, whole in census.roles().items())


_Key = tuple[str, Class, str, str, int, int]
"""A deviation: fact pattern, class, value, usual value, deviating nodes (a set), number of nodes with usual value."""


def _peers(census: Census, role: str, whole: int) -> RoleMajority:
    of, names = whole.bit_count(), census.names(whole)
    if of < FEWEST:
        why = f"{of} node{'' if of == 1 else 's'}; at least {FEWEST} must be known to find outliers"
        return RoleMajority(role, names, 0, 0, 0, (), (), (), why)
    found: dict[_Key, tuple[list[str], float]] = {}
    lost: dict[_Key, _Lost] = {}
    dark: dict[int, int] = {}
    agreed = split = missing = 0
    for path in census.facts():
        kind = census.kind(path)
        if kind is None or kind.cls not in HELD:
            continue
        known = census.known(path) & whole
        held = census.majority(path, role)
        unread = whole & ~known
        unread = unread and unread & ~census.without(path)
        if held is None:
            split += not unread
            missing += unread > 0
            continue
        agreed += 1
        if unread:
            dark[unread] = dark.get(unread, 0) + 1
        if held.count == known.bit_count():
            continue
        weight = 1 / (known.bit_count() - held.count)
        for value, nodes in census.sets(path):
            if (here := nodes & whole) and value != held.value and not isinstance(value, Unknown):
                message, usual = _words(census, path, value, held.value)
                key = (str(paths.parse(path).pattern), kind.cls, message, usual, here, held.count)
                several, most = found.get(key, ([], 0.0))
                found[key] = ([*several, path], max(most, weight))
                if kind.type is Type.COLLECTION and isinstance(value, tuple) and isinstance(held.value, tuple):
                    parts = _lost(census, role, path, value, held.value)
                    lost |= {key: parts} if parts is not None else {}
    for key in tuple(_repeated(lost)):
        del found[key]
    deviations = _ordered(
        (Deviation(role, tuple(some), message, usual, count, of, census.names(here), weight, cls), here)
        for (_, cls, message, usual, here, count), (some, weight) in found.items()
    )
    silent = _silent(census, dark)
    why = "" if agreed else "no fact has the same value on more than half of the nodes"
    ranked = _ranked(role, names, [each for each, _ in deviations], silent)
    rows = tuple((name, silent[name]) for name in names if name in silent)
    return RoleMajority(role, names, agreed, split, missing, ranked, tuple(each for each, _ in deviations), rows, why)


@dataclass(frozen=True, slots=True)
class _Lost:
    """PCI addresses of items that some nodes lack; `keyed` is true if the addresses are the names of the items."""

    addresses: frozenset[str]
    keyed: bool


def _lost(census: Census, role: str, path: str, value: tuple[str, ...], usual: tuple[str, ...]) -> _Lost | None:
    """Return the PCI addresses of the items that nodes lack.

    The result is None if an item has no PCI address, or if the nodes have additional items.
    """
    items = set(usual) - set(value)
    facts = (census.majority(f"{paths.parse(path).item(item)}.pci", role) for item in items)
    addresses = {str(held.value) if held is not None else item for held, item in zip(facts, items, strict=True)}
    if not items or set(value) - set(usual) or not all(map(PCI_ADDRESS.fullmatch, addresses)):
        return None
    return _Lost(frozenset(addresses), addresses == items)


def _repeated(lost: Mapping[_Key, _Lost]) -> Iterator[_Key]:
    """Yield deviations that repeat another deviation: the same nodes lack the same PCI functions in another collection.

    If several deviations repeat each other, all but one are yielded. The one that is not yielded is preferably in a
    collection whose items are not named by PCI address, and among those in the collection with the shortest path. For
    example, the deviation in `nic` is not yielded, but the deviations in `nic.interface`, `nic.adapter` and `pcie` are.
    """
    ranked = sorted(lost, key=lambda key: (lost[key].keyed, key[0].count("."), key[0]))
    for place, key in enumerate(ranked):
        before = (lost[other].addresses for other in ranked[:place] if other[4] == key[4])
        if any(lost[key].addresses <= addresses for addresses in before):
            yield key


def _ordered(found: Iterable[tuple[Deviation, int]]) -> list[tuple[Deviation, int]]:
    return sorted(found, key=lambda each: (-each[0].weight, natural(each[0].paths[0]), each[0].value))


def _ranked(
    role: str, names: tuple[str, ...], deviations: list[Deviation], silent: dict[str, int]
) -> tuple[Odd, ...]:  # fmt: skip
    mine: dict[str, list[Deviation]] = {}
    for each in deviations:
        for node in each.nodes:
            mine.setdefault(node, []).append(each)
    every = [
        Odd(name, role, sum(each.weight for each in mine[name]), tuple(mine[name]), silent.get(name, 0))
        for name in names
        if name in mine
    ]
    return tuple(sorted(every, key=lambda one: (-one.score, natural(one.node))))


def _silent(census: Census, dark: dict[int, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for nodes, count in dark.items():
        for name in census.names(nodes):
            found[name] = found.get(name, 0) + count
    return found


def _words(census: Census, path: str, value: Reading, usual: Reading) -> tuple[str, str]:
    """Format a value and the usual value; for collections and lists, only missing and extra members are shown."""
    kind = census.kind(path)
    if not isinstance(value, tuple) or not isinstance(usual, tuple):
        return f"is {census.spell(path, value)}", census.spell(path, usual)
    write = fold if kind is not None and kind.type is Type.COLLECTION else ", ".join
    less = [each for each in usual if each not in value]
    more = [each for each in value if each not in usual]
    parts = [f"lacks {write(less)}"] * bool(less) + [f"also has {write(more)}"] * bool(more)
    shown = write(usual) or "none"
    if parts and len(shown) > LONG:
        shown = f"{len(usual):,} items"
    return " and ".join(parts) or f"is {write(value)}", shown
