"""Groups a document's findings by cause: findings that are unknown on the same nodes for one cause are one block.

For a run, `views.causes` groups findings by silent planes; a document has no data on silent planes, only texts. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Status
from rackcheck.model.profile import Severity
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.report.report_model import FindingEntry, Gate, Unchecked
from rackcheck.views import locations
from rackcheck.views.causes import detail_lines
from rackcheck.views.summary import several

MARK = "unknown: "
"""Prefix of an observed value that could not be read; the cause follows the prefix."""

UNITS = {"phase": "rule", "scope": "rule", "node": "node"}
"""The unit of a gap's count, by kind of gap (a gap is what was not checked); for other kinds, it is `verdict`."""

_BLOCKED = regex(r"blocked by (\S+)")


@dataclass(frozen=True, slots=True)
class Block:
    """Findings with a common cause, which are shown together, or a single finding, for which `causes` is empty.

    Causes with the same kind of reason but different details are in one block; `spread` contains the nodes of each
    cause.
    """

    findings: tuple[FindingEntry, ...]
    causes: tuple[str, ...] = ()
    spread: tuple[tuple[str, ...], ...] = ()

    @property
    def status(self) -> Status:
        """The verdict, which is the same for all findings of the block."""
        return self.findings[0].status

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of all findings of the block."""
        return tuple(sorted({node for found in self.findings for node in found.nodes}, key=natural))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of all findings of the block, without duplicates."""
        return tuple(dict.fromkeys(found.rule for found in self.findings))

    def severity(self, gates: Mapping[str, Gate]) -> Severity:
        """Return the highest severity of the block's rules."""
        order = list(Severity)
        rows = [gates[rule].severity for rule in self.rules if rule in gates]
        return min(rows, key=order.index, default=Severity.ADVISORY)

    def title(self, gates: Mapping[str, Gate]) -> str:
        """Return a title for the block's rules, such as `20 rules of the bmc plane`."""
        planes = [set(gates[rule].planes) if rule in gates else set[str]() for rule in self.rules]
        common = set.intersection(*planes)
        of = f" of the {next(iter(common))} plane" if len(common) == 1 else ""
        return f"{several(len(self.rules), 'rule')}{of}"

    def cause(self, most: int = 3) -> str:
        """Format the first `most` causes, and the number of further causes."""
        more = f"; and {len(self.causes) - most} more like these" if len(self.causes) > most else ""
        return "; ".join(detail_lines(dict(zip(self.causes, self.spread, strict=True)))[:most]) + more


def blocks(findings: Sequence[FindingEntry]) -> tuple[Block, ...]:
    """Group findings by cause, in the order of each group's first finding; other findings are groups of one."""
    homes = _homes(findings)
    gathered: dict[object, list[tuple[FindingEntry, str]]] = {}
    for place, found in enumerate(findings):
        home = homes.get(place)
        gathered.setdefault(home or place, []).append((found, home[0] if home else ""))
    merged: dict[object, list[tuple[FindingEntry, str]]] = {}
    for key, members in gathered.items():
        rules = frozenset(found.rule for found, _ in members)
        kind = members[0][1].partition(":")[0]
        merged.setdefault((kind, rules) if len(rules) > 1 else key, []).extend(members)
    return tuple(
        _shared(members)
        if len({found.rule for found, _ in members}) > 1
        else Block(tuple(found for found, _ in members))
        for members in merged.values()
    )


def _shared(members: Sequence[tuple[FindingEntry, str]]) -> Block:
    nodes: dict[str, set[str]] = {}
    for found, cause in members:
        nodes.setdefault(cause, set()).update(found.nodes)
    spread = tuple(tuple(sorted(some, key=natural)) for some in nodes.values())
    return Block(tuple(found for found, _ in members), tuple(nodes), spread)


def _homes(findings: Sequence[FindingEntry]) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return each unknown finding's cause and nodes by index; a finding blocked by a rule has that rule's cause."""
    homes = {}
    waiting = {}
    for place, found in enumerate(findings):
        if found.status is not Status.UNKNOWN:
            continue
        names = {exhibit.observed for exhibit in found.evidence}
        blocked = _BLOCKED.fullmatch(found.reason)
        if len(names) == 1 and not found.more and (only := names.pop()).startswith(MARK):
            homes[place] = (only.removeprefix(MARK), found.nodes)
        elif blocked:
            waiting[place] = blocked[1]
    while True:
        known = {(findings[place].rule, home[1]): home for place, home in homes.items()}
        freed = {
            place: known[rule, findings[place].nodes]
            for place, rule in waiting.items()
            if (rule, findings[place].nodes) in known
        }
        if not freed:
            return homes
        homes |= freed
        waiting = {place: rule for place, rule in waiting.items() if place not in freed}


_NAMED = frozenset({"plane", "phase", "node"})
"""Kinds of gaps in the checks that a short text lists one by one; for other kinds, it contains only the number."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Everything of one kind that was not checked for one reason; `whats` are names of planes, rules, site values etc.

    `count` is a number of verdicts, rules or nodes, depending on `kind`.
    """

    kind: str
    whats: tuple[str, ...]
    why: str
    count: int
    nodes: tuple[str, ...]

    @property
    def what(self) -> str:
        """The names of the planes, rules, site values etc. that were not checked, as one text."""
        return ", ".join(self.whats)

    @property
    def counted(self) -> str:
        """The count with its unit, such as `7 verdicts`."""
        unit = UNITS.get(self.kind, "verdict")
        return f"{self.count:,} {unit}{'' if self.count == 1 else 's'}"

    def short(self) -> str:
        """A short text for a cover page: `bmc plane of dgx08`, `7 site values`."""
        if self.kind == "plane":
            return f"{self.what} plane of {locations.names_text(self.nodes) or 'all nodes'}"
        if self.kind == "phase":
            return self.what
        if self.kind == "node":
            return several(self.count, "node")
        return several(len(self.whats), self.kind)


def in_short(found: Sequence[Gap]) -> tuple[str, ...]:
    """Return a short text for each kind of gap in the checks; a kind that is only counted has one total for all."""
    counted: dict[str, set[str]] = {}
    for gap in found:
        if gap.kind not in _NAMED:
            counted.setdefault(gap.kind, set()).update(gap.whats)
    rows = (gap.short() if gap.kind in _NAMED else several(len(counted[gap.kind]), gap.kind) for gap in found)
    return tuple(dict.fromkeys(rows))


def things(unchecked: Sequence[Unchecked]) -> int:
    """Count what was not checked; a rule counts once, even if it is unknown on several nodes or racks."""
    return len({(one.kind, one.what, one.nodes if one.kind in _NAMED else ()) for one in unchecked})


def gaps(unchecked: Sequence[Unchecked]) -> tuple[Gap, ...]:
    """Group what was not checked by kind, reason and nodes; the groups keep the order of their first entries."""
    found: dict[tuple[str, str, tuple[str, ...]], list[Unchecked]] = {}
    for one in unchecked:
        found.setdefault((one.kind, one.why, one.nodes), []).append(one)
    return tuple(
        Gap(kind, tuple(one.what for one in ones), why, sum(one.count for one in ones), nodes)
        for (kind, why, nodes), ones in found.items()
    )
