"""Builds the annexes of a report: tables for spreadsheets and tools, one CSV file each.

The format is RFC 4180: cells separated by commas, lines ended by CRLF, quotes where needed, and a header row in every
file. The files are UTF-8 with a byte order mark; without the mark, a spreadsheet misreads letters outside ASCII, such
as those in a customer's name. Control characters (including line ends) are escaped, so that every row is one line.
Numbers computed by rackcheck are written as numbers, not as text.

`model.formula_guard` describes the apostrophes before texts that a spreadsheet would evaluate as a formula.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.model.formula_guard import guarded
from rackcheck.model.profile import Scope
from rackcheck.report.burn_words import again
from rackcheck.report.report_model import LETTERS, Dossier, GroupRow, NodeRow, fix_of
from rackcheck.views.locations import names_text, sorts
from rackcheck.views.steps import Step, rise_text

OWN = ("model", "part_number", "serial")
"""Identity facts that are columns of `inventory.csv`; if one was not read, `Hardware.other` contains the reason."""

BOM = "\ufeff"

END = "\r\n"
"""The end of a row; no cell contains it."""

CsvValue = str | int
CsvRow = Sequence[CsvValue]


def table(header: Sequence[str], rows: Iterable[CsvRow]) -> str:
    """Return the text of one CSV file; in cells of text, `guarded` inserts apostrophes, numbers are unchanged."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator=END)
    writer.writerow([guarded(visible(name)) for name in header])
    for row in rows:
        writer.writerow([cell if isinstance(cell, int) else guarded(visible(cell)) for cell in row])
    return BOM + written.getvalue()


def marked(text: str) -> str:
    """Return the text of one CSV file with a last column that marks each row as the result of a simulation."""
    head, *rows = text.removesuffix(END).split(END)
    return END.join((f"{head},simulation", *(f"{row},SIMULATION" for row in rows), ""))


def files(dossier: Dossier) -> Mapping[str, str]:
    """Return the text of every annex by file name; a table without rows contains only its header."""
    found = _tables(dossier)
    return {name: marked(text) for name, text in found.items()} if dossier.simulated else found


def _tables(dossier: Dossier) -> Mapping[str, str]:
    return {
        "inventory.csv": _inventory(dossier),
        "bill-differences.csv": _bill(dossier),
        "nodes.csv": _nodes(dossier),
        "findings.csv": _findings(dossier),
        "verdicts.csv": _verdicts(dossier),
        "firmware.csv": _firmware(dossier),
        "waivers.csv": _waivers(dossier),
        "punch.csv": table(
            ("class", "rule", "what", "nodes", "where", "owner", "until"),
            ((p.cls, p.rule, p.what, len(p.nodes), names_text(p.nodes), p.owner, p.until) for p in dossier.punch),
        ),
        "steps.csv": table(
            ("step", "state", "what", "nodes", "where"),
            (row for step in dossier.steps for row in _step(step)),
        ),
        "rework.csv": table(
            ("rule", "fact", "nodes", "where", "run", "time", "was"),
            (
                (r.rule, r.fact, len(r.nodes), names_text(r.nodes), run, time, was)
                for r in dossier.rework for run, time, was in r.steps
            ),
        ),
        "evidence.csv": table(
            ("run", "node", "plane", "time", "sha256", "trouble"),
            ((a.run, a.node, a.plane, a.time, a.digest, a.trouble) for a in dossier.evidence),
        ),
        "unchecked.csv": table(
            ("kind", "what", "why", "count", "nodes", "where"),
            ((u.kind, u.what, u.why, u.count, len(u.nodes), names_text(u.nodes)) for u in dossier.unchecked),
        ),
        "rules.csv": _rules(dossier),
        "burn-in.csv": _burn_in(dossier),
        "burn-in-faults.csv": _burn_in_faults(dossier),
    }  # fmt: skip


def _step(step: Step) -> Iterator[CsvRow]:
    """Yield the rows of one step: what is left to do, and the counters that rose; one row if there is neither."""
    rows = [(why, nodes) for why, nodes in step.left] + [(rise_text(rise), rise.nodes) for rise in step.rises]
    for what, nodes in rows or [(step.declined, ())]:
        yield step.name, step.state, what, len(nodes), names_text(nodes)


def _inventory(dossier: Dossier) -> str:
    """Tabulate every part, with the reason in place of an unknown number; then the kinds that could not be listed."""
    others = sorted({name for part in dossier.parts for name in part.other} - set(OWN))

    def rows() -> Iterator[CsvRow]:
        for p in dossier.parts:
            other = (p.other.get(name, "") for name in others)
            number = " and ".join(p.every_part_number) or p.no_part_number or p.other.get("part_number", "")
            serial = " and ".join(p.every_serial) or p.why_no_serial or "not read"
            notes = "; ".join(p.notes)
            items = " ".join(p.places)
            yield (p.node, p.item, p.kind, p.model or p.other.get("model", ""), number, serial, items, notes, *other)
        for gap in dossier.unlisted:
            yield (gap.node, "", gap.kind, "", "", f"not listed: {gap.why}", "", "", *("" for _ in others))

    head = ("node", "item", "kind", "model", "part number", "serial", "items", "notes")
    return table((*head, *others), rows())


def _bill(dossier: Dossier) -> str:
    """Tabulate the differences from the bill of materials; `line` is the line number in the bill, 0 for extra parts."""
    return table(
        ("kind", "node", "item", "serial", "said", "line"),
        (
            (d.kind, d.node, d.item, d.serial, d.said, d.line)
            for d in (dossier.bill.differences if dossier.bill else ())
        ),
    )


def _nodes(dossier: Dossier) -> str:
    def rows() -> Iterator[CsvRow]:
        for n in dossier.nodes:
            counts = (n.vector.count(letter) for letter in LETTERS.values())
            place = (n.rack, n.u, n.height, n.slot)
            items = (n.host, n.bmc, n.vendor, n.product, n.serial or "not read", n.run, n.note)
            fit = (n.reason, n.fit.match.value, n.fit.words)
            yield (n.name, n.role, n.outcome.value, *counts, n.not_in_scope, *place, *items, *fit)

    words = (status.value for status in LETTERS)
    items = ("host", "bmc", "vendor", "product", "serial", "run", "note", "reason", "fit", "fit words")
    return table(("node", "role", "outcome", *words, "not in scope", "rack", "u", "height", "slot", *items), rows())


def _findings(dossier: Dossier) -> str:
    """Tabulate every finding that has a reason; passes are only in `verdicts.csv`."""
    gates = {gate.id: gate for gate in dossier.gates}
    return table(
        (
            "rule", "severity", "status", "true status", "reason", "nodes", "of", "where", "title", "why", "fix",
            "parts", "under",
        ),
        (
            (
                f.rule, gate.severity.value if gate else "", f.status.value, (f.truth or f.status).value, f.reason,
                len(f.nodes), _peers(dossier, f.nodes), names_text(f.nodes),
                gate.title if gate else "", gate.why if gate else "", fix_of(gate, (f,)) if gate else "",
                "; ".join(part.text for part in f.parts), f.under,
            )
            for f in dossier.findings if f.reason for gate in (gates.get(f.rule),)
        ),
    )  # fmt: skip


def _peers(dossier: Dossier, names: Sequence[str]) -> int:
    """Return the value of the column `of`: the number of nodes, the number of judged racks, or 1 for the fleet."""
    ((scope, _), *_) = sorts(names) or ((Scope.NODE, ()),)
    return len(dossier.nodes) if scope is Scope.NODE else sum(group.scope == scope.value for group in dossier.groups)


def _verdicts(dossier: Dossier) -> str:
    """Tabulate every verdict: a column for each rule; a row for each node, then for each rack and for the fleet.

    With 1,000 nodes and 180 rules, this table has about 1,000 rows; with one row per verdict, it would have 180,000.
    The reasons of the verdicts are in `findings.csv`, because many nodes have the same reason.
    """
    words = {letter: status.value for status, letter in LETTERS.items()}
    everyone: tuple[NodeRow | GroupRow, ...] = (*dossier.nodes, *dossier.groups)
    return table(
        ("node", *(gate.id for gate in dossier.gates)),
        (
            (
                names_text([node.name]),
                *(words.get(letter, "not in scope") for _, letter in zip(dossier.gates, node.vector, strict=False)),
            )
            for node in everyone
        ),
    )


def _firmware(dossier: Dossier) -> str:
    def rows() -> Iterator[CsvRow]:
        for v in dossier.firmware:
            for version, nodes in v.groups:
                why = "" if version else v.why
                yield (v.fact, v.plane, version or "not known", len(nodes), len(dossier.nodes), fold(nodes), why)

    return table(("component", "plane", "version", "nodes", "of", "where", "why not known"), rows())


def _burn_in(dossier: Dossier) -> str:
    """Tabulate the burn-in figures of every part, one figure per row; a missing value is shown as `not reported`."""

    def rows() -> Iterator[CsvRow]:
        for t in dossier.burned.tables if dossier.burned else ():
            for r in t.rows:
                for f, value in zip(t.figures, r.values, strict=False):
                    items = (t.kind, r.node, r.item, t.model, r.serial, r.slot)
                    yield (*items, f.name, f.unit, value or "not reported", "yes" if r.odd else "")

    head = ("kind", "node", "item", "model", "serial", "slot", "figure", "unit", "value", "something was found of it")
    return table(head, rows())


def _burn_in_faults(dossier: Dossier) -> str:
    return table(
        ("node", "item", "what", "stage", "model", "serial", "slot", "seen", "count", "seed", "again"),
        (
            (
                f.node, f.item, f.name, f.stage, f.model, f.serial, f.slot, f.said, f.count,
                f.seed if f.seed is not None else "not reported", " ".join(again(f)),
            )
            for f in (dossier.burned.faults if dossier.burned else ())
        ),
    )  # fmt: skip


def _waivers(dossier: Dossier) -> str:
    return table(
        ("rule", "state", "detail", "until", "by", "ticket", "reason", "only while", "nodes", "where", "used on",
         "place"),
        (
            (
                e.rule, e.state, e.detail, e.until, e.by, e.ticket, e.reason,
                "; ".join(f"{item} is {value}" for item, value in e.pins),
                len(e.nodes), names_text(e.nodes), names_text(e.used), e.place,
            )
            for e in dossier.exemptions
        ),
    )  # fmt: skip


def _rules(dossier: Dossier) -> str:
    def rows() -> Iterator[CsvRow]:
        for g in dossier.gates:
            counts = (g.counts.get(status, 0) for status in LETTERS)
            words = ("; ".join(g.expects), g.why, g.fix, ", ".join(g.refs), ", ".join(g.unset))
            memory = "from memory: may only warn" if g.from_memory else ""
            yield (g.id, g.title, g.severity.value, g.scope, g.phase, " ".join(g.planes), *words, memory, *counts)

    return table(
        ("rule", "title", "severity", "scope", "phase", "planes", "expects", "why", "fix", "sources",
         "params without a value", "confidence", *(status.value for status in LETTERS)),
        rows(),
    )  # fmt: skip
