"""Results of nccl-tests' all_reduce_perf: the bus bandwidth at each size, and the number of wrong values.

This parser is based on a recording (microsoft/superbenchmark tests/data/nccl_allreduce.log, 8 x A100, columns `error`)
and on published outputs of newer versions (columns `root` and `#wrong`; NVIDIA H200 and L40S); it is not verified on
our own hardware. The columns of the table differ between versions of nccl-tests, so they are found by their names in
its header. Lines of NCCL's log between the rows of the table are skipped. Output without the two summary lines at its
end is rejected as incomplete.

A bus bandwidth of 1 GB/s is 10^9 bytes per second. For each size, the lower of the out-of-place and in-place bandwidths
is used. If values were not checked (`N/A`), the number of wrong values is reported as not tested, never as 0.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, integer, quantity, version
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import MOST, ToolFacts, answer, decimal, nothing

_MEASURED = Class.MEASUREMENT

GIVES: Mapping[str, Kind] = {
    "burnin.all_reduce.nccl": version("dotted", "The version of NCCL that all_reduce_perf ran with."),
    "burnin.all_reduce.gpus": integer("The number of GPUs that took part.", _MEASURED),
    "burnin.all_reduce.busbw": quantity("B/s", "The bus bandwidth at the largest size.", _MEASURED),
    "burnin.all_reduce.average": quantity(
        "B/s", "The mean bus bandwidth of all sizes, as the tool reports it.", _MEASURED
    ),
    "burnin.all_reduce.wrong": integer("The number of wrong values, at all sizes.", _MEASURED),
    "burnin.all_reduce.size": collection("The sizes that were reduced, in bytes."),
    "burnin.all_reduce.size/*.busbw": quantity("B/s", "The bus bandwidth at the size.", _MEASURED),
}

_HEAD = regex(r"#\s{1,99}size\s{1,99}count\s{1,99}type\s.{0,400}")
_RANK = regex(r"#\s{1,9}Rank\s{1,9}[0-9]{1,6}\s.{0,400}")
_NCCL = regex(r"NCCL version ([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})")
_HALF = ("time", "algbw", "busbw")

NcclRow = tuple[int, float, int | None]
"""A size in bytes, its bus bandwidth in B/s, and its number of wrong values (None if the values were not checked)."""


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of all_reduce; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if tool_record.untested is not None:
        yield from nothing(GIVES, tool_record.untested)
        return
    lines = [line.rstrip() for line in tool_record.out.splitlines()]
    rows = list(_rows(lines))
    wrong = _wrong(rows, lines)
    if tool_record.failed is not None:
        for path, reading in nothing(GIVES, tool_record.failed):
            yield path, wrong if path.endswith(".wrong") and isinstance(wrong, int) and wrong else reading
        return
    average = _last(lines, r"# Avg bus bandwidth\s{0,9}: (\S{1,40})", "its mean bus bandwidth")
    mean = decimal(average)
    if mean is None or not rows:
        raise Unreadable(f"all_reduce_perf printed no valid mean, or no rows: {clean(average, 40)!r}, {len(rows)} rows")
    nccl = _NCCL.search(tool_record.out)
    ranks = sum(1 for line in lines if _RANK.fullmatch(line))
    yield (
        "burnin.all_reduce.nccl",
        nccl[1] if nccl else Unknown(Reason.NOT_COLLECTED, "all_reduce_perf printed no NCCL version"),
    )
    yield "burnin.all_reduce.gpus", ranks or Unknown(Reason.NOT_COLLECTED, "all_reduce_perf listed no ranks")
    yield "burnin.all_reduce.wrong", wrong
    yield "burnin.all_reduce.average", float(f"{mean * 1e9:.12g}")
    sizes: dict[int, float] = {}
    for size, busbw, _ in rows:
        sizes[size] = min(busbw, sizes.get(size, busbw))
    yield "burnin.all_reduce.busbw", sizes[max(sizes)]
    yield "burnin.all_reduce.size", tuple(map(str, sizes))
    yield from ((f"burnin.all_reduce.size/{size}.busbw", busbw) for size, busbw in sizes.items())


def _last(lines: list[str], form: str, what: str) -> str:
    """Return the value in the line that matches `form`; raises Unreadable if there is not exactly one such line."""
    found = [match[1] for line in lines if (match := re.fullmatch(form, line))]
    if len(found) != 1:
        raise Unreadable(f"all_reduce_perf prints {what} {len(found)} times")
    return found[0]


def _wrong(rows: list[NcclRow], lines: list[str]) -> Reading:
    """Return the number of wrong values of all sizes; unknown if the tool did not check the values.

    If the table and the summary line report different numbers of wrong values, the larger number is returned.
    """
    message = _last(lines, r"# Out of bounds values : ([0-9]{1,15} (?:OK|FAILED))", "its count of out-of-bounds values")
    counts = [wrong for _, _, wrong in rows]
    total = sum(wrong or 0 for wrong in counts)
    number, _, word = message.partition(" ")
    if word == "FAILED" or int(number):
        return max(total, int(number), 1)
    if total or not counts or None in counts:
        return total or Unknown(Reason.NOT_TESTED, "all_reduce_perf did not check its values")
    return 0


def _rows(lines: list[str]) -> Iterator[NcclRow]:
    head = next((line.lstrip("#").split() for line in lines if _HEAD.fullmatch(line)), None)
    if head is None or len(lines) > MOST:
        raise Unreadable(f"all_reduce_perf printed no table, or too many lines: {clean(' '.join(lines[:3]), 80)!r}")
    halves = [at for at, name in enumerate(head) if name == "time"]
    if len(halves) != 2 or any(tuple(head[at : at + 3]) != _HALF for at in halves):
        raise Unreadable(f"unknown columns of all_reduce_perf: {clean(' '.join(head), 120)!r}")
    if any(head[at + 3 : at + 4] not in (["#wrong"], ["error"]) for at in halves):
        raise Unreadable(f"unknown columns of all_reduce_perf: {clean(' '.join(head), 120)!r}")
    for line in lines:
        cells = line.split()
        if not re.match(r"\s{0,40}[0-9]{1,15}\s", line):
            continue
        rates = [decimal(cells[at + 2]) for at in halves] if len(cells) == len(head) else [None]
        if None in rates:
            raise Unreadable(f"invalid row of all_reduce_perf: {clean(line, 120)!r}")
        wrong = [_count(cells[at + 3], head[at + 3]) for at in halves]
        busbw = min(rate for rate in rates if rate is not None)
        yield int(cells[0]), float(f"{busbw * 1e9:.12g}"), None if None in wrong else sum(w or 0 for w in wrong)


def _count(cell: str, column: str) -> int | None:
    """Return the number of wrong values in one cell of the table; None if the values were not checked."""
    if cell == "N/A":
        return None
    if column == "#wrong" and re.fullmatch(r"[0-9]{1,15}", cell):
        return int(cell)
    # The older column has the largest error, which rounding alone makes nonzero; the last lines count errors too large.
    if column == "error" and decimal(cell) is not None:
        return 0
    raise Unreadable(f"invalid number of wrong values of all_reduce_perf: {clean(cell, 40)!r}")
