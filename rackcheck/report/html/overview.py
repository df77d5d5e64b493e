"""The rack at a glance: nodes that answer alike gathered, racks drawn small, the odd one out in sight."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rackcheck.core.read import natural
from rackcheck.core.verdict import Outcome, Status
from rackcheck.report.dossier import LETTERS, OUT, Dossier, Gate, NodeRow

COMMON = 12
"""Patterns shown from the common end, and as many from the rare one: what lies between is counted."""

COLUMNS = 40
"""Rules across; where more of them tell nodes apart, those stay that fail or are unknown on the most nodes."""

HEAVY = LETTERS[Status.FAIL], LETTERS[Status.UNKNOWN]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Nodes with the very same verdicts; `letters` are those of the matrix's columns."""

    nodes: tuple[str, ...]
    outcome: Outcome
    letters: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Patterns against the rules that do not pass everywhere; counts of what is left out beside."""

    gates: tuple[Gate, ...]
    common: tuple[Pattern, ...]
    rare: tuple[Pattern, ...]
    between: int
    nodes_between: int
    passing: int
    more_rules: int

    @property
    def patterns(self) -> int:
        """How many different patterns there are."""
        return len(self.common) + len(self.rare) + self.between


@dataclass(frozen=True, slots=True)
class Cell:
    """One node in its rack: `place` in the dossier's order, `usual` where it has the most common pattern."""

    place: int
    node: NodeRow
    usual: bool


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack, the highest unit first; nodes without one stand in a rack without a name."""

    name: str
    cells: tuple[Cell, ...]


def vectors(nodes: Sequence[NodeRow]) -> list[tuple[str, list[NodeRow]]]:
    """Gather nodes by their verdicts, the most common first, then in the nodes' order."""
    found: dict[str, list[NodeRow]] = {}
    for node in nodes:
        found.setdefault(node.vector, []).append(node)
    return sorted(found.items(), key=lambda group: -len(group[1]))


def matrix(dossier: Dossier) -> Matrix:
    """Lay out who differs in which rule."""
    gathered = vectors(dossier.nodes)
    columns = [Counter[str]() for _ in dossier.gates]
    for vector, nodes in gathered:
        for column, letter in zip(columns, vector, strict=False):
            column[letter] += len(nodes)
    telling = [i for i, column in enumerate(columns) if set(column) - {LETTERS[Status.PASS], OUT}]
    kept = sorted(sorted(telling, key=lambda i: -sum(columns[i][letter] for letter in HEAVY))[:COLUMNS])
    rows = tuple(
        Pattern(tuple(n.name for n in nodes), nodes[0].outcome, "".join(vector[i] for i in kept))
        for vector, nodes in gathered
    )
    cut = len(rows) > 2 * COMMON
    between = rows[COMMON:-COMMON] if cut else ()
    return Matrix(
        tuple(dossier.gates[i] for i in kept),
        rows[:COMMON] if cut else rows,
        rows[-COMMON:] if cut else (),
        len(between),
        sum(len(row.nodes) for row in between),
        len(columns) - len(telling),
        len(telling) - len(kept),
    )


def racks(nodes: Sequence[NodeRow]) -> tuple[Rack, ...]:
    """Sort nodes into their racks; the pattern is usual that more nodes have than any other one."""
    gathered = vectors(nodes)
    sizes = [len(alike) for _, alike in gathered[:2]] + [0, 0]
    usual = gathered[0][0] if sizes[0] > max(sizes[1], 1) else None
    found: dict[str, list[Cell]] = {}
    for place, node in enumerate(nodes):
        found.setdefault(node.rack, []).append(Cell(place, node, node.vector == usual))
    return tuple(
        Rack(name, tuple(sorted(found[name], key=lambda cell: (-cell.node.u, cell.place))))
        for name in sorted(found, key=lambda name: (not name, natural(name)))
    )
