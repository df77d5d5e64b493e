"""Derives the data of the HTML page from the dossier. Lists whose length depends on nodes are limited."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Status
from rackcheck.model.fold import fold
from rackcheck.model.part_kinds import place_of
from rackcheck.model.profile import Severity
from rackcheck.model.text import natural
from rackcheck.report.hardware_groups import ComponentGroup, PartShelf, shelves
from rackcheck.report.html.text import anchor
from rackcheck.report.report_model import Dossier, Exemption, FindingEntry, Gate, Hardware, Versions, fix_of
from rackcheck.report.shared_causes import Block, blocks
from rackcheck.views.locations import names_text, share
from rackcheck.views.other_machines import deciding

FINDINGS = 500
"""Maximum number of findings in the page; the annexes contain all findings."""

GRID = 12
"""Maximum number of nodes for which the firmware matrix is shown node by node."""

QUIET = frozenset({Status.PASS, Status.NA})


@dataclass(frozen=True, slots=True)
class Instance:
    """One finding with its link anchor."""

    anchor: str
    found: FindingEntry


@dataclass(frozen=True, slots=True)
class SharedCause:
    """One cause for many rules: a title, the cause, the rules by severity, the nodes.

    If an earlier chapter lists the same rules, `before` are the nodes of that chapter.
    """

    title: str
    cause: str
    severity: Severity
    rules: tuple[tuple[Severity, tuple[str, ...]], ...]
    nodes: tuple[str, ...]
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """Findings of one rule with the same verdict, or (if `shared` is set) of several rules unknown for one cause."""

    gate: Gate
    status: Status
    instances: tuple[Instance, ...]
    where: str
    shared: SharedCause | None = None

    @property
    def fix(self) -> str:
        """The fix of the rule, with names filled in if it is the same for all findings."""
        return fix_of(self.gate, (instance.found for instance in self.instances))


@dataclass(frozen=True, slots=True)
class PartKind:
    """Parts of one model: how many parts are on which nodes, and how many parts have no serial."""

    kind: str
    model: str
    part_number: str
    count: int
    unread: int
    spread: str


@dataclass(frozen=True, slots=True)
class GridRow:
    """Components whose versions differ between nodes: each node's version, and whether it is not the most common."""

    component: ComponentGroup
    cells: tuple[tuple[str, bool], ...]


def chapters(dossier: Dossier) -> tuple[tuple[Chapter, ...], int]:
    """Group findings by rule and verdict, without pass and n/a; also return the number of findings left out."""
    loud = deciding((f for f in dossier.findings if f.status not in QUIET), frozenset(dossier.others))
    known = {gate.id: gate for gate in dossier.gates}
    gathered: dict[object, list[Instance]] = {}
    shared: dict[object, SharedCause] = {}
    listed: dict[frozenset[str], Block] = {}
    numbers = Counter[str]()
    of = dossier.whole
    written = 0
    for block in blocks(loud):
        if written >= FINDINGS:
            break
        key: object = (block.rules[0], block.status)
        found = block.findings[: FINDINGS - written]
        if block.causes:
            key, found = block, block.findings
            first = listed.setdefault(frozenset(block.rules), block)
            shared[key] = _shared(block, known, () if first is block else first.nodes)
        name = anchor("finding" if not block.causes else "cause", found[0].rule)
        for one in found[:1] if block.causes else found:
            numbers[name] += 1
            gathered.setdefault(key, []).append(Instance(f"{name}-{numbers[name]}", one))
        written += len(found)
    made = tuple(
        Chapter(
            known.get(instances[0].found.rule) or _gone(instances[0].found.rule), instances[0].found.status,
            tuple(instances), share(shared[key].nodes if key in shared else _nodes(instances), of), shared.get(key),
        )
        for key, instances in gathered.items()
    )  # fmt: skip
    return made, len(loud) - written


def _shared(block: Block, gates: Mapping[str, Gate], before: tuple[str, ...]) -> SharedCause:
    by: dict[Severity, list[str]] = {}
    for rule in block.rules:
        by.setdefault(gates[rule].severity if rule in gates else Severity.ADVISORY, []).append(rule)
    rules = tuple((severity, tuple(by[severity])) for severity in Severity if severity in by)
    return SharedCause(block.title(gates), block.cause(), block.severity(gates), rules, block.nodes, before)


def _nodes(instances: Iterable[Instance]) -> set[str]:
    return {node for instance in instances for node in instance.found.nodes}


def _gone(rule: str) -> Gate:
    """Return a placeholder for a rule that the profile does not have, so that its finding is still shown."""
    return Gate(rule, "(this rule is not in the profile)", Severity.ADVISORY, "", (), (), "", "", (), {})


def kinds(parts: Iterable[Hardware]) -> tuple[PartKind, ...]:
    """Group parts by kind, model and part number, with their number on each node; each part is counted once."""
    gathered: dict[tuple[str, str, str], list[Hardware]] = {}
    for part in parts:
        if not part.repeat:
            gathered.setdefault((part.kind, part.model, part.part_number), []).append(part)
    return tuple(
        PartKind(*key, len(found), sum(not part.serial for part in found), _spread(found))
        for key, found in sorted(gathered.items(), key=lambda item: (place_of(item[0][0]), *map(natural, item[0])))
    )


def _spread(parts: Iterable[Hardware]) -> str:
    per = Counter(part.node for part in parts)
    gathered: dict[int, list[str]] = {}
    for node in sorted(per, key=natural):
        gathered.setdefault(per[node], []).append(node)
    ordered = sorted(gathered.items(), key=lambda group: (-len(group[1]), group[0]))
    return "; ".join(f"{count} on {'each of ' if len(nodes) > 1 else ''}{fold(nodes)}" for count, nodes in ordered)


def by_node(parts: Iterable[Hardware]) -> tuple[tuple[PartShelf, ...], ...]:
    """Return each node's parts, grouped by model."""
    gathered: dict[str, list[PartShelf]] = {}
    for shelf in shelves(parts):
        gathered.setdefault(shelf.node, []).append(shelf)
    return tuple(map(tuple, gathered.values()))


def grid(dossier: Dossier, odd: Sequence[ComponentGroup]) -> tuple[GridRow, ...]:
    """Return the differing components with each node's version; an empty tuple if there are more than GRID nodes."""
    names = [node.name for node in dossier.nodes]
    if len(names) > GRID:
        return ()
    return tuple(GridRow(one, tuple(_cell(one.versions, name) for name in names)) for one in odd)


def _cell(row: Versions, name: str) -> tuple[str, bool]:
    """Return one node's version, and whether this version is unknown or not the most common one."""
    version = next((version for version, nodes in row.groups if name in nodes), "")
    return version, not version or version != row.groups[0][0]


def truths(dossier: Dossier) -> Mapping[str, tuple[tuple[Status, tuple[str, ...]], ...]]:
    """Return, for each rule, every original verdict that a waiver changed, with the nodes that had this verdict."""
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
    """Return the original verdicts that this waiver changed, each with the nodes on which the waiver was used."""
    met = ((s, [n for n in nodes if n in exemption.used]) for s, nodes in known.get(exemption.rule, ()))
    return tuple((status, names_text(nodes)) for status, nodes in met if nodes)
