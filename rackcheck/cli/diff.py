"""`rackcheck diff`: two runs, or two nodes of one run, held against each other."""

from collections.abc import Iterable, Iterator, Mapping

import click

from rackcheck import acceptance, store
from rackcheck.cli import options
from rackcheck.cli.drift import Told, compared, document, lines, unknown_in_both
from rackcheck.cli.output import print_lines
from rackcheck.cli.subject import readings
from rackcheck.core import operator
from rackcheck.core.change import STEADY, Change, Facts, Turn, compare, gathered, turned
from rackcheck.core.fact import Class
from rackcheck.core.moves import names_a_part
from rackcheck.index import pair, words
from rackcheck.index.rows import Snap
from rackcheck.layers import did_you_mean
from rackcheck.mistake import Mistake
from rackcheck.report import machine
from rackcheck.report.terminal import Line


@click.command(epilog="Exit: 0 alike, 1 they differ, 2 your mistake, 3 nothing differs and something is unknown.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@options.from_option
@click.option("--all", "every", is_flag=True, help="Also counters and measurements, and each identity by itself.")
@click.option("--where", "pattern", metavar="PATTERN", help="Only facts and rules like this: 'gpu/*.ecc.mode'.")
@options.json_option
def diff(a: str, b: str, run: str | None, every: bool, pattern: str | None, as_json: bool) -> int:
    """Hold two runs, or two nodes of one run, against each other; an acceptance is each node's newest reading.

    \b
    rackcheck diff 20261101T060000Z-1a2b last     two runs
    rackcheck diff pod7 last                      an acceptance, and a run
    rackcheck diff dgx01 dgx05                    two nodes of the newest run
    rackcheck diff dgx01 dgx05 --from RUN         of another run
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    classes = tuple(Class) if every else STEADY
    if run is None and _is_run(a) and _is_run(b):
        found = compared(a, b, classes)
        told = _narrowed_told(found, pattern)
        return _runs(_narrowed(found, pattern), told, as_json=as_json)
    source = readings(run or "last")
    nodes = pair.merged(source, classes)
    for name in (a, b):
        if name not in nodes:
            raise Mistake(f"no run and no node {name} of {source.name}{did_you_mean(name, list(nodes))}")
    return _nodes(a, b, nodes, classes, pattern, every=every, as_json=as_json)


def _is_run(word: str) -> bool:
    if acceptance.is_one(word):
        return True
    try:
        store.find(word)
    except Mistake:
        return False
    return True


def _like(pattern: str | None, name: str) -> bool:
    return pattern is None or operator.glob(pattern, name) or name.startswith(pattern)


def _narrowed(found: pair.Pair, pattern: str | None) -> pair.Pair:
    for node in list(found.changes):
        found.changes[node] = tuple(c for c in found.changes[node] if _like(pattern, c.path))
    for node in list(found.turns):
        found.turns[node] = tuple(t for t in found.turns[node] if _like(pattern, t.rule))
    found.changes = {node: some for node, some in found.changes.items() if some}
    found.turns = {node: some for node, some in found.turns.items() if some}
    return found


def _narrowed_told(found: pair.Pair, pattern: str | None) -> Told:
    """Keep what is asked for; a fact that somebody names is told also where a move explains it."""
    moved, rest = found.sorted_out()
    if pattern is None:
        return moved, rest
    ends = ((one, f"{item}.{word}") for one in moved for word, _ in one.ids for _, item in (one.was, one.now))
    asked = {id(one) for one, path in ends if _like(pattern, path)}
    told: dict[str, tuple[Change, ...]] = {}
    for node, changes in found.changes.items():
        said = rest.get(node, ())
        spoken = {change.path for change in said}
        beside = (c for c in changes if c.path not in spoken and not names_a_part(c))
        whole = {c.under for c in changes if c.under and _like(pattern, c.path)}
        told[node] = tuple(c for c in (*said, *beside) if _like(pattern, c.path) or c.path in whole)
    return tuple(one for one in moved if id(one) in asked), {node: some for node, some in told.items() if some}


def _runs(found: pair.Pair, told: Told, *, as_json: bool) -> int:
    turns = list(words.turns(found.turns))
    if as_json:
        doc = document(found, told)
        click.echo(machine.text({**doc, "verdicts": [words.turn_doc(one, nodes) for one, nodes in turns]}))
    else:
        texts = list(lines(found, told))
        texts += [f"{words.turn(one)} {words.where(nodes, found.nodes)}" for one, nodes in turns]
        print_lines(Line(((text, ""),)) for text in texts)
        unknown_in_both(found)
    return _status(differs=found.differs, uncertain=found.uncertain)


def _nodes(
    a: str, b: str, nodes: Mapping[str, Snap], classes: Iterable[Class], pattern: str | None, *, every: bool,
    as_json: bool,
) -> int:  # fmt: skip
    left, right = nodes[a], nodes[b]
    here, there = pair.facts(left), pair.facts(right)
    raw = tuple(c for c in _changes(here, there, classes) if _like(pattern, c.path))
    told = gathered(raw)
    own = tuple(c for c in told if c.cls is Class.IDENTITY and not every and not c.kind.uncertain)
    rest = tuple(c for c in told if c not in own)
    turns = tuple(t for t in turned(pair.statuses(left), pair.statuses(right)) if _like(pattern, t.rule))
    unread = [name for name in (a, b) if not nodes[name].parts]
    if as_json:
        click.echo(machine.text(_document(a, b, told, turns, unread)))
    else:
        texts = [words.said(c) for c in rest] + [words.turn(t) for t in turns]
        texts += [f"{len(own)} identities differ, as those of two machines do; --all shows them"] if own else []
        texts += [f"{name} told nothing" for name in unread]
        print_lines(Line(((text, ""),)) for text in texts)
    differs = any(not c.kind.uncertain for c in rest) or any(not t.uncertain for t in turns)
    return _status(differs=differs, uncertain=bool(rest or turns or unread))


def _changes(here: Facts, there: Facts, classes: Iterable[Class]) -> Iterator[Change]:
    return compare(here, there, classes) if here and there else iter(())


def _document(a: str, b: str, told: Iterable[Change], turns: Iterable[Turn], unread: list[str]) -> dict[str, object]:
    return {
        "rackcheck": machine.FORMAT, "before": a, "after": b,
        "changes": [words.one_doc(c) for c in told],
        "verdicts": [words.turn_doc(t, ()) for t in turns],
        "unread": unread,
    }  # fmt: skip


def _status(*, differs: bool, uncertain: bool) -> int:
    return 1 if differs else 3 if uncertain else 0
