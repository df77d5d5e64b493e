"""Computes the overall result: the tally, what was not checked, compliance by area, the punch list. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fit import Match
from rackcheck.model.profile import Phase, Profile, Rule, Scope, Severity
from rackcheck.report.report_model import Area, Punch, Unchecked, VerdictTally
from rackcheck.run.event import Judged
from rackcheck.views.causes import Cause, causes
from rackcheck.views.other_machines import deciding
from rackcheck.views.reasons import gathered
from rackcheck.views.steps import Step, rise_text
from rackcheck.views.summary import COUNTED, Finding, Silent, several


def tally(
    judged: Sequence[Judged], unread: Sequence[str], rules: Mapping[str, Rule], outcome: Outcome, *, cut: bool,
    groups: Sequence[Judged] = (),
) -> VerdictTally:  # fmt: skip
    """Count verdicts (also of racks and the fleet) and nodes; a node that no run has read is INCOMPLETE."""
    counts = dict.fromkeys(COUNTED, 0)
    severe = {severity: dict.fromkeys(COUNTED, 0) for severity in Severity}
    for node in (*judged, *groups):
        for verdict in node.verdicts:
            counts[verdict.status] += 1
            rule = rules[verdict.rule]
            minor = rule.severity.decides and not rule.decides(verdict.status, verdict.evidence)
            severe[Severity.MINOR if minor else rule.severity][verdict.status] += 1
    nodes = {o: tuple(node.node for node in judged if node.outcome is o) for o in Outcome}
    nodes[Outcome.INCOMPLETE] += tuple(unread)
    return VerdictTally(outcome, cut, counts, sum(counts.values()), nodes, severe)


def unchecked(
    findings: Sequence[Finding], silent: Silent, judged: Sequence[Judged], unread: Sequence[str], profile: Profile,
    asked: Mapping[str, Collection[str]], groups: Sequence[Judged] = (),
) -> Iterator[Unchecked]:  # fmt: skip
    """Yield what was not checked: nodes, planes, single rules, site values, and rules that were not in scope.

    `asked` contains, for each node, the planes that any run collected. Each unknown verdict counts once: under its
    plane or under its rule.
    """
    if unread:
        yield Unchecked("node", "never read", "not read by any run of this acceptance", len(unread), tuple(unread))
    bare = tuple(node.node for node in judged if not node.verdicts)
    if bare:
        yield Unchecked(
            "node", "not judged", "the profile has no rule for their role on the collected planes", len(bare), bare
        )
    common, single = causes(findings, silent)
    alone = {id(finding) for finding in single}
    shared = {(f.rule.id, n) for f in findings if f.status is Status.UNKNOWN and id(f) not in alone for n in f.nodes}
    for cause in common:
        kind, what = ("plane", cause.plane.value) if cause.plane is not None else ("rule", ", ".join(cause.rules))
        covered = {(rule, node) for rule in cause.rules for node in cause.nodes} & shared
        shared -= covered
        yield Unchecked(kind, what, _why(cause), len(covered), cause.nodes)
    for finding in single:
        if finding.status is Status.UNKNOWN:
            yield Unchecked("rule", finding.rule.id, finding.reason, len(finding.nodes), finding.nodes)
    for param in sorted({name for rule in profile.rules for name in rule.unset}):
        rules = {rule.id for rule in profile.rules if param in rule.unset}
        count = sum(v.rule in rules for node in (*judged, *groups) for v in node.verdicts)
        yield Unchecked(
            "site value",
            param,
            f"no value is set, but {several(len(rules), 'rule')} {'needs' if len(rules) == 1 else 'need'} one",
            count,
        )
    yield from _out_of_scope(judged, profile, asked, groups)


def _why(cause: Cause) -> str:
    more = f"; and {len(cause.details) - 3} more like these" if len(cause.details) > 3 else ""
    return (
        f"{cause.unknown.reason.value}: {'; '.join(list(cause.details)[:3])}{more}"
        if any(cause.details)
        else str(cause.unknown)
    )


def _out_of_scope(
    judged: Sequence[Judged], profile: Profile, asked: Mapping[str, Collection[str]], groups: Sequence[Judged]
) -> Iterator[Unchecked]:
    grouped = {verdict.rule for group in groups for verdict in group.verdicts}
    had = {node.node: {v.rule for v in node.verdicts} for node in judged}
    seen = frozenset[str]().union(*had.values())
    left = [rule for rule in profile.own if rule.id not in seen]
    for phase in Phase:
        count = sum(rule.phase is phase is not Phase.CONFIG for rule in left)
        if count:
            yield Unchecked("phase", phase.value, f"{several(count, f'{phase.value} rule')} not run", count)
    missed: dict[str, dict[str, set[str]]] = {}
    others = 0
    together = [rule for rule in profile.own if rule.scope is not Scope.NODE or rule.across is not None]
    lone = sum(rule.id not in seen and rule.phase is Phase.CONFIG for rule in together if rule.id not in grouped)
    if lone:
        words = f"{several(lone, 'rule')} about several nodes together not judged: too few nodes were read"
        yield Unchecked("scope", "nodes together", words, lone)
    for rule in (rule for rule in profile.own if rule.phase is Phase.CONFIG and rule not in together):
        meant = [node.node for node in judged if "any" in rule.roles or node.role in rule.roles]
        others += not meant
        for node in meant:
            if rule.id not in had[node]:
                missed.setdefault(_missed(rule, asked[node]), {}).setdefault(rule.id, set()).add(node)
    for what, rules in sorted(missed.items()):
        nodes = set[str]().union(*rules.values())
        where = tuple(node.node for node in judged if node.node in nodes) if len(nodes) < len(judged) else ()
        yield Unchecked("scope", what, f"not collected: {several(len(rules), 'rule')}", len(rules), where)
    if others:
        yield Unchecked("scope", "role", f"{several(others, 'rule')} for roles that no node has", others)


def _missed(rule: Rule, asked: Collection[str]) -> str:
    """Return why a rule was not judged: planes that no run collected, or that no single run collected together."""
    wanted = {plane.value for plane in rule.planes} - {"derived"}
    missing = wanted - set(asked)
    return f"{' and '.join(sorted(missing or wanted))} plane{'' if missing else ' in one run'}"


def areas(judged: Sequence[Judged], rules: Sequence[Rule]) -> Iterator[Area]:
    """Count verdicts by plane and by area (usually the first word of a fact's path), sorted by plane, then by area."""
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
    shared = rule.across.shared if rule.across is not None else ()
    looked = [rule.look.collection] if rule.look is not None else []
    facts = [*looked, *(clause.fact for clause in rule.clauses), *(each.fact for each in shared)]
    path = next((fact for fact in facts if fact.segments), None)
    return path.segments[0].word if path is not None else rule.id.partition(".")[0]


def punch(
    findings: Sequence[Finding], silent: Silent, owners: Mapping[tuple[str, str], tuple[str, str]],
    judged: Sequence[Judged], unread: Sequence[str], *, cut: bool, groups: Sequence[Judged] = (),
    steps: Sequence[Step] = (),
) -> Iterator[Punch]:  # fmt: skip
    """Yield the punch list: class A blocks the sign-off, B is waived or does not decide the outcome, C is a warning.

    `owners` maps each rule and node to the author of its waiver and the waiver's end date. If the outcome is not PASS,
    at least one entry has class A. Entries of class A are also made for nodes that were not read or judged, for an
    interrupted run (`cut`), for open steps, and for INCOMPLETE nodes that are in no other entry of class A. Counters
    that rose under a burn-in have class C. If the profile is not for a machine, the profile's rules are not listed for
    this machine, because they do not affect the outcome.
    """
    others = frozenset(node.node for node in judged if node.fit.match is Match.OTHER)
    common, single = causes(deciding(findings, others), silent)
    found = [Punch("A", "", "the run was interrupted: everything it did not read is unknown", ())] if cut else []
    bare = tuple(node.node for node in judged if not node.verdicts)
    found += [Punch("A", "", "not read by any run", tuple(unread))] if unread else []
    found += [Punch("A", "", "no rule was judged", bare)] if bare else []
    found += [Punch("A", "", "no node was read", ())] if not judged and not unread else []
    found += [Punch("A", "", f"{step.name}: {why}", nodes) for step in steps for why, nodes in step.left]
    found += [Punch("C", rise.rule, rise_text(rise), rise.nodes) for step in steps for rise in step.rises]
    found += [p for finding in single for p in _line(finding, owners)]
    for cause in common:
        decides = any(f.decides for f in findings if f.rule.id in cause.rules)
        what = f"{cause.plane.value} plane" if cause.plane is not None else ", ".join(cause.rules)
        text = f"{several(len(cause.rules), 'rule')} unknown: {what}: {_why(cause)}"
        found.append(Punch("A" if decides else "B", "", text, cause.nodes))
    listed = {node for line in found if line.cls == "A" for node in line.nodes}
    open_ = ((each.node, each.outcome, each.reason) for each in (*judged, *groups) if each.node not in listed)
    found += [Punch("A", "", reason, nodes) for reason, nodes in gathered(open_)]
    yield from sorted(found, key=lambda line: line.cls)


def _line(finding: Finding, owners: Mapping[tuple[str, str], tuple[str, str]]) -> Iterator[Punch]:
    rule = finding.rule
    if finding.status in {Status.FAIL, Status.UNKNOWN}:
        yield Punch("A" if finding.decides else "B", rule.id, finding.reason, finding.nodes)
    elif finding.status is Status.WARN:
        yield Punch("C", rule.id, finding.reason, finding.nodes)
    elif finding.status is Status.WAIVED:
        by: dict[tuple[str, str], list[str]] = {}
        for node in finding.nodes:
            by.setdefault(owners.get((rule.id, node), ("", "")), []).append(node)
        for (owner, until), nodes in by.items():
            yield Punch("B", rule.id, finding.reason, tuple(nodes), owner, until)
