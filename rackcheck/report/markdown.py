"""A summary of the dossier for a ticket or a pull request, in GitHub's Markdown.

Text from a node or a person is put into a code span: inside it there is no markup, no HTML, no link, and no @mention,
which a backslash would not prevent (github/cmark-gfm issue 181). Tables contain no text from a node or a person,
because a `|` would have to be escaped there even in a code span. GitHub rejects a comment of more than 65,536
characters (its API's message: "Body is too long (maximum is 65536 characters)"). This module limits the size of the
comment in bytes, because a text never has fewer bytes than characters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.profile import Severity
from rackcheck.probe.group import is_group
from rackcheck.report.burn_model import Burned
from rackcheck.report.burn_words import again, ended
from rackcheck.report.redacted_parts import missing
from rackcheck.report.report_model import Dossier, Exemption, Rework
from rackcheck.report.shared_causes import Block, blocks, gaps
from rackcheck.signoff.removed_run import removed_text
from rackcheck.views import locations, reasons
from rackcheck.views.locations import Whole, passing
from rackcheck.views.other_machines import apart, deciding
from rackcheck.views.simulation import SIMULATED
from rackcheck.views.steps import Step, rise_text

LIMIT = 65_536
"""Maximum size of the whole text, in bytes."""

PARTS = 8
"""Maximum number of parts that are listed for one finding."""

LONGEST = 400
"""Maximum number of characters of one text of a node or a person; the record contains the full text."""

SIGNS = {
    Status.FAIL: "❌", Status.UNKNOWN: "❔", Status.WARN: "⚠️", Status.WAIVED: "📝", Status.NA: "⚪", Status.PASS: "✅",
}  # fmt: skip
"""A symbol for each status, in the order in which findings are listed."""

MINOR = "🔽 minor"
"""The symbol and the word of a failing verdict of a minor rule."""

OUTCOMES = {Outcome.PASS: "✅", Outcome.FAIL: "❌", Outcome.INCOMPLETE: "❔"}

CLASSES = {"A": "blocks acceptance", "B": "to be fixed by its date", "C": "to be noted"}


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, its lines, the text shown if there are no lines, and the annex that contains all lines."""

    heading: str
    lines: tuple[str, ...]
    empty: str
    annex: str


def text(dossier: Dossier, digest: str) -> str:
    """Render the summary in at most LIMIT bytes; for lines that do not fit, their number and the annex are named."""
    head = "".join(f"{line}\n" for line in _head(dossier, digest))
    left = LIMIT - _size(head)
    written = []
    sections = _sections(dossier)
    for n, section in enumerate(sections):
        shown = _fitted(section, left // (len(sections) - n))
        left -= _size(shown)
        written.append(shown)
    return head + "".join(written)


def code(text: str) -> str:
    """Return any text as a code span, or `(empty)` for an empty text."""
    shown = clean(text, LONGEST)
    if not shown:
        return "(empty)"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    blank = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def _head(dossier: Dossier, digest: str) -> Iterator[str]:
    tally, subject = dossier.tally, dossier.subject
    good = passing(len(tally.nodes.get(Outcome.PASS, ())), len(dossier.nodes), "node")
    yield f"## {OUTCOMES[tally.outcome]} {tally.outcome}: {good}"
    yield ""
    yield from _why(dossier)
    note = reasons.minor_note(tally.minor_failures)
    if note:
        yield f"**Note**: {MINOR}: {note}."
        yield ""
    if dossier.simulated:
        yield f"**SIMULATION**: {SIMULATED}"
        yield ""
    if tally.interrupted:
        yield "**Interrupted**: not every node was read."
        yield ""
    yield f"- What: {_word(subject.kind)} {code(subject.name)} of {code(subject.time)}, {_word(subject.state)}"
    yield f"- Level: {_word(dossier.level)}"
    yield f"- Profile: {code(f'{subject.profile}@{subject.profile_version}')}, digest {code(subject.digest)}"
    yield f"- rackcheck {code(dossier.version)}; record SHA-256 {code(digest)}"
    for outcome, nodes in tally.nodes.items():
        if nodes:
            yield f"- {OUTCOMES[outcome]} {outcome}: {len(nodes)} of {len(dossier.nodes)}: {code(fold(nodes))}"
    for outcome in tally.nodes:
        alike = [group.name for group in dossier.groups if group.outcome is outcome]
        if alike:
            names = locations.counted_names(alike, dossier.whole, fold, every=True)
            yield f"- {OUTCOMES[outcome]} {outcome}: {code(names)}"
    yield ""
    yield f"| severity | {' | '.join(f'{sign} {status}' for status, sign in SIGNS.items())} |"
    yield f"| --- |{' ---: |' * len(SIGNS)}"
    for severity, counts in tally.severe.items():
        yield f"| {severity} | {' | '.join(str(counts.get(status, 0)) for status in SIGNS)} |"
    yield f"| **all {tally.total}** | {' | '.join(str(tally.counts.get(status, 0)) for status in SIGNS)} |"
    yield ""


def _why(dossier: Dossier) -> Iterator[str]:
    """Yield why nodes are INCOMPLETE and the next command: a line for each reason, the most frequent first."""
    rows = tuple(reasons.lines(dossier.reasons, dossier.whole)) or ((("", dossier.reason),) if dossier.reason else ())
    lead = "Why" if dossier.tally.outcome is Outcome.INCOMPLETE else "INCOMPLETE"
    for number, (where, why) in enumerate(rows):
        more = number >= reasons.MOST
        message = why if more else f"{f'{code(where)}: ' if where else ''}{code(why)}"
        yield f"- **{lead}**: {message}" if len(rows) > 1 else f"**{lead}**: {message}"
    if rows:
        yield ""


def _sections(dossier: Dossier) -> tuple[_Section, ...]:
    of = dossier.whole
    still = (
        "One run: nothing to compare."
        if len(dossier.subject.readings) <= 1
        else "No verdict and no tracked part changed between runs."
    )
    unchecked = (
        f"- {_word(gap.kind)} {_list(gap.whats)}: {code(gap.why)} ({gap.counted}{_on(gap.nodes, of, ', on ')})"
        for gap in gaps(dossier.unchecked)
    )
    punch = (
        f"- **{_word(p.cls)}** {code(p.rule)}{_on(p.nodes, of)}: {code(p.what)}"
        f"{f', {code(p.owner)}' if p.owner else ''}{f', until {code(p.until)}' if p.until else ''}"
        for p in sorted(dossier.punch, key=lambda p: p.cls)
    )
    readings = dossier.subject.readings
    done = (f"- {_word(r.kind)} {code(r.run)}{_on(r.nodes, of)}: {code(r.note)}" for r in readings if r.note)
    gone = (f"- {code(removed_text(removed))}" for removed in dossier.removed)
    waivers = (_waiver(e, dossier.level) for e in dossier.exemptions)
    rows = tuple(_burnt(dossier.burned)) if dossier.burned is not None else ()
    classes = ", ".join(f"{cls} {words}" for cls, words in CLASSES.items())
    steps = tuple(_step(step, of) for step in dossier.steps)
    return (
        *((_Section("Steps", steps, "No steps.", "steps.csv"),) if steps else ()),
        _Section("Not checked", tuple(unchecked), "Everything in scope was checked.", "unchecked.csv"),
        _Section("Findings", tuple(_findings(dossier)), "No findings: all rules that apply pass.", "findings.csv"),
        *((_Section("Burn-in", rows, "No results.", "burn-in.csv"),) if dossier.burned is not None else ()),
        _Section("Exceptions", tuple(waivers), "No waivers.", "waivers.csv"),
        _Section(f"Punch list ({classes})", tuple(punch), "No open items.", "punch.csv"),
        _Section("Rework", (*gone, *done, *(_rework(r, of) for r in dossier.rework)), still, "rework.csv"),
    )


def _step(step: Step, of: Whole) -> str:
    """Return one line about a step: its state, and what is left to do, why it was declined, or what rose."""
    left = [f"{code(why)}{_on(nodes, of)}" for why, nodes in step.left]
    rose = [f"{code(rise_text(rise))}{_on(rise.nodes, of)}" for rise in step.rises]
    more = "; ".join([*([code(step.declined)] if step.outcome is None else []), *left, *rose])
    return f"- **{_word(step.state)}** {_word(step.name)}{f': {more}' if more else ''}"


def _burnt(burned: Burned) -> Iterator[str]:
    """Yield lines about burn-ins: what was done, what was found or not tested, and the ranges of the figures."""
    for run in burned.runs:
        seed = f", seed {run.seed}" if run.seed is not None else ""
        made_up = ", **a simulation**" if run.simulated else ""
        yield f"- {code(run.run)}: {code(run.tier)}{seed}{made_up}, {code(ended(run))}, on {code(fold(run.nodes))}"
    for fault in burned.faults:
        serial = f", serial {code(fault.serial)}" if fault.serial else ""
        command = f"; again: {code(' '.join(again(fault)))}" if fault.seed is not None else ""
        where = f"{code(fault.item)} on {code(fault.node)}{serial}"
        yield f"- ❌ {code(fault.name)} of {where}: {code(fault.said)}{command}"
    if burned.more_faults:
        yield f"- ❌ and {burned.more_faults} more of these"
    for not_tested in burned.untested:
        where = code(fold(not_tested.nodes))
        yield f"- ❔ not tested: {code(not_tested.what)} on {where}: {code(not_tested.why)}"
    for table in burned.tables:
        for each in table.figures:
            low, high = (code(" ".join(place).removesuffix(" node")) for place in (each.low, each.high))
            ends = f"{code(each.lowest)} ({low}) to {code(each.highest)} ({high})"
            span = code(each.lowest) if each.lowest == each.highest else f"{ends}, median {code(each.median)}"
            known = f", reported by {each.known} of {each.of}" if each.known < each.of else ""
            unit = f", {code(each.unit)}" if each.unit else ""
            yield f"- {code(table.kind)} {code(each.name)}{unit}: {span}{known}"


def _findings(dossier: Dossier) -> Iterator[str]:
    severity = {gate.id: f" ({gate.severity})" for gate in dossier.gates}
    minor = {gate.id for gate in dossier.gates if gate.severity is Severity.MINOR}
    order = list(SIGNS)
    gates = {gate.id: gate for gate in dossier.gates}
    listed: dict[frozenset[str], Block] = {}
    others = dossier.others
    loud = deciding((f for f in dossier.findings if f.reason), frozenset(others))
    if others:
        aside = apart(dossier.findings, others)
        what = "another machine" if len(others) == 1 else "other machines"
        yield f"- {SIGNS[Status.UNKNOWN]} {what}{_on(others, dossier.whole)}: {aside.text('findings.csv lists them')}"
    for block in sorted(blocks(loud), key=lambda block: order.index(block.status)):
        sign = f"{SIGNS[block.status]} {block.status}"
        if block.causes:
            on = _on(block.nodes, dossier.whole)
            before = listed.setdefault(frozenset(block.rules), block)
            same = f"the same rules as on {code(locations.names_text(before.nodes))}"
            rules = _list(block.rules) if before is block else same
            yield f"- {sign} {block.title(gates)}{on}: {code(block.cause())}: {rules}"
            continue
        f = block.findings[0]
        if f.status is Status.FAIL and f.rule in minor:
            sign = MINOR
        truth = f", truly {f.truth}" if f.truth is not None else ""
        weight = "" if sign == MINOR else severity.get(f.rule, "")
        message = f"{sign}{truth}{weight} {code(f.rule)}"
        parts = "; ".join(code(part.text) for part in f.parts[:PARTS])
        more = f"; and {len(f.parts) - PARTS} more parts" if len(f.parts) > PARTS else ""
        same = f", about the same part as {code(f.under)}" if f.under else ""
        yield f"- {message}{_on(f.nodes, dossier.whole)}: {code(f.reason)}{f': {parts}{more}' if parts else same}"


def _waiver(e: Exemption, level: str) -> str:
    pins = "".join(f", only while {code(item)} is {code(value)}" for item, value in e.pins)
    rows = (("by", e.by, "person"), ("ticket", e.ticket, "ticket"))
    who = "".join(f", {word} {code(message) if message else missing(level, what)}" for word, message, what in rows)
    detail = f" ({code(e.detail)})" if e.detail else ""
    why = f": {code(e.reason) if e.reason else missing(level, 'reason')}"
    what = f"{code(e.rule)} on {code(locations.names_text(e.nodes))}"
    return f"- {_word(e.state)}{detail}: {what}, until {code(e.until)}{pins}{who}{why}"


def _rework(r: Rework, of: Whole) -> str:
    steps = ", then ".join(f"{code(was)} ({code(run)})" for run, _, was in r.steps)
    return f"- {code(r.rule or r.fact)}{_on(r.nodes, of)}: {steps}"


def _list(texts: Sequence[str], most: int = 20) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(map(code, texts[:most])) + more


def _word(text: str) -> str:
    """Return a plain word unchanged, and any other text (which a foreign record may contain) as a code span."""
    return text if re.fullmatch(r"[A-Za-z][A-Za-z -]{0,30}", text) else code(text)


def _on(names: tuple[str, ...], of: Whole, word: str = " on ") -> str:
    """Format the number and names of nodes; racks and the fleet are counted separately."""
    nodes, groups = ([name for name in names if is_group(name) is which] for which in (False, True))
    parts = [f"{len(nodes)} of {of.nodes}: {code(fold(nodes))}"] if nodes else []
    parts += [code(locations.counted_names(groups, of, fold))] if groups else []
    return f"{word}{', '.join(parts)}" if parts else ""


def _fitted(section: _Section, room: int) -> str:
    """Format a section in at most `room` bytes."""
    begin = f"### {section.heading}\n\n"
    if not section.lines:
        return f"{begin}{section.empty}\n\n"
    shown: list[str] = []
    left = room - _size(begin) - _size(_more(len(section.lines), section.annex)) - 1
    for line in section.lines:
        left -= _size(line) + 1
        if left < 0:
            break
        shown.append(line)
    more = len(section.lines) - len(shown)
    return begin + "".join(f"{line}\n" for line in _closed(shown, more, section.annex)) + "\n"


def _closed(shown: Iterable[str], more: int, annex: str) -> Iterator[str]:
    yield from shown
    if more:
        yield _more(more, annex).removesuffix("\n")


def _more(count: int, annex: str) -> str:
    return f"- and {count} more: {annex}\n"


def _size(text: str) -> int:
    return len(text.encode())
