"""`rackcheck diff`: compare two runs, or two nodes of one run."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import filters, options
from rackcheck.cli.against import BEFORE, PEERS, held
from rackcheck.cli.drift import DriftChanges, compared, document, lines, sides, simulated, unknown_in_both
from rackcheck.filter.where import TEXT, FilterRow, Where
from rackcheck.model.change import STEADY, Change, ComparedFacts, Turn, compare, gathered, turned
from rackcheck.model.fact import Class, clean
from rackcheck.model.part_moves import Moved, names_a_part
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import store
from rackcheck.run.index import pair, words
from rackcheck.run.index.rows import Snap
from rackcheck.session import last_run, rejudge
from rackcheck.session.output import print_lines, width
from rackcheck.session.subject import find, readings
from rackcheck.signoff import acceptance
from rackcheck.views import machine
from rackcheck.views.terminal import Line, simulation

KEYS = frozenset({"node", "rule", "state", "fact", "class", "plane", TEXT})
"""The filter keys that `rackcheck diff --where` accepts."""


@click.command(epilog="Exit: 0 no difference, 1 a difference, 2 usage error, 3 no difference and something is unknown.")
@click.argument("a", metavar="RUN|NODE")
@click.argument("b", metavar="RUN|NODE|peers|before")
@options.from_option
@click.option("--all", "every", is_flag=True, help="Also compare counters, measurements and all identity facts.")
@filters.where_option("Only these facts and rules: 'gpu/*.ecc.mode', 'state:fail node:dgx[01-08]'.", KEYS)
@options.json_option
def diff(a: str, b: str, run: str | None, every: bool, where: Where, as_json: bool) -> int:
    """Compare two runs, or two nodes of one run. For an acceptance, the newest reading of each node is used.

    \b
    rackcheck diff 20261101T060000Z-1a2b last     two runs
    rackcheck diff pod7 last                      an acceptance, and a run
    rackcheck diff dgx01 dgx05                    two nodes of the newest audit
    rackcheck diff dgx01 dgx05 --from RUN         of another run
    rackcheck diff dgx01 peers                    the majority of its role
    rackcheck diff dgx01 before                   itself, in the previous run
    rackcheck diff dgx01 pod7                     itself, as it was accepted
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    classes = tuple(Class) if every else STEADY
    if run is None and _is_run(a) and _is_run(b):
        a, b = sides(a, b)
        _note_unmatched(where, a, b)
        found = compared(a, b, classes)
        rows = _narrowed_changes(found, where)
        return _runs(_narrowed(found, where), rows, simulated(readings(a), readings(b)), as_json=as_json)
    name = last_run.named(run or last_run.LAST, last_run.AUDIT)
    source = readings(name)
    names = pair.names(source)
    _note_unmatched(where, name)
    if b == last_run.LAST and b not in names:
        b = _other(a, source)
    if a in names and b not in names and (b in {PEERS, BEFORE} or _is_run(b)):
        nodes = pair.merged(source, classes, () if b == PEERS else (a,))
        return held(a, b, source, nodes, classes, lambda c: where.holds(of_change(c, a)), as_json=as_json)
    if a not in names or b not in names:
        raise UserError(_mistake(a, b, names, source))
    nodes = pair.merged(source, classes, (a, b))
    return _nodes(a, b, nodes, classes, where, simulated(source), every=every, as_json=as_json)


def _note_unmatched(where: Where, *runs: str) -> None:
    """Print a note for each rule and node of a filter that none of these runs has."""
    if not where.keys & {"node", "rule"}:
        return  # the profile of a run is only loaded if it is needed
    try:
        each = [rejudge.names(find(run)) for run in runs]
    except UserError:
        return  # runs whose profile cannot be loaded can still be compared
    known_names = {key: [name for names in each for name in names[key]] for key in ("node", "rule")}
    filters.note_unmatched(where, known_names)


def _mistake(a: str, b: str, nodes: Collection[str], source: pair.ComparedRun) -> str:
    """Return why two words that are not two nodes of a run cannot be compared: the unknown word, with similar names."""
    words = [name for name in (a, b) if name not in nodes]
    unknown = [name for name in words if not _is_run(name) and (name == a or name not in {PEERS, BEFORE})]
    if unknown:
        name = clean(unknown[0], 80)
        runs = [last_run.LAST, *acceptance.names(), *store.ids()]
        near = did_you_mean(name, nodes) or did_you_mean(name, runs)
        return f"no run {name}, and no node {name} in {source.name}{near}"
    if b in nodes:
        return f"{a} is a run, and {b} is a node: name the node first, rackcheck diff {b} {a}"
    if b in {PEERS, BEFORE}:
        return f"{a} is a run: only a node is compared with `{b}`"
    return f"no node {clean(words[0], 80)} in {source.name}"


def _other(node: str, source: pair.ComparedRun) -> str:
    """Return the id of the last run, with which a node is compared; raises UserError if `source` is this run."""
    found = last_run.named(last_run.LAST, last_run.kind_of(source.runs[-1]))
    if found == source.name:
        raise UserError(f"{node} of the run {found} would be compared with itself: name an earlier run, or `before`")
    return found


def _is_run(word: str) -> bool:
    if word == last_run.LAST or acceptance.is_one(word):
        return True
    try:
        store.find(word)
    except UserError:
        return False
    return True


def of_change(change: Change, *nodes: str) -> FilterRow:
    """Convert a changed fact of these nodes to the form that filters work on."""
    has = {"fact": (change.path,), "class": (change.cls.value,), "plane": (change.plane,), "node": nodes}
    return FilterRow(has, f"{words.change_text(change)} {' '.join(nodes)}")


def of_turn(turn: Turn, *nodes: str) -> FilterRow:
    """Convert a changed verdict, with the nodes on which it changed, to the form that filters use.

    The filter key `state` matches the old and the new verdict.
    """
    has = {"rule": (turn.rule,), "state": tuple(filter(None, (turn.before, turn.after))), "node": nodes}
    return FilterRow(has, f"{words.turn(turn)} {' '.join(nodes)}")


def of_moved(one: Moved, changes: Mapping[str, Iterable[Change]]) -> Iterator[FilterRow]:
    """Yield the identities of a moved part, at its old and new position, in the form to which a filter is applied."""
    for node, item in (one.was, one.now):
        changed = {change.path: change for change in changes.get(node, ())}
        for word, name in one.ids:
            path = f"{item}.{word}"
            has = {"fact": (path,), "class": (Class.IDENTITY.value,), "node": (node,)}
            yield of_change(changed[path], node) if path in changed else FilterRow(has, f"{path} {name} {node}")


def _narrowed(found: pair.RunPair, where: Where) -> pair.RunPair:
    chosen = where.about({"node"})
    for node in list(found.changes):
        found.changes[node] = tuple(c for c in found.changes[node] if where.holds(of_change(c, node)))
    for node in list(found.turns):
        found.turns[node] = tuple(t for t in found.turns[node] if where.holds(of_turn(t, node)))
    found.changes = {node: some for node, some in found.changes.items() if some}
    found.turns = {node: some for node, some in found.turns.items() if some}
    for several in (found.new, found.missing, found.unread, *found.silent.values()):
        several[:] = [node for node in several if chosen.holds(FilterRow({"node": (node,)}))]
    found.silent = {planes: some for planes, some in found.silent.items() if some}
    return found


def _narrowed_changes(found: pair.RunPair, where: Where) -> DriftChanges:
    """Return the moved parts and the other changes that the filter selects.

    A changed fact that the filter selects is listed even if the move of a part explains the change.
    """
    moved, rest = found.sorted_out()
    if not where:
        return moved, rest
    asked = {id(one) for one in moved if any(map(where.holds, of_moved(one, found.changes)))}
    values: dict[str, tuple[Change, ...]] = {}
    for node, changes in found.changes.items():
        rows = rest.get(node, ())
        spoken = {change.path for change in rows}
        beside = (c for c in changes if c.path not in spoken and not names_a_part(c))
        whole = {c.under for c in changes if c.under and where.holds(of_change(c, node))}
        values[node] = tuple(c for c in (*rows, *beside) if where.holds(of_change(c, node)) or c.path in whole)
    return tuple(one for one in moved if id(one) in asked), {node: some for node, some in values.items() if some}


def _runs(found: pair.RunPair, rows: DriftChanges, made_up: dict[str, bool], *, as_json: bool) -> int:
    turns = list(words.turns(found.turns))
    if as_json:
        doc = document(found, rows)
        click.echo(machine.text({**doc, "verdicts": [words.turn_doc(one, nodes) for one, nodes in turns], **made_up}))
    else:
        texts = list(lines(found, rows))
        texts += [f"{words.turn(one)} {words.where(nodes, found.nodes)}" for one, nodes in turns]
        print_lines(simulation(width(), simulated=bool(made_up)))
        print_lines(Line(((text, ""),)) for text in texts)
        unknown_in_both(found)
    return _status(differs=found.differs, uncertain=found.uncertain)


def _nodes(
    a: str, b: str, nodes: Mapping[str, Snap], classes: Iterable[Class], where: Where, made_up: dict[str, bool], *,
    every: bool, as_json: bool,
) -> int:  # fmt: skip
    left, right = nodes[a], nodes[b]
    here, there = pair.facts(left), pair.facts(right)
    raw = tuple(c for c in _changes(here, there, classes) if where.holds(of_change(c, a, b)))
    rows = gathered(raw)
    own = tuple(c for c in rows if c.cls is Class.IDENTITY and not every and not c.kind.uncertain)
    rest = tuple(c for c in rows if c not in own)
    turns = tuple(t for t in turned(pair.statuses(left), pair.statuses(right)) if where.holds(of_turn(t, a, b)))
    unread = [name for name in (a, b) if not nodes[name].parts]
    if as_json:
        click.echo(machine.text({**_document(a, b, rows, turns, unread), **made_up}))
    else:
        texts = [words.change_text(c) for c in rest] + [words.turn(t) for t in turns]
        texts += [f"{len(own)} identities differ, as expected of two machines; --all shows them"] if own else []
        texts += [f"{name} has no facts" for name in unread]
        print_lines(simulation(width(), simulated=bool(made_up)))
        print_lines(Line(((text, ""),)) for text in texts)
    differs = any(not c.kind.uncertain for c in rest) or any(not t.uncertain for t in turns)
    return _status(differs=differs, uncertain=bool(rest or turns or unread))


def _changes(here: ComparedFacts, there: ComparedFacts, classes: Iterable[Class]) -> Iterator[Change]:
    return compare(here, there, classes) if here and there else iter(())


def _document(a: str, b: str, rows: Iterable[Change], turns: Iterable[Turn], unread: list[str]) -> dict[str, object]:
    return {
        "rackcheck": machine.FORMAT, "before": a, "after": b,
        "changes": [words.one_doc(c) for c in rows],
        "verdicts": [words.turn_doc(t, ()) for t in turns],
        "unread": unread,
    }  # fmt: skip


def _status(*, differs: bool, uncertain: bool) -> int:
    return 1 if differs else 3 if uncertain else 0
