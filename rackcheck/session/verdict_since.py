"""Finds in the index of runs since which run a rule has had the same verdict on a node."""

import sqlite3
from dataclasses import dataclass

from rackcheck.run.index import catching, file, queries
from rackcheck.session.output import note


@dataclass(frozen=True, slots=True)
class Since:
    """The first run of an unbroken sequence of runs with the same verdict, and the length of the sequence.

    `first` is true if no older run judged the rule on this node.
    """

    run: str
    time: str
    runs: int
    verdict: str
    first: bool


def since(node: str, rule: str, at: str = "") -> Since | None:
    """Return since which run a rule has had the verdict on the node that it has in the run `at`.

    The default for `at` is the newest run that judged the rule. Runs that did not judge the rule are skipped. Returns
    None if no run in the index judged the rule, or if the index cannot be used.
    """
    try:
        with file.opened(file.place()) as db:
            for why in catching.catch_up(db):
                note(f"rackcheck: {why}")
            return _since(db, node, rule, at)
    except file.Unusable as error:
        note(f"rackcheck: {error}")
        return None


def _since(db: sqlite3.Connection, node: str, rule: str, at: str) -> Since | None:
    every = iter(tuple(queries.history(db, node)))
    rows = ((run, state, _verdict(db, run, node, rule)) for run, state in every if at in {"", run.name})
    found = next((one for one in rows if one[2] or at), None)
    if found is None or not found[2]:
        return None
    run, state, verdict = found
    contents = queries.Contents(db)
    first, count = run, 1
    for older, was in every:
        turn = next((t for t in contents.turns(was, state) if t.rule == rule), None)
        if turn is not None and turn.before == "":
            continue
        if turn is not None:
            return Since(first.name, first.time, count, verdict, first=False)
        first, state, count = older, was, count + 1
    return Since(first.name, first.time, count, verdict, first=True)


def _verdict(db: sqlite3.Connection, run: queries.IndexedRun, node: str, rule: str) -> str:
    day = queries.day(db, run, rule)
    return "" if day is None else next((status for status, nodes in day.nodes.items() if node in nodes), "")
