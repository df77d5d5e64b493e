"""`rackcheck drift`: what changed since a given run or acceptance."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from rackcheck.cli import options
from rackcheck.model.change import STEADY, Change, folded, gathered
from rackcheck.model.fact import Class
from rackcheck.model.fold import fold
from rackcheck.model.part_moves import Moved
from rackcheck.run import store
from rackcheck.run.index import file, moving, pair, queries, words
from rackcheck.run.index.catching import catch_up
from rackcheck.session.output import note, print_lines
from rackcheck.session.subject import readings
from rackcheck.views import machine
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line

CLASSES = (*STEADY, Class.MEASUREMENT)

DriftChanges = tuple[tuple[Moved, ...], Mapping[str, tuple[Change, ...]]]
"""The moved parts, and the other changes by node."""


@click.command(epilog="Exit: 0 no drift, 1 drift, 2 usage error, 3 no drift and something is unknown.")
@click.argument("run", default="last")
@click.option(
    "--against",
    metavar="RUN|ACCEPTANCE",
    required=True,
    help="What to compare with: an acceptance, or a run (id, folder or `last`).",
)
@click.option(
    "--class",
    "names",
    metavar="CLASSES",
    help="Classes of facts to compare, from identity,version,config,measurement (default: the first three).",
)
@click.option(
    "--percent",
    type=click.FloatRange(0),
    default=5.0,
    help="Ignore changes of a measurement up to this percentage (default: 5).",
)
@options.json_option
def drift(run: str, against: str, names: str | None, percent: float, as_json: bool) -> int:
    """Show how RUN (default: last) differs from another run or from an acceptance.

    \b
    rackcheck drift --against pod7                     newest run and acceptance
    rackcheck drift --against 20261101T060000Z-1a2b    newest run and that one
    rackcheck drift --against /srv/accepted last --class version
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    classes = chosen(names)
    found = compared(against, run, classes, percent)
    rows = found.sorted_out()
    if as_json:
        click.echo(machine.text(document(found, rows)))
    else:
        print_lines(Line(((text, ""),)) for text in lines(found, rows))
        _notes(found, classes)
    return status(found)


def chosen(names: str | None) -> tuple[Class, ...]:
    """Parse a list of classes, like `identity,config`; raises a usage error on an unknown class."""
    if names is None:
        return STEADY
    words_ = [word.strip() for word in names.split(",")]
    wrong = [word for word in words_ if word not in set(CLASSES)]
    if wrong:
        extra = "; counters never count as drift" if wrong[0] == Class.COUNTER else ""
        raise click.UsageError(f"class {wrong[0]!r} is not allowed; use {', '.join(CLASSES)}{extra}")
    return tuple(cls for cls in CLASSES if cls in words_)


def compared(before: str, after: str, classes: tuple[Class, ...], percent: float = 0.0) -> pair.RunPair:
    """Compare two runs or acceptances; changes of a measurement by up to `percent` are ignored.

    The index is used if it contains both runs and no measurements are compared; otherwise the folders of the runs are
    read.
    """
    old, new = readings(before), readings(after)
    if set(classes) <= set(STEADY):
        names = [_indexed(side) for side in (old, new)]
        if all(names):
            try:
                with file.opened(file.place()) as db:
                    catch_up(db)
                    first, second = (queries.run(db, name) for name in names)
                    if first is not None and second is not None:
                        return pair.indexed(db, first, second, classes)
            except file.Unusable as error:
                note(f"rackcheck: {error}; reading the folders of the two runs")
    return pair.read(old, new, classes, percent)


def _indexed(side: pair.ComparedRun) -> str:
    """Return a run's name in the index; "" for an acceptance, and for a run outside the folder of runs."""
    if side.nodes:
        return ""
    folder = Path(side.runs[0].folder).resolve()
    return folder.name if folder.parent == store.runs_folder().resolve() else ""


def lines(found: pair.RunPair, rows: DriftChanges) -> Iterator[str]:
    """Yield one line for each difference, with all its nodes: known differences first, then what is unknown."""
    moved, changes = rows
    for what, nodes in (("new", found.new), ("missing", found.missing)):
        if nodes:
            yield f"{what} in {found.after}: {fold(nodes)}"
    yield from moving.lines(moved)
    every = folded({node: gathered(some) for node, some in changes.items()})
    for uncertain in (False, True):
        for change in every:
            if change.change.kind.uncertain is uncertain:
                yield f"{words.change_text(change.change, alike=change.alike)} {words.where(change.nodes, found.nodes)}"
    if found.unread:
        yield f"no facts in at least one of the runs {words.where(found.unread, found.nodes)}"
    for planes, nodes in sorted(found.silent.items()):
        yield f"{planes}: no answer in either run {words.where(nodes, found.nodes)}"


def _notes(found: pair.RunPair, classes: tuple[Class, ...]) -> None:
    if not found.differs and not found.uncertain:
        note(f"no drift between {found.before} and {found.after} on {several(found.nodes, 'node')}")
    unknown_in_both(found)
    if Class.MEASUREMENT not in classes:
        note("measurements were not compared; --class measurement compares them")


def unknown_in_both(found: pair.RunPair) -> None:
    """Print a note with the number of facts that are unknown in both runs, and so were not compared."""
    if found.unknown:
        verb = "is unknown in both runs and was" if found.unknown == 1 else "are unknown in both runs and were"
        note(f"{several(found.unknown, 'fact')} {verb} not compared")


def status(found: pair.RunPair) -> int:
    """Return the exit status: 0 no drift, 1 drift, 3 no drift and something is unknown."""
    if any(not c.kind.uncertain for some in found.changes.values() for c in some) or found.new or found.missing:
        return 1
    return 3 if found.changes or found.unread or found.silent else 0


def document(found: pair.RunPair, rows: DriftChanges) -> dict[str, object]:
    """Return the comparison as one JSON document."""
    moved, changes = rows
    every = folded({node: gathered(some) for node, some in changes.items()})
    return {
        "rackcheck": machine.FORMAT, "before": found.before, "after": found.after, "nodes": found.nodes,
        "new": words.nodes_doc(found.new), "missing": words.nodes_doc(found.missing),
        "moved": [moving.doc(one) for one in moved],
        "changes": [words.change_doc(one) for one in every if not one.change.kind.uncertain],
        "unknown": [words.change_doc(one) for one in every if one.change.kind.uncertain],
        "unread": words.nodes_doc(found.unread),
        "silent": {planes: words.nodes_doc(nodes) for planes, nodes in sorted(found.silent.items())},
        "unknown-in-both": found.unknown,
    }  # fmt: skip
