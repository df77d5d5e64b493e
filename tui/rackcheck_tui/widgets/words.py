"""Texts around the lists: the run, its outcome, labelled texts and keys, fitted to the available width."""

import csv
import io
import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rackcheck.evaluate.verdict import Status
from rackcheck.model.fold import fold
from rackcheck.model.profile import Severity
from rackcheck.probe.group import is_group
from rackcheck.run.event import RunStarted
from rackcheck.views.reasons import where
from rackcheck.views.signs import OUTCOME, Signs
from rackcheck.views.state import Board
from rackcheck.views.summary import COUNTED, several
from rackcheck.views.terminal import OUTCOMES, STYLES, Line
from rackcheck_tui.widgets.entries import ListEntries

WHY = 2
"""Maximum number of lines in the head that explain why a run is INCOMPLETE."""

TURNS = 3
"""Maximum number of changed verdicts in the line about a second reading."""


def head(board: Board, signs: Signs, name: str, width: int, *, replays: bool = False) -> list[Line]:
    """Format the lines that are always visible: the profile, the verdict and the counts.

    `replays` is true for a stored run, which is read without contacting nodes.
    """
    started, done = board.started, board.done
    profile = signs.text(f"{board.profile.name} {board.profile.version}")
    if started is None:
        return [
            Line(((f" {signs.text(name)}", "bold"), ("  no facts yet", "dim"))),
            Line(((f" {profile}", ""),)),
        ]
    if done is None:
        verdict, style, stopped = " > reading" if replays else " > running", "bold yellow", ""
    else:
        verdict, style = f" {signs.status(OUTCOME[done.outcome])} {done.outcome.value}", OUTCOMES[done.outcome]
        stopped = " (interrupted)" if done.interrupted else ""
    mark = "  SIMULATION" if board.simulated else ""
    room = max(width - len(verdict) - len(stopped) - len(mark) - 2, 0)
    text = signs.fit(f"{board.profile.name} {board.profile.version}", min(len(profile), room))
    more = signs.fit(name, max(room - len(text) - 2, 0)).rstrip()
    return [
        Line(((verdict, style), (stopped, "yellow"), (f"  {text}", "bold"), (mark, "bold red"), (f"  {more}", ""))),
        _whom(board, signs, width),
        counts(board, signs, width),
        *(_why(board, signs, width) if done is not None else ()),
    ]


def _why(board: Board, signs: Signs, width: int) -> Iterator[Line]:
    """Format why the run is INCOMPLETE, in at most WHY lines, and what to type next; `about` has the full text.

    If verdicts of minor rules fail, the last line explains how severity makes the verdict.
    """
    reason = board.summary().reason
    rows = textwrap.wrap(signs.text(reason), max(width - 6, 20), break_on_hyphens=False) if reason else []
    if len(rows) > WHY:
        rows[WHY - 1 :] = [signs.fit(" ".join(rows[WHY - 1 :]), max(width - 6, 20)).rstrip()]
    for number, row in enumerate(rows):
        yield Line(((" Why: " if number == 0 else "      ", "bold"), (row, "")))
    minor, failing = board.summary().minor_failures, board.counts[Status.FAIL]
    if minor:
        mark = signs.mark(Status.FAIL, Severity.MINOR)
        text = f"{minor:,} of {several(failing, 'failing verdict')}; only blocker and major rules decide"
        yield Line(((f" {mark}: ", mark.style), (signs.fit(text, max(width - len(str(mark)) - 3, 0)).rstrip(), "")))


def _whom(board: Board, signs: Signs, width: int) -> Line:
    """Format the number of nodes and verdicts, the rules out of scope, and the origin of the nodes, in one line."""
    assert board.started is not None
    asked, judged = len(board.started.nodes), sum(not is_group(name) for name in board.judged)
    nodes = f"{asked:,} node" + ("" if asked == 1 else "s")
    missing = "" if judged == asked else f", {judged:,} judged"
    total, scope = sum(board.counts[s] for s in COUNTED), sum(each.not_in_scope for each in board.judged.values())
    verdicts = f", {total:,} verdicts" + (f", {scope:,} rules not in scope" if scope else "")
    again = f"; {len(board.again.nodes):,} collected again by {board.again.run}" if board.again is not None else ""
    planes = _planes(board.started)
    text = signs.fit(f"{nodes}{missing}{verdicts}{again}: {board.started.targets}", max(width - len(planes) - 1, 0))
    return Line(((f" {text.rstrip()}", ""), (planes, "bold yellow")))


def _planes(started: RunStarted) -> str:
    planes = started.planes
    return "" if set(planes) >= {"bmc", "os"} or set(planes) == {"burnin"} else f"  {' and '.join(planes)} plane only"


def counts(board: Board, signs: Signs, width: int) -> Line:
    """Show the counts of all six verdicts, each with its symbol and, if there is space, its name."""
    found = board.counts
    styles = [STYLES[s] if found[s] else "dim" for s in COUNTED]
    rows = [f" {signs.status(s)} {found[s]:,} {s.value} " for s in COUNTED]
    if sum(map(len, rows)) > width:
        rows = [f" {signs.status(s)}{found[s]}" for s in COUNTED]
    return Line(tuple(zip(rows, styles, strict=True)))


def turned(board: Board) -> str:
    """Format the verdicts that changed in a second reading: `collected again: nic.rate fail -> pass on n[1-2]`."""
    found: dict[str, list[str]] = {}
    for each in board.turned:
        before, after = each.turn.before or "not judged", each.turn.after or "not judged"
        found.setdefault(f"{each.turn.rule} {before} -> {after}", []).append(each.node)
    if not found:
        return "collected again: no verdict changed"
    first = "; ".join(f"{message} on {fold(nodes)}" for message, nodes in list(found.items())[:TURNS])
    more = f"; and {len(found) - TURNS} more (5 shows them)" if len(found) > TURNS else ""
    return f"collected again: {first}{more}"


def about(board: Board, signs: Signs, width: int, name: str, began: Sequence[str] = ()) -> Iterator[Line]:
    """Format everything about the run, and each note in full; `began` has the start times of an acceptance's runs."""
    yield from head(board, signs, name, width)
    started = board.started
    if started is None:
        return
    yield Line()
    times = [("first run", began[0]), ("newest", began[-1])] if len(began) > 1 else [("began", started.time)]
    ended = board.ended or "not yet"
    for label, text in (
        ("name" if began else "run", started.run), *times, ("ended", ended),
        ("rackcheck", started.version), ("profile", f"{started.profile} {started.profile_version}"),
        ("digest", started.digest), ("planes", ", ".join(started.planes)), ("targets", started.targets),
    ):  # fmt: skip
        yield from labelled(label, text, signs, width)
    if board.again is not None:
        nodes, run = fold(board.again.nodes), board.again
        yield from labelled("collected again", f"{nodes} by {run.run} at {run.time}", signs, width)
    yield Line()
    of = board.summary()
    for reason, names in of.reasons if board.done is not None else ():
        yield from labelled("incomplete", f"{where(names, of.expected)}: {reason}", signs, width)
    for note in of.notes:
        yield from labelled("note", note, signs, width)


def labelled(label: str, text: str, signs: Signs, width: int, style: str = "") -> Iterator[Line]:
    """Format a text after its label, wrapped beside the label; nothing for an empty text."""
    yield from _beside(label, signs.text(text), width, style)


def folded(label: str, names: str, signs: Signs, width: int, style: str = "") -> Iterator[Line]:
    """Format a node set of any length after its label; a line ends after a comma, never inside a name."""
    for row in _beside(label, signs.text(names, len(names)).replace(",", ", "), width, style):
        yield Line(tuple((text.replace(", ", ","), style) for text, style in row.pieces))


def _beside(label: str, text: str, width: int, style: str) -> Iterator[Line]:
    margin = max(11, len(label) + 3)
    rows = textwrap.wrap(text, max(width - margin - 1, 20), break_on_hyphens=False)
    for number, row in enumerate(rows):
        yield Line(((f" {label if number == 0 else '':<{margin - 1}}", "dim"), (row, style)))


def across(words: str, end: str, signs: Signs, width: int) -> Line:
    """Format a title as a line across the screen."""
    right = f" {end} {signs.rule * 2}" if end else ""
    left = f"{signs.rule * 2} {words} "
    if len(left) + len(right) + 1 > width:
        left = signs.fit(left, max(width - len(right) - 1, 0))
    fill = signs.rule * max(width - len(left) - len(right), 1)
    return Line(((f"{left}{fill}{right}", "dim"),))


def keys(bindings: Iterable[tuple[str, str]], signs: Signs, width: int) -> Line:
    """Format keys with their descriptions in one line, as many as fit."""
    pieces: list[tuple[str, str]] = []
    used = 1
    for key, does in bindings:
        used += len(key) + len(does) + 3
        if used > width:
            break
        pieces += [(key, "reverse"), (f" {signs.text(does)}  ", "")]
    return Line(((" ", ""), *pieces))


def guide(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """Format a help chapter: its title, then one line for each key."""
    yield Line(((f" {title}", "dim"),))
    for key, does in rows:
        yield Line(((f"   {key:<18}  " if key else "   ", "bold"), (does, "")))


def plain(entries: ListEntries, rows: Iterable[int], *, as_json: bool) -> str:
    """Format rows for export: their names, their nodes, and their values by name; as CSV or as JSON."""
    chosen = [entries.every[row] for row in rows]
    items = [{"row": e.name, "nodes": list(e.nodes), "rule": e.rule, "fact": e.fact, **e.cells} for e in chosen]
    if as_json:
        return json.dumps(items, ensure_ascii=False, indent=2) + "\n"
    out = io.StringIO()
    columns = list(dict.fromkeys(name for each in items for name in each)) or ["row"]
    writer = csv.DictWriter(out, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({**each, "nodes": fold(e.nodes)} for each, e in zip(items, chosen, strict=True))
    return out.getvalue()
