"""`rackcheck rack`: the racks of a run, each node with its verdict, its temperature or its power."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as File
from typing import Any

import click

from rackcheck.cli import filters, options
from rackcheck.cli.choice import NearestChoice
from rackcheck.evaluate.verdict import Outcome
from rackcheck.filter.where import NODE_KEYS, TEXT, Where, left_out, reader
from rackcheck.filter.where import FilterRow as Row
from rackcheck.inventory import Rack
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane
from rackcheck.model.fold import groups
from rackcheck.model.path import Path
from rackcheck.model.tree import Tree
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.run.kept_facts import kept_facts
from rackcheck.session import cli_choices, last_run, rejudge
from rackcheck.session.output import is_plain, note, print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.session.stored import stored_racks
from rackcheck.session.subject import RunSubject, find, shown
from rackcheck.views import locations, machine, rack_lines
from rackcheck.views.elevation import Elevation, RackPanel, elevation
from rackcheck.views.modes import LEFT_OUT, Cell, KnownNodes, Mode, Picture, mode_readings, needs, picture
from rackcheck.views.signs import OUTCOME, Signs
from rackcheck.views.summary import Summary, exit_code, several
from rackcheck.views.terminal import OUTCOMES, Line, minor_note, simulation, why, within

KEYS = NODE_KEYS | {TEXT, "state"}
"""The filter keys that `rackcheck rack --where` accepts."""

MODES = (Mode.STATE, Mode.TEMPERATURE, Mode.POWER)
"""Modes that need only one run; the mode `drift` needs a second run."""


@click.command(epilog="Exit, by the run's verdict: 0 pass, 1 fail, 3 unknown; 2 usage error.")
@options.newest_run_argument
@click.option(
    "--mode", type=NearestChoice([mode.value for mode in MODES]), default=Mode.STATE.value, show_default=True,
    help="What the symbols show.",
)  # fmt: skip
@filters.where_option("Only these nodes: 'rack:a01 !state:pass'; the others are drawn as a dot.", KEYS)
@options.waivers_option
@options.json_option
def rack(run: str, mode: str, where: Where, waiver_files: tuple[File, ...], as_json: bool) -> int:
    """Draw the racks of a run or an acceptance, with each node at its position.

    \b
    rackcheck rack                             the newest run
    rackcheck rack pod7 --mode temperature     the temperatures of its nodes
    rackcheck rack --where 'role:compute'      the compute nodes of all racks
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    files = cli_choices.waiver_files(waiver_files, found=False) if waiver_files else None
    subject = find(last_run.named(run, last_run.RUN if mode == Mode.STATE.value else last_run.AUDIT), files)
    summary = shown(subject)
    signs = Signs(plain=is_plain())
    shapes = _racks(subject)
    standing = elevation(subject.places, shapes)
    trees = _trees(subject, [*map(paths.parse, needs(Mode(mode))), *where.facts])
    outcomes = {each.node: each.outcome for each in summary.judged}
    answers = {node: where.holds(_row(subject, node, shapes, outcomes, trees)) for node in subject.places}
    chosen = tuple(node for node, answer in answers.items() if answer)
    seen = KnownNodes(
        chosen, outcomes, readings={node: mode_readings(Mode(mode), trees[node]) for node in chosen if node in trees}
    )
    found = picture(Mode(mode), seen, signs)
    filters.note_unmatched(where, rejudge.names(subject))
    open_ = [node for node, answer in answers.items() if answer is None]
    if as_json:
        left = {"left_out": [node for node in answers if node not in found.cells], "not_told": open_}
        click.echo(machine.text(_document(summary, Mode(mode), standing, found, seen) | left))
    else:
        print_lines(_lines(summary, Mode(mode), standing, found, signs, where))
        if open_:
            note(left_out(where, several(len(open_), "node")))
    return exit_code(summary, strict=False)


def _racks(subject: RunSubject) -> dict[str, Rack]:
    """Return the descriptions of all racks of the runs; if several runs describe a rack, the newest is used."""
    return {name: rack for stored, _, _ in subject.jobs for name, rack in stored_racks(stored).items()}


def _trees(subject: RunSubject, facts: Sequence[Path]) -> dict[str, Tree]:
    """Parse facts from the newest raw answers of each node, including facts that the profile does not use."""
    if not facts:
        return {}
    plan = known().plan(facts)
    found: dict[str, Tree] = {}
    for stored, job, _ in subject.jobs:
        nodes = {node.name: node for node in job.nodes}
        came: dict[str, list[Answered]] = {}
        for answer in stored.answers():
            if answer.node in nodes and answer.reading == 1:
                came.setdefault(answer.node, []).append(answer)
        kept = kept_facts()
        found |= {name: tree_of(Job(plan, (nodes[name],), kept=kept), nodes[name], each) for name, each in came.items()}
    return found


def _row(
    subject: RunSubject,
    node: str,
    shapes: Mapping[str, Rack],
    outcomes: Mapping[str, Outcome],
    trees: Mapping[str, Tree],
) -> Row:
    """Return a node in the form to which a filter is applied.

    The filter key `state` has the outcome of the node as its value, or `unknown` if the node was not judged.
    """
    place, shape, tree = subject.places[node], shapes.get(subject.places[node].rack), trees.get(node)
    words = {
        "node": node, "rack": place.rack, "row": shape.row if shape is not None else "", "role": place.role,
        "slot": place.slot, "u": str(place.u or ""),
        "state": OUTCOME[outcomes.get(node, Outcome.INCOMPLETE)].value,
    }  # fmt: skip
    read = reader(tree, _plane_of) if tree is not None else None
    return Row({key: (word,) for key, word in words.items() if word}, " ".join(words.values()), read)


def _plane_of(pattern: Path) -> Plane:
    entry = known().catalogue.find(pattern)
    return entry.plane if entry is not None else Plane.DERIVED


def _lines(
    summary: Summary, mode: Mode, standing: Elevation, found: Picture, signs: Signs, where: Where
) -> Iterator[Line]:
    started = summary.started
    head = f"{started.profile} {started.profile_version} on {started.targets}"
    only = f"  {summary.only}" if summary.only else ""
    yield from within(Line(((signs.text(head), "bold"), (only, "bold yellow"))), width(), 2)
    yield from simulation(width(), simulated=summary.simulated)
    every = {node: found.cells.get(node, LEFT_OUT) for panel in standing.racks for node in panel.nodes}
    if where:
        shown_of = locations.among(len(found.cells), len(every), "node")
        yield from within(Line(((f"{shown_of} shown: {where}", ""),)), width(), 2)
    yield Line()
    yield from rack_lines.lines(standing.racks, every, mode, width(), signs)
    for line in (found.legend, *_folded(found.cells), *(_wholes(summary, signs) if mode is Mode.STATE else ())):
        if line.pieces:
            yield from within(line, width(), 2)
    if mode is Mode.STATE:
        yield from why(summary, width(), "INCOMPLETE ")
        yield from minor_note(summary.minor_failures, width(), plain=is_plain())


def _folded(cells: Mapping[str, Cell]) -> Iterator[Line]:
    """Yield lines on nodes that do not pass or have no measured value, one line per problem; failures come first."""
    odd = [node for node, cell in cells.items() if cell.word != Outcome.PASS.value and not cell.sign.isdigit()]
    gathered = groups(odd, lambda node: _kind(cells[node]))
    for (sign, style, kind), nodes in sorted(gathered, key=lambda group: group[0][2] != Outcome.FAIL.value):
        words = {cells[node].word for node in nodes}
        where = f"{locations.share(nodes, locations.Whole(len(cells)))}: {locations.names_text(nodes)}"
        yield Line(((f"{sign} {words.pop() if len(words) == 1 else kind}", style), (f"  {where}", "")))


def _kind(cell: Cell) -> tuple[str, str, str]:
    """Return what nodes on one line have in common: the symbol, the style, and the text up to the first colon."""
    return cell.sign, cell.style, cell.word.partition(": ")[0]


def _wholes(summary: Summary, signs: Signs) -> Iterator[Line]:
    """Yield lines on racks, and on the fleet, that do not pass as a whole; no symbol of a single node shows this."""
    outcomes = {group.node: group.outcome for group in summary.groups if group.outcome is not Outcome.PASS}
    for outcome, names in groups(outcomes, outcomes.__getitem__):
        message = f"{signs.status(OUTCOME[outcome])} {outcome.value}"
        yield Line(((message, OUTCOMES[outcome]), (f"  judged as a whole: {locations.names_text(names)}", "")))


def _document(summary: Summary, mode: Mode, standing: Elevation, found: Picture, seen: KnownNodes) -> dict[str, Any]:
    """Return the racks and their nodes as one JSON document; an unknown value is null, and `word` is the reason."""
    measure = found.measure
    cells: dict[str, Any] = {node: {"sign": cell.sign, "word": cell.word} for node, cell in found.cells.items()}
    for each in summary.judged:
        if each.node in cells and each.outcome is Outcome.INCOMPLETE and each.reason:
            cells[each.node]["reason"] = each.reason
    if measure is not None:
        for node, cell in cells.items():
            value = seen.readings.get(node, {}).get(measure.pattern)
            cell["value"] = value if isinstance(value, float) else None
    return {
        "run": summary.started.run,
        "outcome": summary.done.outcome.value,
        **({"reason": summary.reason} if summary.reason else {}),
        "mode": mode.value,
        **({"fact": measure.pattern, "of": measure.label, "unit": measure.unit} if measure is not None else {}),
        "racks": [_panel(panel) for panel in standing.racks],
        "nodes": cells,
    }


def _panel(panel: RackPanel) -> dict[str, Any]:
    """Return a rack from top to bottom; `u` is the rack unit, 0 if it is unknown."""
    shelves = [
        {"u": s.u, "height": s.height, "slot": s.slot, "role": s.role, "nodes": list(s.nodes)} for s in panel.shelves
    ]
    return {"name": panel.name, "row": panel.row, "title": panel.title, "height": panel.height, "shelves": shelves}
