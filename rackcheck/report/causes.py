"""One cause said once: rules that are unknown on the same nodes for the same reason."""

from collections.abc import Sequence
from dataclasses import dataclass

from rackcheck.core.fact import Unknown
from rackcheck.core.read import natural
from rackcheck.core.verdict import Status
from rackcheck.report.summary import Finding

FEW = 3
"""Findings with one cause that are still worth a block each."""


@dataclass(frozen=True)
class Cause:
    """Why many rules are unknown: the reason, its details, the rules and the nodes."""

    unknown: Unknown
    rules: tuple[str, ...]
    nodes: tuple[str, ...]
    details: tuple[str, ...]


def causes(findings: Sequence[Finding]) -> tuple[list[Cause], list[Finding]]:
    """Gather findings that share a cause; gives the causes, and the findings that stand for themselves.

    Nodes that are silent for reasons of the same kind (each names its own address) become one cause.
    """
    shared: dict[tuple[Unknown, tuple[str, ...]], list[Finding]] = {}
    for finding in findings:
        unknown = _cause(finding)
        if unknown is not None:
            shared.setdefault((unknown, finding.nodes), []).append(finding)
    merged: dict[tuple[str, tuple[str, ...]], list[tuple[Unknown, tuple[str, ...]]]] = {}
    told: set[int] = set()
    for (unknown, nodes), members in shared.items():
        if len(members) > FEW:
            told |= {id(member) for member in members}
            rules = tuple(sorted(member.rule.id for member in members))
            merged.setdefault((unknown.reason.value, rules), []).append((unknown, nodes))
    found = [
        Cause(
            entries[0][0], rules,
            tuple(sorted({node for _, nodes in entries for node in nodes}, key=natural)),
            tuple(dict.fromkeys(unknown.detail for unknown, _ in entries)),
        )
        for (_, rules), entries in merged.items()
    ]  # fmt: skip
    return found, [finding for finding in findings if id(finding) not in told]


def _cause(finding: Finding) -> Unknown | None:
    if finding.status is not Status.UNKNOWN or not finding.evidence:
        return None
    unknowns = {evidence.unknown for evidence in finding.evidence}
    (only,) = unknowns if len(unknowns) == 1 else (None,)
    return only
