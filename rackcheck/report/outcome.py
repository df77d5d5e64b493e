"""What it all comes to: the tally, what was not checked, compliance by area, the punch list. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from rackcheck.core.event import Judged
from rackcheck.core.profile import Phase, Profile, Rule, Severity
from rackcheck.core.verdict import Outcome, Status
from rackcheck.report.causes import Cause, causes
from rackcheck.report.dossier import Area, Punch, Tally, Unchecked
from rackcheck.report.summary import COUNTED, Finding, Silent, several


def tally(
    judged: Sequence[Judged], unread: Sequence[str], rules: Mapping[str, Rule], outcome: Outcome, *, cut: bool
) -> Tally:
    """Count verdicts and nodes; a node that no run has read is incomplete."""
    counts = dict.fromkeys(COUNTED, 0)
    severe = {severity: dict.fromkeys(COUNTED, 0) for severity in Severity}
    for node in judged:
        for verdict in node.verdicts:
            counts[verdict.status] += 1
            severe[rules[verdict.rule].severity][verdict.status] += 1
    nodes = {o: tuple(node.node for node in judged if node.outcome is o) for o in Outcome}
    nodes[Outcome.INCOMPLETE] += tuple(unread)
    return Tally(outcome, cut, counts, sum(counts.values()), nodes, severe)


def unchecked(
    findings: Sequence[Finding], silent: Silent, judged: Sequence[Judged], unread: Sequence[str], profile: Profile,
    planes: Sequence[str],
) -> Iterator[Unchecked]:  # fmt: skip
    """Tell what was not checked: nodes, planes, single rules, site values, and what was not in scope."""
    if unread:
        yield Unchecked("node", "never read", "no run of this acceptance has read them", len(unread), tuple(unread))
    common, single = causes(findings, silent)
    for cause in common:
        kind, what = ("plane", cause.plane.value) if cause.plane is not None else ("rule", ", ".join(cause.rules))
        count = sum(len(f.nodes) for f in findings if f.status is Status.UNKNOWN and _covers(cause, f))
        yield Unchecked(kind, what, _why(cause), count, cause.nodes)
    for finding in single:
        if finding.status is Status.UNKNOWN:
            yield Unchecked("rule", finding.rule.id, finding.reason, len(finding.nodes), finding.nodes)
    for param in sorted({name for rule in profile.rules for name in rule.unset}):
        rules = {rule.id for rule in profile.rules if param in rule.unset}
        count = sum(v.rule in rules for node in judged for v in node.verdicts)
        yield Unchecked("site value", param, f"no value set, and {several(len(rules), 'rule')} need one", count)
    yield from _out_of_scope(judged, profile, planes)


def _covers(cause: Cause, finding: Finding) -> bool:
    return finding.rule.id in cause.rules and set(finding.nodes) <= set(cause.nodes)


def _why(cause: Cause) -> str:
    more = f"; and {len(cause.details) - 3} more like these" if len(cause.details) > 3 else ""
    return (
        f"{cause.unknown.reason.value}: {'; '.join(cause.details[:3])}{more}"
        if any(cause.details)
        else str(cause.unknown)
    )


def _out_of_scope(judged: Sequence[Judged], profile: Profile, planes: Sequence[str]) -> Iterator[Unchecked]:
    seen = {v.rule for node in judged for v in node.verdicts}
    left = [rule for rule in profile.rules if rule.id not in seen]
    for phase in Phase:
        rules = [rule for rule in left if rule.phase is phase and phase is not Phase.CONFIG]
        if rules:
            yield Unchecked("phase", phase.value, f"{several(len(rules), f'{phase.value} rule')} not run", len(rules))
    config = [rule for rule in left if rule.phase is Phase.CONFIG]
    narrowed = [rule for rule in config if {p.value for p in rule.planes} - {*planes, "derived"}]
    if narrowed:
        missing = sorted({p.value for rule in narrowed for p in rule.planes} - {*planes, "derived"})
        yield Unchecked(
            "scope", f"{' and '.join(missing)} plane", f"not asked: {several(len(narrowed), 'rule')}", len(narrowed)
        )
    others = [rule for rule in config if rule not in narrowed]
    if others:
        yield Unchecked("scope", "role", f"{several(len(others), 'rule')} for roles that no node has", len(others))


def areas(judged: Sequence[Judged], rules: Sequence[Rule]) -> Iterator[Area]:
    """Count verdicts by plane and by the area of the facts, in the profile's order."""
    placed: dict[tuple[str, str], list[str]] = {}
    for rule in rules:
        planes = "+".join(sorted(plane.value for plane in rule.planes if plane.value != "derived")) or "derived"
        placed.setdefault((planes, _area(rule)), []).append(rule.id)
    counts: dict[str, dict[Status, int]] = {rule.id: dict.fromkeys(COUNTED, 0) for rule in rules}
    for node in judged:
        for verdict in node.verdicts:
            counts[verdict.rule][verdict.status] += 1
    for (planes, area), ids in sorted(placed.items()):
        yield Area(planes, area, len(ids), {s: sum(counts[i][s] for i in ids) for s in COUNTED})


def _area(rule: Rule) -> str:
    path = rule.look.collection if rule.look is not None else rule.clauses[0].fact
    return path.segments[0].word if path.segments else rule.id.partition(".")[0]


def punch(
    findings: Sequence[Finding], silent: Silent, owners: Mapping[tuple[str, str], tuple[str, str]]
) -> Iterator[Punch]:
    """List what is left to do: A blocks the sign-off, B is to be fixed by a day or is minor, C is a note.

    `owners` give by rule and node who answers for a waiver, and until when.
    """
    common, single = causes(findings, silent)
    found = [p for finding in single for p in _line(finding, owners)]
    for cause in common:
        deciding = any(f.rule.severity.decides for f in findings if f.rule.id in cause.rules)
        what = f"{cause.plane.value} plane" if cause.plane is not None else ", ".join(cause.rules)
        told = f"{several(len(cause.rules), 'rule')} not known: {what}: {_why(cause)}"
        found.append(Punch("A" if deciding else "B", "", told, cause.nodes))
    yield from sorted(found, key=lambda line: line.cls)


def _line(finding: Finding, owners: Mapping[tuple[str, str], tuple[str, str]]) -> Iterator[Punch]:
    rule = finding.rule
    if finding.status in {Status.FAIL, Status.UNKNOWN}:
        yield Punch("A" if rule.severity.decides else "B", rule.id, finding.reason, finding.nodes)
    elif finding.status is Status.WARN:
        yield Punch("C", rule.id, finding.reason, finding.nodes)
    elif finding.status is Status.WAIVED:
        by: dict[tuple[str, str], list[str]] = {}
        for node in finding.nodes:
            by.setdefault(owners.get((rule.id, node), ("", "")), []).append(node)
        for (owner, until), nodes in by.items():
            yield Punch("B", rule.id, finding.reason, tuple(nodes), owner, until)
