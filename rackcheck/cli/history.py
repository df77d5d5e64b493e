"""`rackcheck history`: changes of a node, or results of a rule, from run to run."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import filters, options
from rackcheck.cli.diff import of_change, of_moved, of_turn
from rackcheck.cli.runs import progress
from rackcheck.filter.where import EVERYTHING, TEXT, FilterRow, Where
from rackcheck.model.change import STEADY, Turn, folded, gathered
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.part_moves import sorted_out, still
from rackcheck.profile.layers import did_you_mean
from rackcheck.run.index import catching, file, moving, queries, words
from rackcheck.session.output import note, print_lines, width
from rackcheck.views import machine
from rackcheck.views.indexed_findings import BAD, IndexedParts, reason_text, turn_reason
from rackcheck.views.terminal import Line, simulation

HistoryGroup = dict[str, Any]
"""Consecutive runs without a change: the newest and the oldest run, the number of runs, and a description."""

RUN_KEYS = frozenset({"run", "profile"})
NODE_KEYS = RUN_KEYS | {"rule", "state", "fact", "class", "plane", TEXT}
RULE_KEYS = RUN_KEYS | {"state", "node", TEXT}
KEYS = NODE_KEYS | RULE_KEYS
"""The filter keys that `rackcheck history --where` accepts, for a node or for a rule."""


@click.command(epilog="Exit: 0 success, 2 usage error.")
@click.argument("name", metavar="NODE|RULE")
@click.option("--rule", "kind", flag_value="rule", help="NAME is a rule, even if a node has the same name (default).")
@click.option("--node", "kind", flag_value="node", help="NAME is a node, even if a rule has the same name.")
@click.option("--limit", type=click.IntRange(1), default=20, help="How many entries (default: 20).")
@filters.where_option("Only these runs, changes and verdicts: 'state:fail', 'run:2026110*', 'rule:bios.*'.", KEYS)
@options.json_option
def history(name: str, kind: str | None, limit: int, where: Where, as_json: bool) -> None:
    """Show what changed on a node, or the results of a rule, run by run, the newest first.

    \b
    rackcheck history dgx03         changed facts and verdicts
    rackcheck history gpu.count     pass and fail counts, and the failing nodes
    rackcheck history dgx03 --where 'rule:gpu state:fail'
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    with file.opened(file.place()) as db:
        for why in catching.catch_up(db, progress):
            note(f"rackcheck: {why}")
        found = _kind(db, name, kind)
        # A key of the other kind of history is a usage error.
        filters.where(where.text, RULE_KEYS if found == "rule" else NODE_KEYS)
        filters.note_unmatched(where, _names(db, where))
        groups = list(islice((_rule if found == "rule" else _node)(db, name, where), limit + 1))
    if as_json:
        click.echo(machine.text({"rackcheck": machine.FORMAT, found: name, "runs": groups[:limit]}))
    else:
        print_lines(simulation(width(), simulated=any("simulated" in group for group in groups[:limit])))
        print_lines(Line(((text, style),)) for group in groups[:limit] for text, style in _lines(group))
    if not groups:
        note(f"no run of {clean(name)} matches {where}" if where else f"no run has {clean(name)}")
    if len(groups) > limit:
        note(f"there are older runs; --limit {limit * 2} shows more")


def _kind(db: sqlite3.Connection, name: str, kind: str | None) -> str:
    """Return whether a name is a "rule" or a "node"; raises UserError, with the nearest name, if it is neither."""
    known = {one: queries.names(db, one) for one in ("rule", "node") if kind in {None, one}}
    for one, names in known.items():
        if name in names:
            return one
    hint = did_you_mean(name, [word for names in known.values() for word in names])
    raise UserError(f"no {' and no '.join(known)} {clean(name)} in any run{hint}")


def _names(db: sqlite3.Connection, where: Where) -> dict[str, list[str]]:
    """Return all names of those keys of a filter that name a node, a rule, a run or a profile."""
    found: dict[str, list[str]] = {key: queries.names(db, key) for key in ("node", "rule") if key in where.keys}
    if where.keys & RUN_KEYS:
        runs = list(queries.runs(db))
        found |= {"run": [run.name for run in runs], "profile": [run.profile for run in runs]}
    return found


def _wanted(run: queries.IndexedRun, where: Where) -> bool:
    """Whether a run matches those terms of the filter that have the key `run` or `profile`."""
    return where.about(RUN_KEYS).holds(FilterRow({"run": (run.name,), "profile": (run.profile,)})) is True


def _node(db: sqlite3.Connection, name: str, where: Where = EVERYTHING) -> Iterator[HistoryGroup]:
    """Group consecutive runs of a node without a change between them; `where` selects runs and changes."""
    contents = queries.Contents(db)
    newest: queries.IndexedRun | None = None
    alike = 0
    every = [*(one for one in queries.history(db, name) if _wanted(one[0], where)), None]
    asked = where.about(NODE_KEYS - RUN_KEYS)
    for now, before in pairwise(every):
        assert now is not None
        run, state = now
        newest, alike = newest or run, alike + 1
        if before is not None and before[1] == state:
            continue
        since = _since(name, contents, before, state, asked)
        if not asked or since.get("says"):
            yield _group(newest, run, alike) | {"outcome": state.outcome or "not judged"} | since
        newest, alike = None, 0


def _since(
    name: str,
    contents: queries.Contents,
    before: tuple[queries.IndexedRun, queries.IndexedState] | None,
    now: queries.IndexedState,
    where: Where = EVERYTHING,
) -> HistoryGroup:
    """Describe the changes of a node between two of its runs; moves of parts are found within this node only."""
    if before is None:
        found = (Turn(rule, "", verdict) for rule, verdict in contents.verdicts(now).items() if verdict in BAD)
        return {"first": True} | _turned(contents, now, tuple(turn for turn in found if where.holds(of_turn(turn))))
    changes = contents.changes(before[1], now, STEADY)
    turns = tuple(turn for turn in contents.turns(before[1], now) if where.holds(of_turn(turn)))
    stayed = still(contents.facts(before[1]), contents.facts(now))
    every, rest = sorted_out({name: changes or ()}, beside=stayed)
    moved = [one for one in every if any(map(where.holds, of_moved(one, {name: changes or ()})))]
    rows = folded({node: gathered(c for c in some if where.holds(of_change(c))) for node, some in rest.items()})
    said = [*moving.lines(moved), *(words.change_text(one.change) for one in rows)]
    verdicts = _turned(contents, now, turns)
    return {
        "moved": [moving.doc(one) for one in moved],
        "changes": [words.one_doc(one.change) for one in rows],
        "verdicts": verdicts["verdicts"],
        "says": [*said, *verdicts["says"]]
        + (["no facts in this run or in the previous one"] if changes is None else []),
    }


def _turned(contents: queries.Contents, now: queries.IndexedState, turns: tuple[Turn, ...]) -> HistoryGroup:
    """Describe changed verdicts: those that are failures or warnings now with their reasons and their parts."""
    bad = any(turn.after in BAD for turn in turns)
    reasons, parts = contents.reasons(now) if bad else {}, IndexedParts(contents.facts(now) if bad else {})
    docs, says = [], []
    for turn in turns:
        reason, named = turn_reason(turn, reasons, parts)
        more = {"reason": reason, "parts": list(map(str, named))} if reason else {}
        docs.append({"rule": turn.rule, "before": turn.before or None, "after": turn.after or None} | more)
        head = words.turn(turn) if turn.before else f"{turn.rule} {turn.after}"
        says.append(f"{head}: {reason_text(reason, named)}" if reason else head)
    return {"verdicts": docs, "says": says}


def _rule(db: sqlite3.Connection, name: str, where: Where = EVERYTHING) -> Iterator[HistoryGroup]:
    """Group consecutive runs in which a rule has the same verdicts on the same nodes; `where` selects runs."""
    newest: queries.IndexedRun | None = None
    alike = 0
    runs = (run for run in queries.runs(db) if _wanted(run, where))
    asked = where.about(RULE_KEYS - RUN_KEYS)
    days = (_chosen(day, asked) for run in runs if (day := queries.day(db, run, name)) is not None)
    for now, before in _pairs(days):
        newest, alike = newest or now.run, alike + 1
        if before is not None and before.nodes == now.nodes:
            continue
        counts = {status: len(nodes) for status, nodes in sorted(now.nodes.items())}
        bad = {s: fold(nodes) for s, nodes in sorted(now.nodes.items()) if s not in {"pass", "n/a"}}
        if now.nodes:  # a run without a selected node is not listed, but it separates the runs before and after it
            yield _group(newest, now.run, alike) | {"counts": counts, "nodes": bad}
        newest, alike = None, 0


def _chosen(day: queries.Day, where: Where) -> queries.Day:
    """Return the results of a rule in a run, only for the nodes and verdicts that the filter selects."""
    kept = {
        status: tuple(n for n in nodes if where.holds(FilterRow({"state": (status,), "node": (n,)}, f"{status} {n}")))
        for status, nodes in day.nodes.items()
    }
    return replace(day, nodes={status: nodes for status, nodes in kept.items() if nodes})


def _pairs(days: Iterator[queries.Day]) -> Iterator[tuple[queries.Day, queries.Day | None]]:
    last: queries.Day | None = None
    for day in days:
        if last is not None:
            yield last, day
        last = day
    if last is not None:
        yield last, None


def _group(newest: queries.IndexedRun, oldest: queries.IndexedRun, alike: int) -> HistoryGroup:
    ends = {key: {"run": run.name, "time": run.time} for key, run in (("newest", newest), ("oldest", oldest))}
    return {**ends, "alike": alike, **({"simulated": True} if newest.simulated or oldest.simulated else {})}


def _lines(group: HistoryGroup) -> Iterator[tuple[str, str]]:
    newest, oldest = group["newest"], group["oldest"]
    head = f"{newest['time']}  {newest['run']}{' (SIMULATION)' if 'simulated' in group else ''}"
    if group["alike"] > 1:
        head += f"  {group['alike']} identical runs, since {oldest['time']} {oldest['run']}"
    if "counts" in group:
        counts = ", ".join(f"{count} {status}" for status, count in group["counts"].items())
        yield f"{head}  {counts}", "bold"
        for status, nodes in group["nodes"].items():
            yield f"    {status}: {nodes}", ""
        return
    yield f"{head}  {group['outcome']}" + ("  (its first run)" if group.get("first") else ""), "bold"
    for text in group.get("says", ()):
        yield f"    {text}", ""
