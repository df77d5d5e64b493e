"""Findings about the same part as one: the gravest finding leads, and the others on this part follow it. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rackcheck.evaluate.verdict import Status
from rackcheck.model.evidence import clause_text
from rackcheck.model.profile import Severity
from rackcheck.views.named_part import NamedPart
from rackcheck.views.part_names import Named
from rackcheck.views.summary import Finding

_GRAVITY = list(Severity)
_FOLDED = frozenset({Status.FAIL, Status.WARN, Status.UNKNOWN})


@dataclass(frozen=True, slots=True)
class PartFinding:
    """A finding, the parts that it is about by node, and the other findings about these parts on the same nodes.

    A finding that is about no part has no parts, and no other findings.
    """

    finding: Finding
    parts: Mapping[str, tuple[NamedPart, ...]] = field(default_factory=dict)
    also: tuple[Finding, ...] = ()

    @property
    def only(self) -> tuple[str, NamedPart] | None:
        """The node and the part, if the finding is about one part of one node."""
        found = [(node, each) for node, several in self.parts.items() for each in several]
        return found[0] if len(found) == 1 else None

    @property
    def reason(self) -> str:
        """The reason of the finding; if parts are missing, without the parts of the same kind that are there."""
        gone = any(each.missing for several in self.parts.values() for each in several)
        found = self.finding
        return clause_text(found.evidence[0]) if gone and found.evidence else found.reason

    def lines(self, most: int) -> Iterator[str]:
        """Yield the parts by node, such as `dgx05: GPU module-6 (slot SXM3)`; at most so many nodes, and the rest."""
        for node, several in list(self.parts.items())[:most]:
            yield f"{node}: {'; '.join(map(str, several))}"
        if len(self.parts) > most:
            yield f"and {len(self.parts) - most:,} more node{'' if len(self.parts) == most + 1 else 's'}"

    def narrowed(self, nodes: Collection[str]) -> "PartFinding":
        """Return a copy with only these nodes."""
        left = {node: several for node, several in self.parts.items() if node in nodes}
        also = tuple(replace(each, nodes=tuple(n for n in each.nodes if n in nodes)) for each in self.also)
        return PartFinding(replace(self.finding, nodes=tuple(left)), left, also)

    def json(self) -> dict[str, Any]:
        """Return the parts by node, and the rules of the other findings, as JSON."""
        parts = {node: [_part(each) for each in several] for node, several in self.parts.items()}
        return {"parts": parts, "also": [each.rule.id for each in self.also]}


def _part(named: NamedPart) -> dict[str, Any]:
    part = named.part
    texts = {"slot": part.slot, "pci": part.pci, "serial": part.serial, "model": part.model}
    known = {word: text for word, text in texts.items() if text}
    return {"kind": part.word, "name": part.name, "missing": named.missing, **known, "items": list(part.items)}


def by_part(findings: Iterable[Finding], named: Named) -> list[PartFinding]:
    """Combine ranked findings about the same parts of the same nodes; the order is that of the leading findings.

    A finding follows another one that is at least as grave, and that is about all parts that it is about itself.
    """
    found: list[PartFinding] = []
    places: dict[tuple[str, ...], list[int]] = {}
    for finding in findings:
        parts = _parts(finding, named)
        mine = places.setdefault(finding.nodes, [])
        lead = next((at for at in mine if _leads(found[at], finding, parts)), None) if parts else None
        if lead is not None:
            found[lead] = replace(found[lead], also=(*found[lead].also, finding))
        else:
            mine.append(len(found))
            found.append(PartFinding(finding, parts))
    return found


def _parts(finding: Finding, named: Named) -> Mapping[str, tuple[NamedPart, ...]]:
    """Return the parts of a finding by node; empty if it is about no part on any of its nodes."""
    if finding.status not in _FOLDED:
        return {}
    found = {node: named.get(node, {}).get(finding.rule.id, ()) for node in finding.nodes}
    return found if all(found.values()) else {}


def _leads(lead: PartFinding, other: Finding, parts: Mapping[str, Sequence[NamedPart]]) -> bool:
    graver = _GRAVITY.index(lead.finding.rule.severity) <= _GRAVITY.index(other.rule.severity)
    return (
        bool(lead.parts)
        and graver
        and (lead.finding.status is Status.FAIL or lead.finding.status is other.status)
        and all(any(each.same(own) for own in lead.parts[node]) for node, several in parts.items() for each in several)
    )
