"""The rack at a glance: nodes grouped by verdicts, small drawings of racks in which outliers are visible."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fit import Match
from rackcheck.model.profile import Scope
from rackcheck.model.text import natural
from rackcheck.report.hardware_groups import vectors
from rackcheck.report.report_model import LETTERS, OUT, Dossier, Gate, NodeRow

COMMON = 12
"""Number of the most common patterns of verdicts that the page shows, and of the rarest; all others are counted."""

COLUMNS = 40
"""Maximum number of columns; if there are more, the columns that fail or are unknown on most nodes are kept."""

QUIET = frozenset({LETTERS[Status.PASS], LETTERS[Status.NA], OUT})
"""Verdict letters that need no attention; a rule that has only these letters has no column."""

HEAVY = LETTERS[Status.FAIL], LETTERS[Status.UNKNOWN]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Nodes with the same verdicts; `letters` are the letters in the matrix's columns."""

    nodes: tuple[str, ...]
    outcome: Outcome
    letters: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the matrix: rules that have the same verdict as each other on every node."""

    gates: tuple[Gate, ...]

    @property
    def severity(self) -> str:
        """The severity of the rules; empty if they have different severities."""
        found = {gate.severity.value for gate in self.gates}
        return found.pop() if len(found) == 1 else ""

    @property
    def label(self) -> str:
        """The first rule, and the number of further rules in the column: `RULE +3`."""
        more = len(self.gates) - 1
        return f"{self.gates[0].id} +{more}" if more else self.gates[0].id


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix with a row for each pattern of verdicts, and a column for each rule that does not pass on all nodes.

    Rows and columns that are left out are counted.

    `rules` counts the rules about single nodes, `passing` the rules among them that pass wherever they apply.
    """

    columns: tuple[Column, ...]
    common: tuple[Pattern, ...]
    rare: tuple[Pattern, ...]
    between: int
    nodes_between: int
    passing: int
    rules: int
    more_rules: int

    @property
    def patterns(self) -> int:
        """The number of different patterns of verdicts."""
        return len(self.common) + len(self.rare) + self.between


@dataclass(frozen=True, slots=True)
class RackCell:
    """One node in its rack: `place` is its index in the dossier, `usual` is set if it has the most common verdicts."""

    place: int
    node: NodeRow
    usual: bool


@dataclass(frozen=True, slots=True)
class OverviewRack:
    """The nodes of a rack, the highest rack unit first; the rack with an empty name has the nodes without a rack."""

    name: str
    cells: tuple[RackCell, ...]


def matrix(dossier: Dossier) -> Matrix:
    """Build the matrix of verdicts; machines that the profile is not for add no column."""
    gathered = vectors(dossier.nodes)
    counts = [Counter[str]() for _ in dossier.gates]
    for vector, nodes in gathered:
        for count, letter in zip(counts, vector, strict=False):
            count[letter] += len(nodes)
    judged = (i for i, count in enumerate(counts) if set(count) - {OUT})  # a rule judged on no node passes nowhere
    single = [i for i in judged if dossier.gates[i].scope == Scope.NODE.value]
    telling = [i for i in single if set(counts[i]) - QUIET]
    alike: dict[str, list[int]] = {}
    for i in telling:
        alike.setdefault("".join(vector[i : i + 1] for vector, _ in gathered), []).append(i)
    groups = sorted(alike.values(), key=lambda group: -sum(counts[group[0]][letter] for letter in HEAVY))[:COLUMNS]
    kept = sorted(group[0] for group in groups)
    columns = {group[0]: Column(tuple(dossier.gates[i] for i in group)) for group in groups}
    rows = tuple(
        Pattern(tuple(n.name for n in nodes), nodes[0].outcome, "".join(vector[i] for i in kept))
        for vector, nodes in gathered
    )
    cut = len(rows) > 2 * COMMON
    between = rows[COMMON:-COMMON] if cut else ()
    return Matrix(
        tuple(columns[i] for i in kept),
        rows[:COMMON] if cut else rows,
        rows[-COMMON:] if cut else (),
        len(between),
        sum(len(row.nodes) for row in between),
        len(single) - len(telling),
        len(single),
        len(telling) - sum(map(len, groups)),
    )


def racks(nodes: Sequence[NodeRow]) -> tuple[OverviewRack, ...]:
    """Group nodes by rack, and mark the nodes with the most common pattern of verdicts as usual.

    No node is usual if the two most common patterns of verdicts are equally common, or if no two nodes have the same
    verdicts.
    """
    gathered = vectors([node for node in nodes if node.fit.match is not Match.OTHER])
    sizes = [len(alike) for _, alike in gathered[:2]] + [0, 0]
    usual = {node.name for node in gathered[0][1]} if sizes[0] > max(sizes[1], 1) else set[str]()
    found: dict[str, list[RackCell]] = {}
    for place, node in enumerate(nodes):
        found.setdefault(node.rack, []).append(RackCell(place, node, node.name in usual))
    return tuple(
        OverviewRack(name, tuple(sorted(found[name], key=lambda cell: (-cell.node.u, cell.place))))
        for name in sorted(found, key=lambda name: (not name, natural(name)))
    )
