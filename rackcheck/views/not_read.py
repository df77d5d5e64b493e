"""What a run did not read or judge, folded over nodes, for lists that would look complete without it. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean
from rackcheck.views import locations
from rackcheck.views.causes import causes
from rackcheck.views.summary import Finding, Summary, several

LONGEST = 240
"""Maximum number of characters of a reason in a line; JSON documents contain the full text."""

MOST = 12
"""Maximum number of lines in a text; the others are counted."""


@dataclass(frozen=True, slots=True)
class NotRead:
    """Nodes or racks of which the same was not read or judged, the reason, and the deciding rules that are unknown."""

    nodes: tuple[str, ...]
    why: str
    rules: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the nodes, the reason and the rules as JSON."""
        return {"nodes": list(self.nodes), "folded": self.where, "why": self.why, "rules": list(self.rules)}

    @property
    def where(self) -> str:
        """The nodes as a folded node set; a rack or the fleet is named as such."""
        return locations.names_text(self.nodes)

    def __str__(self) -> str:
        count = f" ({several(len(self.rules), 'rule')} unknown)" if self.rules else ""
        return f"{self.where}: {clean(self.why, LONGEST)}{count}"


def not_read(summary: Summary, nodes: Collection[str], rules: Collection[str] = ()) -> tuple[NotRead, ...]:
    """Return what was not read or judged on these nodes: unknown deciding rules by cause, then other INCOMPLETE nodes.

    `rules` selects rules; without any, all rules count. A node that was never judged is one of the other nodes.
    """
    left = (f for f in summary.findings if _is_unknown(f) and (not rules or f.rule.id in rules))
    mine = [replace(f, nodes=tuple(n for n in f.nodes if n in nodes and n not in summary.others)) for f in left]
    unknown = [finding for finding in mine if finding.nodes]
    common, single = causes(unknown, summary.silent)
    found = [NotRead(c.nodes, _cause(c.plane, c.unknown.reason.value, c.texts), c.rules) for c in common]
    found += [NotRead(each.nodes, f"{each.rule.id} is unknown: {each.reason}", (each.rule.id,)) for each in single]
    explained = {node for each in unknown for node in each.nodes}
    for reason, names in summary.reasons:
        rest = tuple(name for name in names if name in nodes and name not in explained)
        if rest and not (rules and set(rest) <= {node.node for node in summary.judged} - set(summary.others)):
            found.append(NotRead(rest, reason))
    if summary.done.outcome is Outcome.INCOMPLETE and not (summary.reasons or any(map(_is_unknown, summary.findings))):
        why = summary.reason or "; ".join(summary.notes)  # such as a step of an acceptance that was not taken
        found.append(NotRead(summary.started.nodes, why))
    return tuple(found)


def _is_unknown(finding: Finding) -> bool:
    return finding.status is Status.UNKNOWN and finding.decides


def _cause(plane: str | None, reason: str, texts: tuple[str, ...]) -> str:
    details = f" ({'; '.join(texts)})" if any(texts) else ""
    return f"the {plane} plane was not read: {reason}{details}" if plane is not None else f"{reason}{details}"


def lines(found: Collection[NotRead]) -> Iterator[str]:
    """Yield a heading and one line for each cause; nothing if everything was read."""
    if not found:
        return
    yield "INCOMPLETE: what was not read may need work that is not listed here. Not read or not judged:"
    for each in list(found)[:MOST]:
        yield f"    {each}"
    if len(found) > MOST:
        yield f"    and {len(found) - MOST} more (all in --json)"
