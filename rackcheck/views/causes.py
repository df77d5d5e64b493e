"""Groups findings by cause: planes without a reply, and rules unknown on the same nodes for the same reason."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Status
from rackcheck.model.fact import Plane, Unknown
from rackcheck.model.fold import fold, similar
from rackcheck.model.text import natural
from rackcheck.views.summary import Finding, Silent

FEW = 3
"""Maximum number of findings with the same cause that are shown separately."""

SHORT = 40
"""Maximum number of characters of a node set that is shown before a detail."""


@dataclass(frozen=True)
class Cause:
    """Why several rules are unknown: the reason, the details, the rules and the nodes.

    `plane` is set if the cause is a plane without any reply. `details` maps each distinct detail text to its nodes.
    """

    unknown: Unknown
    rules: tuple[str, ...]
    nodes: tuple[str, ...]
    details: Mapping[str, tuple[str, ...]]
    plane: Plane | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The details as texts; if there are several, each detail follows its nodes unless the node set is long."""
        return detail_lines(self.details)


def detail_lines(details: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Format each distinct detail once, with the names of the nodes that have it before the detail.

    A detail is shown without its nodes if there is no other detail, or if its node set has more than `SHORT`
    characters.
    """
    if len(details) < 2:
        return tuple(details)
    return tuple(_named(detail, fold(nodes)) for detail, nodes in details.items())


def _named(detail: str, nodes: str) -> str:
    return f"{nodes}: {detail}" if len(nodes) <= SHORT else detail


def causes(findings: Sequence[Finding], silent: Silent | None = None) -> tuple[list[Cause], list[Finding]]:
    """Group findings that share a cause; return the causes, and the findings without a shared cause.

    Nodes whose plane returned nothing for the same kind of reason share one cause, even if their details differ.
    Details that differ only in addresses, and the like, are merged.
    """
    quiet, loud = _silences(findings, silent or {})
    shared: dict[tuple[Unknown, tuple[str, ...]], list[Finding]] = {}
    for finding in loud:
        unknown = _cause(finding)
        if unknown is not None:
            shared.setdefault((unknown, finding.nodes), []).append(finding)
    merged: dict[tuple[str, tuple[str, ...]], list[tuple[Unknown, tuple[str, ...]]]] = {}
    names: set[int] = set()
    for (unknown, nodes), members in shared.items():
        if len(members) > FEW:
            names |= {id(member) for member in members}
            rules = tuple(sorted(member.rule.id for member in members))
            merged.setdefault((unknown.reason.value, rules), []).append((unknown, nodes))
    found = [
        Cause(entries[0][0], rules, _nodes(entries), _by_detail((unknown.detail, nodes) for unknown, nodes in entries))
        for (_, rules), entries in merged.items()
    ]
    return [*quiet, *found], [finding for finding in loud if id(finding) not in names]


def _nodes(entries: Iterable[tuple[Unknown, tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(sorted({node for _, nodes in entries for node in nodes}, key=natural))


def _by_detail(rows: Iterable[tuple[str, tuple[str, ...]]]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for detail, nodes in rows:
        found[detail] = (*found.get(detail, ()), *nodes)
    return found


def _silences(findings: Sequence[Finding], silent: Silent) -> tuple[list[Cause], list[Finding]]:
    """Group findings that are unknown because a plane returned nothing; return the causes, and all other findings.

    A finding that is blocked by a rule has the same cause as the finding of the blocking rule.
    """
    values: dict[tuple[Plane, str], list[tuple[Unknown, tuple[str, ...], str]]] = {}
    covered: dict[tuple[str, str], Plane] = {}
    left = list(findings)
    while True:
        rest = []
        for finding in left:
            planes = _silenced(finding, silent, covered)
            if not planes:
                rest.append(finding)
                continue
            for node, plane in planes.items():
                covered[finding.rule.id, node] = plane
                why = silent[node, plane]
                values.setdefault((plane, why.reason.value), []).append((why, (node,), finding.rule.id))
        if len(rest) == len(left):
            break
        left = rest
    quiet = []
    for (plane, _), entries in sorted(values.items()):
        by_node = {nodes[0]: why.detail for why, nodes, _ in entries}
        ordered = tuple(sorted(by_node, key=natural))
        details = similar(_by_detail((by_node[node], (node,)) for node in ordered))
        rules = tuple(sorted({rule for _, _, rule in entries}))
        quiet.append(Cause(entries[0][0], rules, ordered, details, plane))
    return quiet, left


def _silenced(finding: Finding, silent: Silent, covered: Mapping[tuple[str, str], Plane]) -> Mapping[str, Plane]:
    """Return, for each node of a finding, the plane that makes the finding unknown because it returned nothing.

    The result is empty if the finding is not unknown, or if it is unknown on any node for another reason than a plane
    that returned nothing. If a rule reads several planes, and at least one of the planes returned nothing on each node,
    other reasons in the evidence are ignored.
    """
    if finding.status is not Status.UNKNOWN:
        return {}
    blocked = re.fullmatch(r"blocked by (\S+)", finding.reason)
    if blocked:
        planes = {node: covered[blocked[1], node] for node in finding.nodes if (blocked[1], node) in covered}
        return planes if len(planes) == len(finding.nodes) else {}
    whys = {evidence.unknown for evidence in finding.evidence if evidence.unknown is not None}
    for plane in sorted(finding.rule.planes):
        if whys and all((node, plane) in silent and whys == {silent[node, plane]} for node in finding.nodes):
            return dict.fromkeys(finding.nodes, plane)
    asked = sorted(finding.rule.planes - {Plane.DERIVED})
    first = {node: [plane for plane in asked if (node, plane) in silent] for node in finding.nodes}
    return {node: planes[0] for node, planes in first.items()} if len(asked) > 1 and all(first.values()) else {}


def _cause(finding: Finding) -> Unknown | None:
    if finding.status is not Status.UNKNOWN or not finding.evidence:
        return None
    unknowns = {evidence.unknown for evidence in finding.evidence}
    (only,) = unknowns if len(unknowns) == 1 else (None,)
    return only
