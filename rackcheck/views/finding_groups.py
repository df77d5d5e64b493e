"""Groups the findings of a run: numbered groups of nodes with the same finding, values and a hint. Pure.

The command line and the screens show the same groups of findings. Groups are numbered before a filter is applied, so
that a filter does not change their numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.evidence import Evidence, seen
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.profile import Rule, Severity
from rackcheck.probe.group import is_group
from rackcheck.run.event import Event, FactsRead, RunStarted
from rackcheck.views.causes import Cause, causes
from rackcheck.views.census import Census
from rackcheck.views.differing_setting import differing_setting
from rackcheck.views.hints import Case, Hint, Hints
from rackcheck.views.other_machines import deciding
from rackcheck.views.part_findings import PartFinding, by_part
from rackcheck.views.reasons import gathered
from rackcheck.views.shared_traits import HintKind
from rackcheck.views.summary import Finding, Summary, several

QUIET = frozenset({Status.PASS, Status.NA})
"""Verdicts that are hidden by default, and that need no hint."""

_BE = "must be "
_TELLING = ({Status.FAIL, Status.WARN}, {Status.UNKNOWN}, set(Status))


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Nodes or racks with the same finding; if many rules share a cause, `rule` is empty and `about` is the cause.

    If nodes are INCOMPLETE for a reason other than a rule, `rule` is empty and `got` is the reason. `parts` has the
    parts that the finding is about by node, and the other findings about these parts.
    """

    number: int
    status: Status
    rule: str
    title: str
    severity: str
    nodes: tuple[str, ...]
    want: str
    got: str
    hint: Hint | None
    about: Finding | Cause
    parts: PartFinding | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the group is about."""
        if isinstance(self.about, Cause):
            return self.about.rules
        return (self.rule, *(each.rule.id for each in self.parts.also)) if self.parts is not None else (self.rule,)

    @property
    def quiet(self) -> bool:
        """Whether the rule passes or does not apply."""
        return self.status in QUIET

    def narrowed(self, nodes: frozenset[str]) -> "FindingGroup | None":
        """Return a copy of the group that has only the nodes in `nodes`; None if the group has none of these nodes.

        The copy of the group keeps the hint that was found for all nodes of the original group.
        """
        left = tuple(node for node in self.nodes if node in nodes)
        if not left:
            return None
        parts = None if self.parts is None else self.parts.narrowed(left)
        return replace(self, nodes=left, about=_narrowed(self.about, left), parts=parts)


def _narrowed(about: Finding | Cause, left: tuple[str, ...]) -> Finding | Cause:
    if isinstance(about, Finding):
        return replace(about, nodes=left)
    kept = {detail: tuple(node for node in nodes if node in left) for detail, nodes in about.details.items()}
    return replace(about, nodes=left, details={detail: nodes for detail, nodes in kept.items() if nodes})


def counted(events: Iterable[Event], census: Census, places: Mapping[str, Mapping[str, str]]) -> Iterator[Event]:
    """Yield the events of a run unchanged, and add the facts of every node to the census.

    `places` contains the rack, row, role, slot and PDU of nodes.
    """
    planes: frozenset[Plane] | None = None
    for event in events:
        if isinstance(event, RunStarted):
            planes = frozenset({*map(Plane, event.planes), Plane.DERIVED})
        elif isinstance(event, FactsRead) and not is_group(event.node):
            mine = places.get(event.node, {})
            census.take(event.node, mine.get("role") or "compute", event.tree, mine, planes)
        yield event


def groups(summary: Summary, census: Census) -> tuple[FindingGroup, ...]:
    """Return all groups of findings, numbered from 1.

    The order of the groups is: nodes that are INCOMPLETE for a reason other than a rule; failures; causes that make
    many rules unknown; all other findings. Machines that the profile is not for are only in groups of nodes that are
    INCOMPLETE for a reason other than a rule. Unknown findings of rules with `unknown: minor` are in no group.
    """
    hints, judged = Hints(census), _judged(summary, census)
    rules = {finding.rule.id: finding.rule for finding in summary.findings}
    found = [f for f in deciding(summary.findings, frozenset(summary.others)) if not _is_aside(f)]
    common, single = causes(found, summary.silent)
    leads = by_part(single, summary.named)
    hints.weigh(_case(lead.finding, census, judged) for lead in leads if lead.finding.status not in QUIET)
    fails = sum(lead.finding.status is Status.FAIL for lead in leads)
    nodes: dict[tuple[str, Status], set[str]] = {}
    for each in single:
        nodes.setdefault((each.rule.id, each.status), set()).update(each.nodes)
    repeated = {key for key, names in nodes.items() if len(names) > 1}
    rows = [_found(lead, hints, census, judged, repeated) for lead in leads]
    shared = [_shared(cause, rules, hints, census, judged) for cause in common]
    shared.sort(key=lambda group: -len(group.nodes))
    ordered = [*_reasoned(summary, found, hints, census), *rows[:fails], *shared, *rows[fails:]]
    return tuple(replace(group, number=number) for number, group in enumerate(ordered, start=1))


def _is_aside(finding: Finding) -> bool:
    """Whether a finding is unknown and its rule excuses this; such findings have no group.

    For a finding of a built-in rule, the result is always false.
    """
    return finding.excused and not finding.rule.built_in


def _reasoned(summary: Summary, found: Sequence[Finding], hints: Hints, census: Census) -> Iterator[FindingGroup]:
    """Group INCOMPLETE nodes by reason, without the nodes that are INCOMPLETE because a rule is unknown."""
    unknown = (each for each in found if each.status is Status.UNKNOWN and each.decides)
    seen = {node for each in unknown for node in each.nodes}
    for reason, names in gathered((each.node, each.outcome, each.reason) for each in summary.everyone):
        nodes = tuple(name for name in names if name not in seen)
        if not nodes:
            continue
        cause = Cause(Unknown(Reason.NOT_TESTED), (), nodes, {reason: nodes})
        hint = hints.of(census.bits(nodes), census.everyone, unknown=True)
        gravest = Severity.BLOCKER.value
        yield FindingGroup(0, Status.UNKNOWN, "", Outcome.INCOMPLETE.value, gravest, nodes, "", reason, hint, cause)


def _judged(summary: Summary, census: Census) -> Mapping[str, int]:
    """Return for each rule the set of nodes on which the rule has a verdict other than `n/a`."""
    found: dict[str, int] = {}
    for node in summary.judged:
        bit = census.bits((node.node,))
        for verdict in node.verdicts:
            if verdict.status is not Status.NA:
                found[verdict.rule] = found.get(verdict.rule, 0) | bit
    return found


def _found(
    lead: PartFinding, hints: Hints, census: Census, judged: Mapping[str, int], repeated: Set[tuple[str, Status]]
) -> FindingGroup:
    """Return the group of a finding; `repeated` are the rules, and their verdicts, that more than one node has."""
    finding = lead.finding
    rule, hint = finding.rule, None
    if finding.status not in QUIET:
        hint = hints.of(*_case(finding, census, judged), unknown=finding.status is Status.UNKNOWN)
    if hint is not None and hint.sort is HintKind.ALONE and (rule.id, finding.status) in repeated:
        hint = None  # the same rule fails on other nodes, with another value
    want, got = _wanted(finding)
    return FindingGroup(
        0, finding.status, rule.id, rule.title, rule.severity.value, finding.nodes, want, got, hint, finding,
        lead if lead.parts else None,
    )  # fmt: skip


def _case(finding: Finding, census: Census, judged: Mapping[str, int]) -> Case:
    read = frozenset(str(fact.pattern) for fact in finding.rule.facts())
    names = frozenset(each.observed for each in finding.evidence)
    return census.bits(finding.nodes), judged.get(finding.rule.id, 0), read, names


def _shared(
    cause: Cause, rules: Mapping[str, Rule], hints: Hints, census: Census, judged: Mapping[str, int]
) -> FindingGroup:  # fmt: skip
    mine = [rules[rule] for rule in cause.rules if rule in rules]
    among = 0
    for rule in cause.rules:
        among |= judged.get(rule, 0)
    read = frozenset(str(fact.pattern) for rule in mine for fact in rule.facts())
    gravest = min((rule.severity for rule in mine), key=list(Severity).index, default=Severity.ADVISORY)
    of_plane = f" of the {cause.plane.value} plane" if cause.plane is not None else ""
    title = f"{several(len(cause.rules), 'rule')}{of_plane}: {cause.unknown.reason.value}"
    got = cause.texts[0] if len(cause.details) == 1 and cause.texts[0] else cause.unknown.reason.value
    # If a fact was not collected, the nodes are not the cause.
    asked = cause.unknown.reason is not Reason.NOT_COLLECTED
    hint = hints.of(census.bits(cause.nodes), among, read, unknown=True) if asked else None
    return FindingGroup(0, Status.UNKNOWN, "", title, gravest.value, cause.nodes, "", got, hint, cause)


def _wanted(finding: Finding) -> tuple[str, str]:
    """Return the expected and the actual value of the first relevant evidence, with the number of further values."""
    own = [each for each in finding.evidence if each.status is finding.status]
    kinds = ([each for each in finding.evidence if each.status in some] for some in _TELLING)
    pieces = own or next((some for some in kinds if some), [])
    if not pieces:
        return "", finding.reason
    if finding.rule.look is not None and finding.rule.look.mode == "count":
        pieces = pieces[:1]  # the facts after a count are only for information
    wants = list(dict.fromkeys(map(_expected, pieces)))
    gots = list(dict.fromkeys(map(_seen, pieces)))
    count = f" ({len(pieces):,} {'items' if len(wants) == 1 else 'facts'})" if len(pieces) > 1 else ""
    return _first(wants), _first(gots) + count


def _expected(piece: Evidence) -> str:
    differs = differing_setting(piece)
    return piece.expected.removeprefix(_BE) if differs is None else f"{differs.most}, as most"


def _seen(piece: Evidence) -> str:
    differs = differing_setting(piece)
    if differs is not None:
        return f"{differs.setting} {differs.own}"
    if piece.unknown is not None and not piece.observed:
        return piece.unknown.reason.value
    return seen(piece) or "nothing"


def _first(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1:,} other{'' if len(texts) == 2 else 's'}"
