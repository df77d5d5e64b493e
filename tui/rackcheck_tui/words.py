"""The words around the lists: what run this is, what it comes to, and texts that fit their room."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rackcheck.report.signs import OUTCOME, Signs
from rackcheck.report.summary import COUNTED, Summary
from rackcheck.report.terminal import OUTCOMES, STYLES, Line


def head(summary: Summary, signs: Signs) -> list[Line]:
    """Say what was judged by what, the verdict and the counts: the lines that always show."""
    started, done = summary.started, summary.done
    verdict = f" {signs.status(OUTCOME[done.outcome])} {done.outcome.value}"
    stopped = " (interrupted)" if done.interrupted else ""
    name = signs.text(f"{started.profile} {started.profile_version}")
    lines = [
        Line(((verdict, OUTCOMES[done.outcome]), (stopped, "yellow"), (f"  {name}", "bold"), (f"  {started.run}", ""))),
        Line(((f" {_whom(summary, signs)}", ""), (_planes(summary), "bold yellow"))),
        counts(summary, signs),
    ]
    if summary.notes:
        more = len(summary.notes) - 1
        rest = f"  (i: {more} more)" if more else "  (i: in full)"
        lines.append(Line(((" note ", "dim"), (signs.text(summary.notes[0]), ""), (rest, "dim"))))
    return lines


def _whom(summary: Summary, signs: Signs) -> str:
    """Say how many nodes were judged and where they come from."""
    asked, judged = len(summary.started.nodes), len(summary.judged)
    nodes = f"{asked:,} node" + ("" if asked == 1 else "s")
    missing = "" if judged == asked else f", {judged:,} judged"
    return f"{nodes}{missing}: {signs.text(summary.started.targets)}"


def _planes(summary: Summary) -> str:
    planes = summary.started.planes
    return "" if set(planes) == {"bmc", "os"} else f"  {' and '.join(planes)} plane only"


def counts(summary: Summary, signs: Signs) -> Line:
    """Count all six verdicts, each with its sign and its word."""
    found = summary.counts
    pieces = [(f" {signs.status(s)} {found[s]:,} {s.value} ", STYLES[s] if found[s] else "dim") for s in COUNTED]
    scope = sum(node.not_in_scope for node in summary.judged)
    return Line((*pieces, (f" of {summary.total:,}" + (f"; {scope:,} not in scope" if scope else ""), "")))


def about(summary: Summary, signs: Signs, width: int, began: Sequence[str] = ()) -> Iterator[Line]:
    """Say everything about the run itself, and each note in full; `began` are the times of an acceptance's runs."""
    yield from head(summary, signs)[:3]
    yield Line()
    started = summary.started
    times = [("first run", began[0]), ("newest", began[-1])] if len(began) > 1 else [("began", started.time)]
    for label, text in (
        ("name" if began else "run", started.run), *times, ("ended", summary.done.time),
        ("rackcheck", started.version), ("profile", f"{started.profile} {started.profile_version}"),
        ("digest", started.digest), ("planes", ", ".join(started.planes)), ("targets", started.targets),
    ):  # fmt: skip
        yield from labelled(label, text, signs, width)
    yield Line()
    for note in summary.notes:
        yield from labelled("note", note, signs, width)


def labelled(label: str, text: str, signs: Signs, width: int, style: str = "") -> Iterator[Line]:
    """Write a text behind its label, wrapped beside it; nothing for an empty one."""
    yield from _beside(label, signs.text(text), width, style)


def folded(label: str, names: str, signs: Signs, width: int, style: str = "") -> Iterator[Line]:
    """Write a node set of any length behind its label; a line ends after a comma, never inside a name."""
    for row in _beside(label, signs.text(names, len(names)).replace(",", ", "), width, style):
        yield Line(tuple((text.replace(", ", ","), style) for text, style in row.pieces))


def _beside(label: str, text: str, width: int, style: str) -> Iterator[Line]:
    margin = max(11, len(label) + 3)
    rows = textwrap.wrap(text, max(width - margin - 1, 20), break_on_hyphens=False)
    for number, row in enumerate(rows):
        yield Line(((f" {label if number == 0 else '':<{margin - 1}}", "dim"), (row, style)))


def across(words: str, end: str, signs: Signs, width: int) -> Line:
    """Write a title on a line across the screen."""
    left = f"{signs.rule * 2} {words} "
    right = f" {end} {signs.rule * 2}" if end else ""
    fill = signs.rule * max(width - len(left) - len(right), 1)
    return Line(((f"{left}{fill}{right}", "dim"),))


def keys(bindings: Iterable[tuple[str, str]], signs: Signs, width: int) -> Line:
    """Write keys with what they do in one line, as many as there is room for."""
    pieces: list[tuple[str, str]] = []
    used = 1
    for key, does in bindings:
        used += len(key) + len(does) + 3
        if used > width:
            break
        pieces += [(key, "reverse"), (f" {signs.text(does)}  ", "")]
    return Line(((" ", ""), *pieces))


def guide(bindings: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """Write one line for each key."""
    for key, does in bindings:
        yield Line(((f" {key:<22}", "bold"), (does, "")))
