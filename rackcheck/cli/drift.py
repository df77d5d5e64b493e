"""`rackcheck drift`: what changed since a given run or acceptance."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.model.change import STEADY, Change, folded, gathered
from rackcheck.model.fact import Class, clean
from rackcheck.model.fold import fold
from rackcheck.model.part_moves import Moved
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import store
from rackcheck.run.index import file, moving, pair, queries, words
from rackcheck.run.index.catching import catch_up
from rackcheck.run.simulated_run import is_simulated
from rackcheck.session import last_run
from rackcheck.session.output import note, print_lines, width
from rackcheck.session.subject import readings
from rackcheck.signoff import acceptance
from rackcheck.views import machine
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line, simulation

CLASSES = (*STEADY, Class.MEASUREMENT)

DriftChanges = tuple[tuple[Moved, ...], Mapping[str, tuple[Change, ...]]]
"""The moved parts, and the other changes by node."""

FEW = 3
"""Maximum number of runs and acceptances that are suggested."""

_SIMULATED = regex(r"sim:\S+")
_LOOPBACK = regex(r"(?:https://)?127\..*")


def complete_like(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a run or an acceptance of the nodes of RUN (default: last)."""
    run = str(ctx.params.get("run") or last_run.LAST)
    if run == last_run.LAST:
        try:
            newest = last_run.newest(last_run.AUDIT)
        except UserError:
            return []
        if newest is None:
            return []
        run = newest.folder.name
    return [CompletionItem(name) for name in _same_nodes(run, incomplete) if name.startswith(incomplete)]


@dataclass(frozen=True)
class _Side:
    """What a run or an acceptance was read from: the simulated rack ("" for none), and its nodes by name."""

    rack: str = ""
    nodes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def has_a_node_of(self, other: "_Side") -> bool:
        """Whether both have a node of the same name, rack and address; an address of a simulated rack changes."""
        if self.rack and other.rack and self.rack != other.rack:
            return False
        return any(_is_same(self.nodes[name], other.nodes[name]) for name in self.nodes.keys() & other.nodes.keys())


@click.command(epilog="Exit: 0 no drift, 1 drift, 2 usage error, 3 no drift and something is unknown.")
@options.newest_run_argument
@click.option(
    "--against",
    metavar="RUN|ACCEPTANCE",
    required=True,
    shell_complete=complete_like,
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
    rackcheck drift --against pod7                     newest audit and acceptance
    rackcheck drift --against 20261101T060000Z-1a2b    newest run and that one
    rackcheck drift --against /srv/accepted last --class version
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    classes = chosen(names)
    against, run = sides(against, run)
    _require_same_nodes(against, run)
    found = compared(against, run, classes, percent)
    rows = found.sorted_out()
    made_up = simulated(readings(against), readings(run))
    if as_json:
        click.echo(machine.text(document(found, rows) | made_up))
    else:
        print_lines(simulation(width(), simulated=bool(made_up)))
        print_lines(Line(((text, ""),)) for text in lines(found, rows))
        _notes(found, classes)
    return status(found)


def simulated(*sides: pair.ComparedRun) -> dict[str, bool]:
    """Return the JSON field that marks a comparison of simulated nodes; empty for real machines."""
    return {"simulated": True} if any(is_simulated(side.runs) for side in sides) else {}


def _require_same_nodes(against: str, run: str) -> None:
    """Raise UserError if a run is missing, or if the two have no node in common; only runs of such nodes are named."""
    for name, other in ((run, against), (against, run)):
        if not _is_stored(name):
            near = _suggested(name, other) if _is_stored(other) else ""
            raise UserError(f"no run or acceptance {clean(name, 80)}{near or '; `rackcheck runs list` shows the runs'}")
    old, new = _side(against).nodes, _side(run).nodes
    if old and new and not old.keys() & new.keys():
        message = f"{against} ({fold(old)}) and {run} ({fold(new)}) have no node in common"
        raise UserError(f"{message}{_suggested(against, run)}")


def _suggested(name: str, other: str) -> str:
    """Return a hint with runs and acceptances of the nodes of the other side; empty if its nodes are unknown."""
    if not _side(other).nodes:
        return ""
    known = _same_nodes(other)
    more = f" and {len(known) - FEW} more" if len(known) > FEW else ""
    listed = f"; of the same nodes: {', '.join(known[:FEW])}{more}" if known else "; no other run has the same nodes"
    return did_you_mean(name, known) or listed


def _is_stored(name: str) -> bool:
    """Whether there is a run or an acceptance of this name, or anything at this path; both may be damaged."""
    return acceptance.is_one(name) or Path(name).exists() or name in store.ids()


def _same_nodes(name: str, begin: str = "") -> list[str]:
    """Return the acceptances and the other runs, the newest first, with a node of this run or acceptance."""
    mine = _side(name)
    itself = {name} if acceptance.is_one(name) or not mine.nodes else {name, store.find(name).folder.name}
    every = (each for each in (*acceptance.names(), *reversed(store.ids())) if each.startswith(begin))
    return [each for each in every if each not in itself and mine.has_a_node_of(_side(each))]


def _side(name: str) -> _Side:
    """Return what a run or an acceptance was read from; no nodes if it is damaged."""
    try:
        if acceptance.is_one(name) and not (Path(name) / "run.json").is_file():
            opened = acceptance.find(name).head
            origin, listed = str(opened["inventory"].get("origin", "")), opened.get("nodes")
        else:
            head = store.find(name).head
            origin, listed = str(head.get("targets", "")), head.get("nodes")
    except UserError:
        return _Side()
    simulated = _SIMULATED.search(origin)
    nodes = [node for node in listed if isinstance(node, dict)] if isinstance(listed, list) else []
    return _Side(simulated[0] if simulated else "", {str(node.get("name", "")): node for node in nodes})


def _is_same(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    mine, theirs = _addresses(one), _addresses(other)
    return one.get("rack", "") == other.get("rack", "") and (not mine or not theirs or bool(mine & theirs))


def _addresses(node: Mapping[str, object]) -> set[str]:
    found = {str(node.get(key) or "") for key in ("host", "bmc")} - {""}
    return {each for each in found if _LOOPBACK.fullmatch(each) is None}


def sides(against: str, run: str) -> tuple[str, str]:
    """Return both names with the id of the run that `last` names: a run of the same kind as the other side."""
    if against == run == last_run.LAST:
        raise click.UsageError("both runs are `last`: name the earlier run")
    need = last_run.kind_of_word(run if against == last_run.LAST else against)
    return last_run.named(against, need), last_run.named(run, need)


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
