"""The dossier as JUnit XML, for build servers: a suite for each node, each rack and the fleet; a case for each rule.

Consumers support only passed, failed, broken and skipped; the six verdicts are mapped to these four:

    fail          failure    its message is the reason, its text the evidence, why and fix
    unknown       error      could not be checked, which is not a pass
    waived        skipped    the message has the true verdict and the end date
    n/a           skipped
    warn          passed     with a system-out that begins with WARN; most consumers show it as passed
    not in scope  no case

A node, a rack or the fleet that is INCOMPLETE or has no verdict has an additional case `verdict`. The JUnit case
`verdict` is an error, whatever the verdicts of the rules are, and contains the reason and the next command. If there
are cases `verdict`, the name of the root element contains the number of these cases and the number of the rules'
verdicts. The property `rackcheck.verdicts` always contains the number of the rules' verdicts. On a machine that the
profile is not for, no rule decides, so failing and unknown rules are reported as skipped.

GitLab identifies cases by class and name, whatever their suite, and keeps only the first of identical cases (GitLab's
documentation, page "Unit test reports"); the node's name is therefore part of each case's name. GitLab reads at most 30
MB per file. Jenkins shows the part of the class name before the last dot as the package; here, the class name is the
profile, a dot, and the first word of the rule's id. Times are zero, because verdicts have no duration.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean, visible
from rackcheck.model.fit import Match
from rackcheck.report import record
from rackcheck.report.redacted_parts import missing
from rackcheck.report.report_model import (
    LETTERS,
    OUT,
    Dossier,
    Exemption,
    FindingEntry,
    Gate,
    GroupRow,
    NodeRow,
    fix_of,
)
from rackcheck.views.reasons import LONGEST
from rackcheck.views.summary import several

NOTHING = "no rule was judged on this node"
UNKNOWN = "a deciding rule is unknown"
"""Message of the case `verdict` of an INCOMPLETE node, if the document contains no reason."""

_STATUS = {letter: status for status, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True)
class _Counts:
    """The number of cases, in total and by kind."""

    tests: int
    failures: int
    errors: int
    skipped: int

    def __str__(self) -> str:
        counted = f'tests="{self.tests}" failures="{self.failures}" errors="{self.errors}"'
        return f'{counted} skipped="{self.skipped}" time="0"'


def text(dossier: Dossier, digest: str = "") -> str:
    """Return the dossier as JUnit XML; `digest` is the digest of the record, and is computed if it is empty."""
    found = {(finding.rule, node): finding for finding in dossier.findings for node in finding.nodes}
    return "".join(_lines(dossier, found, digest or record.digest_of(dossier)))


def _lines(dossier: Dossier, found: Mapping[tuple[str, str], FindingEntry], digest: str) -> Iterator[str]:
    everyone: tuple[NodeRow | GroupRow, ...] = (*dossier.nodes, *dossier.groups)
    counts = [_counts(node, node.vector[: len(dossier.gates)]) for node in everyone]
    whole = _Counts(*(sum(getattr(c, name) for c in counts) for name in ("tests", "failures", "errors", "skipped")))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites {_named(name=f'rackcheck {dossier.subject.name}{_stand_ins(dossier)}')} {whole}>\n"
    properties = "".join(
        f"<property {_named(name=name, value=value)}/>\n"
        for name, value in (
            ("rackcheck.profile", f"{dossier.subject.profile}@{dossier.subject.profile_version}"),
            ("rackcheck.profile.digest", dossier.subject.digest),
            ("rackcheck.record.sha256", digest),
            ("rackcheck.outcome", dossier.tally.outcome.value),
            *((("rackcheck.reason", clean(dossier.reason, LONGEST)),) if dossier.reason else ()),
            ("rackcheck.verdicts", str(dossier.tally.total)),
            ("rackcheck.level", dossier.level),
            *((("rackcheck.simulation", "yes"),) if dossier.simulated else ()),
        )
    )
    for node, counted in zip(everyone, counts, strict=True):
        yield f"<testsuite {_named(name=node.name)} {counted}>\n<properties>\n{properties}"
        yield f"<property {_named(name='rackcheck.node.outcome', value=node.outcome.value)}/>\n"
        yield f"<property {_named(name='rackcheck.node.verdicts', value=str(_judged(dossier, node)))}/>\n"
        yield "</properties>\n"
        yield from _cases(dossier, node, found)
        yield from _idle(dossier, node)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _judged(dossier: Dossier, node: NodeRow | GroupRow) -> int:
    """Return the number of a node's verdicts, without the additional case `verdict`."""
    return sum(letter in _STATUS for letter in node.vector[: len(dossier.gates)])


def _stand_ins(dossier: Dossier) -> str:
    """Return a text with the numbers of verdicts and of additional `verdict` cases; empty if there is no such case."""
    everyone: tuple[NodeRow | GroupRow, ...] = (*dossier.nodes, *dossier.groups)
    bare = sum(_stands_in(node, node.vector[: len(dossier.gates)]) for node in everyone)
    cases = f"{several(bare, 'case')} for INCOMPLETE or unjudged nodes, racks and fleet"
    return f": {several(dossier.tally.total, 'verdict')} and {cases}" if bare else ""


def _stands_in(node: NodeRow | GroupRow, letters: str) -> bool:
    """Whether the node has the additional case `verdict`, because it is INCOMPLETE or has no verdict."""
    return node.outcome is Outcome.INCOMPLETE or not set(letters) - {OUT}


def _is_other(node: NodeRow | GroupRow) -> bool:
    return isinstance(node, NodeRow) and node.fit.match is Match.OTHER


def _idle(dossier: Dossier, node: NodeRow | GroupRow) -> Iterator[str]:
    """Yield notes on the node's waivers without effect (such as unused or expired), which no JUnit case contains."""
    rows = [e for e in dossier.exemptions if e.state not in {"used", "elsewhere"} and node.name in e.nodes]
    if rows:
        lines = (f"waiver of {e.rule} ({_source(e, dossier.level)}) {e.state}: {e.detail}" for e in rows)
        message = "\n".join(escape(visible(line)) for line in lines)
        yield f"<system-out>{message}</system-out>\n"


def _source(e: Exemption, level: str) -> str:
    return f"{e.ticket or missing(level, 'ticket')}, {e.place or missing(level, 'place')}"


def _counts(node: NodeRow | GroupRow, letters: str) -> _Counts:
    count = {status: letters.count(letter) for status, letter in LETTERS.items()}
    own, fails, unknowns = int(_stands_in(node, letters)), count[Status.FAIL], count[Status.UNKNOWN]
    skipped = count[Status.WAIVED] + count[Status.NA]
    if _is_other(node):
        skipped, fails, unknowns = skipped + fails + unknowns, 0, 0
    return _Counts(sum(count.values()) + own, fails, unknowns + own, skipped)


def _cases(dossier: Dossier, node: NodeRow | GroupRow, found: Mapping[tuple[str, str], FindingEntry]) -> Iterator[str]:
    profile = dossier.subject.profile
    letters = node.vector[: len(dossier.gates)]
    if _stands_in(node, letters):
        message = clean(node.reason, LONGEST) or (NOTHING if not set(letters) - {OUT} else UNKNOWN)
        inner = f"<error {_named(message=message, type='unknown')}/>"
        yield _case(f"{profile}.node", f"verdict [{node.name}]", inner)
    for gate, letter in zip(dossier.gates, letters, strict=False):
        if letter in _STATUS:
            finding = found.get((gate.id, node.name))
            aside = _is_other(node) and _STATUS[letter] in {Status.FAIL, Status.UNKNOWN}
            inner = (
                _aside(_STATUS[letter], finding)
                if aside
                else _case_body(dossier, gate, _STATUS[letter], finding, node.name)
            )
            yield _case(f"{profile}.{gate.id.partition('.')[0]}", f"{gate.id} [{node.name}]", inner)


def _case(area: str, name: str, inner: str) -> str:
    opened = f'<testcase {_named(classname=area, name=name)} time="0"'
    return f"{opened}>{inner}</testcase>\n" if inner else f"{opened}/>\n"


def _aside(status: Status, finding: FindingEntry | None) -> str:
    """Return the content of a case whose rule does not decide, because the profile is for another machine."""
    message = f"{status}, without effect on the outcome: the profile is not for this machine"
    reason = f": {finding.reason}" if finding is not None and finding.reason else ""
    return f"<skipped {_named(message=message + reason)}/>"


def _case_body(dossier: Dossier, gate: Gate, status: Status, finding: FindingEntry | None, node: str) -> str:
    """Return the XML content of the JUnit case for a verdict; empty for pass."""
    reason = finding.reason if finding is not None and finding.reason else "no reason is stored"
    match status:
        case Status.FAIL:
            kind = _named(message=reason, type=gate.severity.value)
            return f"<failure {kind}>{_inside(gate, finding)}</failure>"
        case Status.UNKNOWN:
            return f"<error {_named(message=reason, type='unknown')}>{_inside(gate, finding)}</error>"
        case Status.WAIVED:
            truth = finding.truth if finding is not None else None
            until = _until(dossier.exemptions, gate, node)
            # The reason begins with the text of the waiver, which contains its end date, unless the text is withheld.
            message = reason if reason.startswith(f"waived{until}") else f"waived{until}: {reason}"
            message = f"the true verdict is {truth or 'not stored'}; {message}"
            return f"<skipped {_named(message=message)}/>"
        case Status.NA:
            return f"<skipped {_named(message=f'n/a: {reason}')}/>"
        case Status.WARN:
            return f"<system-out>{_inside(gate, finding, f'WARN {reason}')}</system-out>"
    return ""


def _until(exemptions: tuple[Exemption, ...], gate: Gate, node: str) -> str:
    ends = sorted({e.until for e in exemptions if e.rule == gate.id and e.state == "used" and node in e.used})
    return f" until {', '.join(ends)}" if ends else ""


def _inside(gate: Gate, finding: FindingEntry | None, first: str = "") -> str:
    """Return the text of a case: evidence, why and fix, each on a separate line."""
    lines = [first, gate.title]
    for e in finding.evidence if finding is not None else ():
        source = f" ({e.source})" if e.source else ""
        lines.append(f"{e.status.value}: {e.item} is {e.observed}, {e.expected}{source}")
    if finding is not None and finding.more:
        lines.append(f"and {finding.more} more")
    fix = fix_of(gate, (finding,) if finding is not None else ())
    lines += [f"why: {gate.why}" if gate.why else "", f"fix: {fix}" if fix else ""]
    return "\n".join(escape(visible(line)) for line in lines if line)


def _named(**values: str) -> str:
    """Format attributes; XML cannot contain control characters, so they are escaped."""
    return " ".join(f'{name}="{escape(visible(value))}"' for name, value in values.items())
