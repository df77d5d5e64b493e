"""Groups what is identical: components by their versions, each node's parts by model, nodes by their verdicts.

Differences come first. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fit import Match
from rackcheck.model.fold import fold
from rackcheck.model.text import natural
from rackcheck.report.report_model import LETTERS, OUT, Dossier, GroupRow, Hardware, NodeRow, Versions

IDENTITIES = ("uuid", "guid", "wwn", "mac")
"""Identity facts that identify a part without a serial; the first known one is used."""

LOUD = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.WAIVED)
"""Verdicts that need attention."""


@dataclass(frozen=True, slots=True)
class ComponentGroup:
    """Components that have the same versions on the same nodes; `facts` are their paths."""

    facts: tuple[str, ...]
    versions: Versions

    @property
    def label(self) -> str:
        """The paths in compact form: `gpu/[0-7].vbios`."""
        return fold(self.facts)

    @property
    def version(self) -> str:
        """The most common version; empty if no node reported a version."""
        return self.versions.groups[0][0] if self.versions.groups else ""


@dataclass(frozen=True, slots=True)
class Unread:
    """Components whose versions are unknown on the same nodes, and for the same reason."""

    nodes: tuple[str, ...]
    why: str
    components: tuple[ComponentGroup, ...]

    @property
    def count(self) -> int:
        """The number of components whose version is unknown on these nodes."""
        return sum(len(component.facts) for component in self.components)


@dataclass(frozen=True, slots=True)
class Matrix:
    """The firmware and software of all nodes.

    `odd` components have several versions, `even` components have one version on all nodes, and `unread` components
    have at most one version but are unknown on some nodes.
    """

    odd: tuple[ComponentGroup, ...]
    unread: tuple[Unread, ...]
    even: tuple[ComponentGroup, ...]

    @property
    def evens(self) -> int:
        """The number of components with the same version on all nodes."""
        return sum(len(component.facts) for component in self.even)


def firmware(versions: Iterable[Versions]) -> Matrix:
    """Put components that have the same version as each other on every node into one group.

    A group is in `odd` if its version differs between nodes, in `even` if all nodes have the same version, and in
    `unread` otherwise.
    """
    gathered: dict[tuple[object, ...], list[Versions]] = {}
    for one in versions:
        gathered.setdefault((one.plane, one.groups, one.why), []).append(one)
    odd, even = [], []
    unread: dict[tuple[tuple[str, ...], str], list[ComponentGroup]] = {}
    for members in gathered.values():
        component = ComponentGroup(tuple(one.fact for one in members), members[0])
        rows = [version for version, _ in members[0].groups if version]
        if len(rows) > 1:
            odd.append(component)
        elif members[0].even:
            even.append(component)
        else:
            nodes = tuple(node for version, where in members[0].groups if not version for node in where)
            unread.setdefault((nodes, members[0].why), []).append(component)
    silent = (Unread(nodes, why, tuple(components)) for (nodes, why), components in unread.items())
    return Matrix(tuple(odd), tuple(sorted(silent, key=lambda one: -one.count)), tuple(even))


@dataclass(frozen=True, slots=True)
class PartShelf:
    """Parts of one model on one node; `items` are pairs of an item and the value of its identity.

    `identity` is the name of the identity fact (serial, uuid, ...). If no identity is known, `identity` and the values
    in `items` are empty, and `why` is the reason, if it is known.
    """

    node: str
    kind: str
    model: str
    part_number: str
    identity: str
    why: str
    items: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        """The items in compact form: `gpu/[0-7]`."""
        return fold(item for item, _ in self.items)

    @property
    def identities(self) -> tuple[tuple[str, str], ...]:
        """Pairs of an item's name without its kind (`3` for `gpu/3`) and the value of its identity."""
        return tuple((item.removeprefix(f"{self.kind}/"), value) for item, value in self.items)


def shelves(parts: Iterable[Hardware]) -> tuple[PartShelf, ...]:
    """Group each node's parts by model; the groups are in the order in which their first part occurs."""
    gathered: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for part in parts:
        sort, value = _identity(part)
        why = "" if sort else part.other.get("serial", "")
        key = (part.node, part.kind, part.model, part.part_number, sort, why)
        gathered.setdefault(key, []).append((part.item, value))
    return tuple(
        PartShelf(node, kind, model, number, sort, why, tuple(items))
        for (node, kind, model, number, sort, why), items in gathered.items()
    )


def _identity(part: Hardware) -> tuple[str, str]:
    if part.serial:
        return "serial", part.serial
    for word in IDENTITIES:
        value = part.other.get(word, "")
        if value and not value.startswith("not read ("):
            return word, value
    return "", ""


def unread(parts: Iterable[Hardware]) -> tuple[tuple[str, int, str], ...]:
    """Count parts without a serial, by kind and by the identity that replaces the serial (may be empty)."""
    found: dict[tuple[str, str], int] = {}
    for part in parts:
        if not part.serial:
            key = (part.kind, _identity(part)[0])
            found[key] = found.get(key, 0) + 1
    return tuple(
        (kind, count, sort) for (kind, sort), count in sorted(found.items(), key=lambda one: natural(one[0][0]))
    )


@dataclass(frozen=True, slots=True)
class Likeness:
    """Nodes with the same verdicts; `rules` are the rules that need attention, by verdict.

    If the profile is not for these machines, `rules` is empty; `reason` is why the nodes are INCOMPLETE.
    """

    nodes: tuple[str, ...]
    outcome: Outcome
    rules: tuple[tuple[Status, tuple[str, ...]], ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Together:
    """Racks with the same verdicts, or the fleet.

    `nodes` is the number of nodes in these racks or in the fleet; `counts` is the number of verdicts by status.
    """

    names: tuple[str, ...]
    outcome: Outcome
    nodes: int
    counts: Mapping[Status, int]
    rules: tuple[tuple[Status, tuple[str, ...]], ...]


def together(dossier: Dossier) -> tuple[Together, ...]:
    """Return the groups of racks that have the same verdicts, and the whole fleet; the worst outcome is first."""
    found: dict[tuple[str, str], list[GroupRow]] = {}
    for group in dossier.groups:
        found.setdefault((group.scope, group.vector), []).append(group)
    made = [
        Together(
            tuple(group.name for group in alike),
            alike[0].outcome,
            sum(len(group.nodes) for group in alike),
            {status: vector.count(letter) * len(alike) for status, letter in LETTERS.items()},
            _loud(dossier, vector),
        )
        for (_, vector), alike in found.items()
    ]
    return tuple(sorted(made, key=lambda one: _WORST.index(one.outcome)))


_WORST = (Outcome.FAIL, Outcome.INCOMPLETE, Outcome.PASS)


def _loud(dossier: Dossier, vector: str) -> tuple[tuple[Status, tuple[str, ...]], ...]:
    """Return the rules that need attention, by verdict."""
    lettered = [(gate.id, letter) for gate, letter in zip(dossier.gates, vector, strict=False)]
    by = ((status, tuple(rule for rule, letter in lettered if letter == LETTERS[status])) for status in LOUD)
    return tuple((status, rules) for status, rules in by if rules)


def vectors(nodes: Sequence[NodeRow]) -> list[tuple[str, list[NodeRow]]]:
    """Group nodes by their verdicts and outcome, the largest group first; groups of one size keep the nodes' order.

    If the profile is not for a machine, the letters of this machine's verdicts are `-`, because they do not count.
    """
    found: dict[tuple[str, Outcome, str, Match], list[NodeRow]] = {}
    for node in nodes:
        vector = OUT * len(node.vector) if node.fit.match is Match.OTHER else node.vector
        found.setdefault((vector, node.outcome, node.reason, node.fit.match), []).append(node)
    return sorted(((vector, some) for (vector, *_), some in found.items()), key=lambda group: -len(group[1]))


def likenesses(dossier: Dossier) -> tuple[Likeness, ...]:
    """Return the groups of nodes with the same verdicts: the worst outcome first, then the smallest group."""
    made = [
        Likeness(
            tuple(node.name for node in nodes), nodes[0].outcome, _loud(dossier, vector), nodes[0].reason,
        )
        for vector, nodes in vectors(dossier.nodes)
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda one: (_WORST.index(one.outcome), len(one.nodes))))
