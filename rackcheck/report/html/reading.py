"""What the page gathers out of the dossier before it is drawn: pure, and bounded where a node could swell it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rackcheck.core.fold import fold
from rackcheck.core.profile import Severity
from rackcheck.core.read import natural
from rackcheck.core.verdict import Status
from rackcheck.report.dossier import Dossier, Exemption, Found, Gate, Part, Versions
from rackcheck.report.html.text import anchor, number

FINDINGS = 500
"""Findings that are written out; the annexes hold all."""

GRID = 12
"""Nodes up to which the firmware matrix is drawn whole."""

QUIET = frozenset({Status.PASS, Status.NA})


@dataclass(frozen=True, slots=True)
class Instance:
    """One finding with the name that links lead to."""

    anchor: str
    found: Found


@dataclass(frozen=True, slots=True)
class Chapter:
    """The findings of one rule with the same verdict; `nodes` of all of them."""

    gate: Gate
    status: Status
    instances: tuple[Instance, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Kind:
    """Parts of one make: how many there are on which nodes, and how many told no serial."""

    kind: str
    model: str
    part_number: str
    count: int
    unread: int
    spread: str


@dataclass(frozen=True, slots=True)
class GridRow:
    """One component over all nodes: each cell's version and whether it differs from most."""

    versions: Versions
    cells: tuple[tuple[str, bool], ...]


def chapters(dossier: Dossier) -> tuple[tuple[Chapter, ...], int]:
    """Gather what is neither pass nor n/a by rule and verdict, in the findings' order, and count what is left out."""
    loud = [f for f in dossier.findings if f.status not in QUIET]
    known = {gate.id: gate for gate in dossier.gates}
    gathered: dict[tuple[str, Status], list[Instance]] = {}
    numbers = Counter[str]()
    total = len(dossier.nodes)
    for found in loud[:FINDINGS]:
        name = anchor("finding", found.rule)
        numbers[name] += 1
        instance = Instance(f"{name}-{numbers[name]}", found)
        gathered.setdefault((found.rule, found.status), []).append(instance)
    made = tuple(
        Chapter(known.get(rule) or _gone(rule), status, tuple(instances), _where(instances, total))
        for (rule, status), instances in gathered.items()
    )
    return made, len(loud) - sum(len(chapter.instances) for chapter in made)


def _where(instances: Iterable[Instance], total: int) -> str:
    nodes = {node for instance in instances for node in instance.found.nodes}
    return f"{number(len(nodes))} of {number(total)} nodes"


def _gone(rule: str) -> Gate:
    """Stand in for a gate that the profile no longer names, so that its finding is shown all the same."""
    return Gate(rule, "(this rule is not in the profile)", Severity.ADVISORY, "", (), (), "", "", (), {})


def kinds(parts: Iterable[Part]) -> tuple[Kind, ...]:
    """Fold parts by kind, model and part number, with how many each node has of them."""
    gathered: dict[tuple[str, str, str], list[Part]] = {}
    for part in parts:
        gathered.setdefault((part.kind, part.model, part.part_number), []).append(part)
    return tuple(
        Kind(*key, len(found), sum(not part.serial for part in found), _spread(found))
        for key, found in sorted(gathered.items(), key=lambda item: tuple(map(natural, item[0])))
    )


def _spread(parts: Iterable[Part]) -> str:
    per = Counter(part.node for part in parts)
    gathered: dict[int, list[str]] = {}
    for node in sorted(per, key=natural):
        gathered.setdefault(per[node], []).append(node)
    ordered = sorted(gathered.items(), key=lambda group: (-len(group[1]), group[0]))
    return "; ".join(f"{count} on {'each of ' if len(nodes) > 1 else ''}{fold(nodes)}" for count, nodes in ordered)


def grid(dossier: Dossier) -> tuple[GridRow, ...]:
    """Spread the firmware matrix out, where the nodes are few; else nothing."""
    names = [node.name for node in dossier.nodes]
    if len(names) > GRID:
        return ()
    return tuple(GridRow(row, tuple(_cell(row, name) for name in names)) for row in dossier.firmware)


def _cell(row: Versions, name: str) -> tuple[str, bool]:
    """Give one node's version and whether it differs; what no group names is unknown, and so differs."""
    version = next((version for version, nodes in row.groups if name in nodes), "")
    return version, not version or version != row.groups[0][0]


def truths(dossier: Dossier) -> Mapping[str, tuple[tuple[Status, tuple[str, ...]], ...]]:
    """Give the verdicts that waivers cover, by rule."""
    found: dict[str, dict[Status, list[str]]] = {}
    for finding in dossier.findings:
        if finding.truth is not None:
            found.setdefault(finding.rule, {}).setdefault(finding.truth, []).extend(finding.nodes)
    return {
        rule: tuple((status, tuple(sorted(nodes, key=natural))) for status, nodes in by.items())
        for rule, by in found.items()
    }


def covered(
    exemption: Exemption, known: Mapping[str, tuple[tuple[Status, tuple[str, ...]], ...]]
) -> tuple[tuple[Status, str], ...]:
    """Give the true verdicts on those nodes where this waiver was used."""
    met = ((s, [n for n in nodes if n in exemption.used]) for s, nodes in known.get(exemption.rule, ()))
    return tuple((status, fold(nodes)) for status, nodes in met if nodes)
