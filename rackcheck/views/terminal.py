"""Renders a run as lines of text: findings with their nodes, reasons and remedies."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Outcome, Status, Verdict
from rackcheck.model.fold import alike, fold, general
from rackcheck.model.profile import Severity
from rackcheck.model.regex import regex
from rackcheck.probe.group import is_group
from rackcheck.views import locations, reasons
from rackcheck.views.causes import Cause, causes
from rackcheck.views.filled_fix import filled_fix
from rackcheck.views.other_machines import apart, deciding
from rackcheck.views.part_findings import PartFinding, by_part
from rackcheck.views.simulation import SIMULATED
from rackcheck.views.summary import COUNTED, Finding, Summary, several

GLYPHS = {
    Status.PASS: "✔", Status.FAIL: "✘", Status.WARN: "!", Status.WAIVED: "~", Status.UNKNOWN: "?", Status.NA: "·",
}  # fmt: skip
ASCII = {Status.PASS: "+", Status.FAIL: "x", Status.WARN: "!", Status.WAIVED: "~", Status.UNKNOWN: "?", Status.NA: "."}

STYLES = {
    Status.PASS: "green", Status.FAIL: "bold red", Status.WARN: "yellow", Status.WAIVED: "cyan",
    Status.UNKNOWN: "bold magenta", Status.NA: "dim",
}  # fmt: skip
MINOR = "▽"
"""The symbol of a failing verdict of a minor rule, which does not count toward an outcome; in ASCII, `MINOR_ASCII`."""

MINOR_ASCII = "v"
_MINOR_STYLE = "bold yellow"

OUTCOMES = {Outcome.PASS: "bold green", Outcome.FAIL: "bold red", Outcome.INCOMPLETE: "bold magenta"}


PARTS = 8
"""Maximum number of nodes whose parts are listed for one finding."""

NAMED = 20
"""Maximum number of rules named in one line: rules that pass, apply nowhere, or are unknown with `unknown: minor`."""


@dataclass(frozen=True, slots=True)
class VerdictMark:
    """How a verdict is shown: its symbol, its word in small letters, and its style."""

    sign: str
    word: str
    style: str

    def __str__(self) -> str:
        return f"{self.sign} {self.word.upper()}"


def verdict_mark(status: Status, severity: str, *, plain: bool) -> VerdictMark:
    """Return how a verdict of a rule of this severity is shown; a failing minor rule is not shown as `FAIL`."""
    if is_minor(status, severity):
        return VerdictMark(MINOR_ASCII if plain else MINOR, Severity.MINOR.value, _MINOR_STYLE)
    return VerdictMark((ASCII if plain else GLYPHS)[status], status.value, STYLES[status])


def is_minor(status: Status, severity: str) -> bool:
    """Whether a verdict fails without an effect on an outcome, because its rule is minor."""
    return status is Status.FAIL and severity == Severity.MINOR


@dataclass(frozen=True, slots=True)
class Line:
    """One line of pieces of text; each piece has a style."""

    pieces: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return "".join(text for text, _ in self.pieces).rstrip()


def lines(summary: Summary, *, width: int, plain: bool, every: bool = False) -> Iterator[Line]:
    """Render a judged run; `every` adds rules that pass or do not apply, and `plain` restricts the text to ASCII."""
    for line in _lines(summary, width, plain=plain, every=every):
        yield from within(line, width, 10)


def within(line: Line, width: int, indent: int) -> Iterator[Line]:
    """Wrap a line that is too wide: at blanks or after commas if possible. Continuation lines are indented."""
    if sum(len(text) for text, _ in line.pieces) <= width:
        yield line
        return
    row: list[tuple[str, str]] = []
    used, start = 0, 0
    for text, style in line.pieces:
        for word in _WORDS.findall(text):
            rest = word
            while used + len(rest.rstrip()) > width:
                # A piece that does not fit into an empty row is broken, so that every row contains text.
                room = 0 if used > start else max(width - used, 1)
                yield Line((*row, (rest[:room], style)))
                rest = rest[room:].lstrip()
                row, used, start = [(" " * indent, "")], indent, indent
            row.append((rest, style))
            used += len(rest)
    if used > start:
        yield Line(tuple(row))


REASONS = 3
"""Maximum number of reasons for INCOMPLETE shown at the end, after the findings."""

_WORDS = regex(r"\s*[^\s,]*(?:,+|\s+|$)|\s*[^\s,]+")


def _lines(summary: Summary, width: int, *, plain: bool, every: bool) -> Iterator[Line]:
    started = summary.started
    yield _line((f"{started.profile} {started.profile_version}", "bold"), (f" on {started.targets}", ""))
    yield from simulation(width, simulated=summary.simulated)
    if summary.only:
        yield _line((summary.only, "bold yellow"))
    yield Line()
    others = frozenset() if every else frozenset(summary.others)
    shown = [f for f in summary.findings if every or f.status not in {Status.PASS, Status.NA}]
    counted = deciding(shown, others)
    minor = () if every else tuple(dict.fromkeys(f.rule.id for f in counted if f.excused))  # they share one line
    common, single = causes([f for f in counted if every or not f.excused], summary.silent)
    rows = by_part(single, summary.named)
    failed = [row for row in rows if row.finding.status is Status.FAIL]
    for row in failed:
        yield from _finding(row, summary, width, plain=plain, whole=every)
    for cause in common:
        yield from _cause(cause, summary, width, plain=plain, whole=every)
    if common:
        yield Line()
    for row in rows[len(failed) :]:
        yield from _finding(row, summary, width, plain=plain, whole=every)
    if others:
        yield from _apart(summary, width, plain=plain)
    yield from _folded(summary, width, minor, every=every)
    yield from _counts(summary, width, plain=plain)


def simulation(width: int, *, simulated: bool) -> Iterator[Line]:
    """Yield the lines that mark the output of a simulated run."""
    if simulated:
        yield from within(_line(("SIMULATION  ", "bold red"), (SIMULATED, "")), width, 12)


def _line(*pieces: tuple[str, str]) -> Line:
    return Line(tuple(pieces))


def _finding(row: PartFinding, summary: Summary, width: int, *, plain: bool, whole: bool) -> Iterator[Line]:
    """Render a finding: the first line has the rule, or the part if the finding is about one part of one node."""
    finding = row.finding
    mark = verdict_mark(finding.status, finding.rule.severity, plain=plain)
    style, head = mark.style, f"{mark!s:<10}"
    where = _where(finding.nodes, summary)
    title = f" {finding.rule.title}" if finding.rule.title else ""
    if row.only is not None:
        node, part = row.only
        yield from within(_line((head, style), (f"{node}: ", "bold cyan"), (str(part), "bold")), width, 10)
        yield from _wrapped("", f"{finding.rule.id}{title}{_severity(finding)}", width, "bold")
    else:
        pieces = [(head, style), (finding.rule.id, "bold"), (title, ""), (_severity(finding), "dim")]
        if sum(len(text) for text, _ in pieces) + len(where) > width:
            yield _line(*pieces)
            yield from _wrapped("", where.strip(), width, "bold cyan")
        else:
            yield _line(*pieces, (where, "bold cyan"))
        for line in row.lines(len(row.parts) if whole else PARTS):
            yield from _wrapped("", line, width)
    words = [("why  ", finding.rule.why), ("fix  ", filled_fix(row, summary.started.run))]
    if set(finding.nodes) <= set(summary.others):
        words = []  # on a machine that the profile is not for, nothing is to be fixed
    for label, text in [("", row.reason), *([] if finding.status in {Status.PASS, Status.NA} else words)]:
        yield from _wrapped(label, text, width)
    for other in row.also:
        yield from _wrapped("also ", f"{other.rule.id}{_severity(other)}: {other.reason}", width)
    sources = dict.fromkeys(_source(e.source) for e in finding.evidence if e.source)
    if sources and finding.status not in {Status.PASS, Status.NA}:
        text = "; ".join(list(sources)[:3]) + (" …" if len(sources) > 3 else "")
        lines = list(_wrapped("read ", text, width if whole else width - 2, "dim"))
        long = whole or finding.status is Status.FAIL
        yield from lines if long or len(lines) == 1 else [_line(*lines[0].pieces, (" ..." if plain else " …", "dim"))]
        yield Line()
    elif finding.status not in {Status.PASS, Status.NA}:
        yield Line()


def _source(text: str) -> str:
    """Shorten the source of a derived fact, `from gpu, gpu/*.pci, nic`, to the collections in it: `from gpu, nic`."""
    begin, _, rest = text.partition("from ")
    if begin or "/*" not in rest:
        return text
    names = rest.split(", ")
    return f"from {', '.join(name for name in names if not any(name.startswith(f'{each}/') for each in names))}"


def _severity(finding: Finding) -> str:
    """Format the severity of a finding, and its verdict without waivers if that is another one: ` (major)`."""
    if finding.status in {Status.PASS, Status.NA}:
        return ""
    truth = f", {finding.truth.value} without waivers" if finding.truth is not None else ""
    weight = finding.rule.severity.value
    if finding.excused:
        weight = f"{weight}, {Severity.MINOR.value} while unknown"
    return f" ({weight}{truth})"


def _apart(summary: Summary, width: int, *, plain: bool) -> Iterator[Line]:
    """Yield lines that count the rules that fail or are unknown on machines that the profile is not for."""
    found = apart(summary.findings, summary.others)
    sign = (ASCII if plain else GLYPHS)[Status.UNKNOWN]
    what = "another machine" if len(found.nodes) == 1 else "other machines"
    pieces = ((f"{sign} UNKNOWN ", STYLES[Status.UNKNOWN]), (f" {what}", "bold"))
    yield _line(*pieces, (_where(found.nodes, summary), "bold cyan"))
    yield from _wrapped("", found.text("--all lists them"), width)
    yield Line()


def _where(names: tuple[str, ...], summary: Summary) -> str:
    """Format the nodes of a finding, preceded by two blanks; empty if the run has only one node."""
    of = summary.whole
    message = locations.counted_names(names, of, lambda n: f"{len(n)} of {of.nodes}: {fold(n)}" if of.nodes > 1 else "")
    return f"  {message}" if message else ""


def _cause(cause: Cause, summary: Summary, width: int, *, plain: bool, whole: bool) -> Iterator[Line]:
    sign = (ASCII if plain else GLYPHS)[Status.UNKNOWN]
    peers = summary.groups if all(map(is_group, cause.nodes)) else summary.judged
    every = len(cause.rules) == max((len(each.verdicts) for each in peers), default=0)
    of_plane = f" of the {cause.plane.value} plane" if cause.plane is not None and not every else ""
    count = several(len(cause.rules), "rule")
    rules = f"{'all ' if every and len(cause.rules) > 1 else ''}{count}{of_plane}: {cause.unknown.reason.value}"
    where = _where(cause.nodes, summary)
    yield _line((f"{sign} UNKNOWN ", STYLES[Status.UNKNOWN]), (f" {rules}", "bold"), (where, "bold cyan"))
    for detail in cause.texts[:3]:
        yield from _wrapped("", detail, width)
    if len(cause.details) > 3:
        yield from _wrapped("", f"and {len(cause.details) - 3} more like these", width)
    if whole or (cause.plane is None and not every):
        yield from _wrapped("rules ", ", ".join(cause.rules), width, "dim")


def _wrapped(label: str, text: str, width: int, style: str = "") -> Iterator[Line]:
    if not text:
        return
    margin = " " * 10
    room = max(width - len(margin) - len(label), 30)
    for number, row in enumerate(textwrap.wrap(text, room, break_long_words=True, break_on_hyphens=False)):
        yield _line((margin, ""), (label if number == 0 else " " * len(label), "dim"), (row, style))


def _folded(summary: Summary, width: int, minor: Sequence[str], *, every: bool) -> Iterator[Line]:
    """Yield lines with the rules that pass, apply nowhere, or are unknown with `unknown: minor`; then the notes."""
    met: dict[str, set[Status]] = {}
    for finding in summary.findings:
        met.setdefault(finding.rule.id, set()).add(finding.status)
    idle = [rule for rule, statuses in met.items() if statuses == {Status.NA}]
    fine = [rule for rule, statuses in met.items() if Status.PASS in statuses <= {Status.PASS, Status.NA}]
    for rules, one, many in ((idle, "applies nowhere", "apply nowhere"), (fine, "passes", "pass")):
        if rules and not every:
            names = ", ".join(rules) if len(rules) <= NAMED else "--all lists them"
            what = f"{len(rules)} of {several(len(met), 'rule')} {one if len(rules) == 1 else many}"
            they = "it applies" if len(rules) == 1 else "they apply"
            wherever = f" wherever {they}" if rules is fine and len(summary.judged) > 1 else ""
            yield from _wrapped("", f"{what}{wherever}: {names}", width, "dim")
    if minor:
        names = ", ".join(minor) if len(minor) <= NAMED else f"{len(minor)} rules"
        message = (
            "is unknown, without effect on the outcome"
            if len(minor) == 1
            else "are unknown, without effect on the outcome"
        )
        yield from _wrapped("", f"{names} {message}: --all shows why", width, "dim")
    if not every and not summary.notes:
        yield Line()
    for note in summary.notes:
        yield from _wrapped("note ", note, width)
    if summary.notes:
        yield Line()


def _counts(summary: Summary, width: int, *, plain: bool) -> Iterator[Line]:
    counts = summary.counts
    signs = ASCII if plain else GLYPHS
    pieces = [(f"{signs[s]} {counts[s]} {s.value}   ", STYLES[s] if counts[s] else "dim") for s in COUNTED]
    pieces = with_minor(pieces, counts[Status.FAIL], summary.minor_failures)
    scope = summary.not_in_scope
    rest = f"of {summary.total} verdicts; {scope} not in scope" if scope else f"of {summary.total} verdicts"
    if sum(len(text) for text, _ in pieces) + len(rest) > width:
        if sum(len(text) for text, _ in pieces) > width:
            pieces = [(f"{text.rstrip()}  ", style) for text, style in pieces]
        yield from within(_line(*pieces), width, 2)
        pieces = []
    yield _line(*pieces, (rest, ""))
    asked = summary.started.nodes
    seen = {node.node for node in summary.judged}
    unseen = [node for node in asked if node not in seen]
    if len({*asked, *seen}) > 1:
        for outcome in Outcome:
            nodes = [node.node for node in summary.judged if node.outcome is outcome]
            if nodes:
                yield _line((f"{outcome.value:<11}", OUTCOMES[outcome]), (f"{len(nodes):>4}  {fold(nodes)}", ""))
            if unseen and outcome is Outcome.INCOMPLETE:
                line = f"{len(unseen):>4}  {fold(unseen)}: not judged"
                yield _line((f"{outcome.value:<11}", OUTCOMES[outcome]), (line, ""))
    final = summary.done.outcome
    for outcome in Outcome:
        groups = [group.node for group in summary.groups if group.outcome is outcome]
        if groups:
            yield _line((f"{outcome.value:<11}", OUTCOMES[outcome]), (f"      {locations.names_text(groups)}", ""))
    if len(summary.judged) > 1:
        vectors = {n.node: tuple(map(_vector, n.verdicts)) for n in summary.judged}
        yield _line(("nodes       ", "dim"), (alike(vectors), ""))
    if final is not Outcome.INCOMPLETE:
        yield from why(summary, width, "INCOMPLETE ")
    stopped = " (interrupted: answers received are kept)" if summary.done.interrupted else ""
    only = f" ({summary.only})" if summary.only else ""
    yield _line(("Verdict: ", "bold"), (final.value, OUTCOMES[final]), (only, "bold yellow"), (stopped, "yellow"))
    if final is Outcome.INCOMPLETE:
        yield from why(summary, width)
    yield from minor_note(summary.minor_failures, width, plain=plain)


def with_minor(pieces: Sequence[tuple[str, str]], failing: int, minor: int) -> list[tuple[str, str]]:
    """Add to the counts of verdicts how many of those that fail are of minor rules: `✘ 3 fail (2 minor)`."""
    found = list(pieces)
    if minor:
        at = COUNTED.index(Status.FAIL)
        text, style = found[at]
        blanks = text[len(text.rstrip()) :]
        found[at] = f"{text.rstrip()} ({minor:,} minor){blanks}", style if minor < failing else _MINOR_STYLE
    return found


def minor_note(minor: int, width: int, *, plain: bool) -> Iterator[Line]:
    """Explain how severity makes the verdict; `minor` is the number of verdicts that fail without an effect on it."""
    note = reasons.minor_note(minor)
    if note:
        mark = verdict_mark(Status.FAIL, Severity.MINOR, plain=plain)
        yield from within(_line(("Note:    ", "bold"), (f"{mark}", mark.style), (f": {note}", "")), width, 9)


def _vector(verdict: Verdict) -> tuple[str, Status, str]:
    """Return what two nodes must have in common to be alike; addresses in the reason of an unknown may differ."""
    unknown = verdict.status is Status.UNKNOWN
    return verdict.rule, verdict.status, general(verdict.reason) if unknown else verdict.reason


def why(summary: Summary, width: int, label: str = "Why:     ") -> Iterator[Line]:
    """Format a label, the reasons why nodes are INCOMPLETE, and the next commands.

    The most frequent reason is first.
    """
    rows = tuple(reasons.lines(summary.reasons, summary.expected, REASONS)) or (
        (("", summary.reason),) if summary.reason else ()
    )
    for number, (where, text) in enumerate(rows):
        first = (label if number == 0 else " " * len(label), "bold")
        yield from within(_line(first, (f"{where}: " if where else "", "bold cyan"), (text, "")), width, len(label))
