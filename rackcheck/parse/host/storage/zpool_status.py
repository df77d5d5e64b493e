"""The tables of `zpool status -p`: the disks and files of each pool, and their error counts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.regex import regex

_NUMBER = "([0-9]{1,20})"
_ROW = regex(rf"\t( {{0,20}})(\S{{1,200}}) +(?:([A-Z]{{1,20}}) +{_NUMBER} +{_NUMBER} +{_NUMBER}|AVAIL|INUSE)(?: +.*)?")
_HEAD = regex(r"\tNAME +STATE +READ +WRITE +CKSUM")
_GROUP = regex(r"\t\S{1,40} *")
"""Matches a heading inside the table of a pool, such as `logs`: a row without a state."""


@dataclass(frozen=True)
class PoolMember:
    """A disk or file of a pool: its name in the pool, its state, and its counts of read, write and checksum errors."""

    name: str
    state: str
    errors: tuple[int, int, int]


def pools(rows: Sequence[str]) -> Iterator[tuple[str, tuple[PoolMember, ...]]]:
    """Yield each pool's name and its disks and files (members), without spares, which have no error counts.

    A row of the pool's table is a member unless the next row is indented more deeply, as after a mirror. Raises
    Unreadable if no pool is printed, if a pool has no table or an empty one, and at an invalid row of a table.
    """
    starts = [at for at, row in enumerate(rows) if row.startswith("  pool: ")]
    if not starts:
        raise Unreadable(f"no pool: {clean(rows[0] if rows else '', 80)!r}")
    for at, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        items = list(_device_rows(rows[at], rows[at:end]))
        if not items:
            raise Unreadable(f"no member of {clean(rows[at], 80)!r}")
        below = [*(len(row[1]) for row in items[1:]), 0]
        members = [row for row, depth in zip(items, below, strict=True) if depth <= len(row[1]) and row[1]]
        yield (
            rows[at].removeprefix("  pool: "),
            tuple(PoolMember(row[2], row[3], (int(row[4]), int(row[5]), int(row[6]))) for row in members),
        )


def _device_rows(name: str, rows: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield those rows of a pool's table that have error counts."""
    head = next((at for at, row in enumerate(rows) if _HEAD.fullmatch(row)), None)
    stop = next((at for at, row in enumerate(rows) if row.startswith("errors:")), None)
    if head is None or stop is None:
        raise Unreadable(f"no table of {clean(name, 80)!r}")
    for row in rows[head + 1 : stop]:
        match = _ROW.fullmatch(row)
        if match is not None and match[4] is not None:
            yield match
        elif match is None and row.strip() and not _GROUP.fullmatch(row):
            raise Unreadable(f"not a member: {clean(row, 80)!r}")
