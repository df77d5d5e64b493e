"""Groups what is identical: components by their versions, each node's parts by model, nodes by their verdicts.

Differences come first. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fit import Match
from rackcheck.model.fold import fold
from rackcheck.model.part_kinds import place_of
from rackcheck.report.report_model import LETTERS, OUT, Dossier, GroupRow, Hardware, NodeRow, Unlisted, Versions

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
    in `items` are empty. `why` is why there is no serial number, `no_number` why there is no part number; `notes` are
    statements about single parts.
    """

    node: str
    kind: str
    model: str
    part_number: str
    identity: str
    why: str
    no_number: str
    items: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The items in compact form: `gpu/[0-7]`."""
        return fold(item for item, _ in self.items)

    @property
    def counted(self) -> str:
        """The number of parts and their kind: `8 GPU`; empty if the items themselves are named by their kind."""
        return f"{len(self.items)} {self.kind}" if place_of(self.kind) < place_of("") else ""

    @property
    def identities(self) -> tuple[tuple[str, str], ...]:
        """Pairs of an item's name without its collection (`3` for `gpu/3`) and the value of its identity."""
        return tuple((item.partition("/")[2] or item, value) for item, value in self.items)


def shelves(parts: Iterable[Hardware]) -> tuple[PartShelf, ...]:
    """Group each node's parts by model; the groups are in the order in which their first part occurs."""
    gathered: dict[tuple[str, ...], list[tuple[Hardware, str]]] = {}
    for part in parts:
        sort, value = _identity(part)
        lost = "" if part.part_number else part.no_part_number
        why = "" if part.serial else part.why_no_serial
        key = (part.node, part.kind, part.model, part.part_number, sort, why, lost)
        gathered.setdefault(key, []).append((part, value))
    return tuple(
        PartShelf(
            node, kind, model, number, sort, why, lost,
            tuple((part.item, value) for part, value in held), tuple(_notes(part for part, _ in held)),
        )
        for (node, kind, model, number, sort, why, lost), held in gathered.items()
    )  # fmt: skip


def _notes(parts: Iterable[Hardware]) -> Iterator[str]:
    """Yield the notes about parts, those of several parts once."""
    items: dict[str, list[str]] = {}
    for part in parts:
        numbers = f"the part numbers are {' and '.join(part.part_numbers)}" if part.part_numbers else ""
        for note in filter(None, (numbers, *part.notes)):
            items.setdefault(note, []).append(part.item)
    for note, where in items.items():
        yield f"{fold(where)}: {note}"


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
        if not part.serial and not part.repeat:
            key = (part.kind, _identity(part)[0])
            found[key] = found.get(key, 0) + 1
    return tuple(
        (kind, count, sort) for (kind, sort), count in sorted(found.items(), key=lambda one: place_of(one[0][0]))
    )


def gaps(unlisted: Iterable[Unlisted]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return each kind that could not be listed completely, with the reason and the nodes."""
    found: dict[tuple[str, str], list[str]] = {}
    for gap in unlisted:
        found.setdefault((gap.kind, gap.why), []).append(gap.node)
    return tuple((kind, why, tuple(nodes)) for (kind, why), nodes in found.items())


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
