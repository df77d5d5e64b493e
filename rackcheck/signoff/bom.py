"""Reads a bill of materials: what was ordered or shipped, as a CSV file with a header and one part per row.

The table `inventory.csv` of a report is a bill of materials, too: it has more columns, several numbers in one cell, and
a reason in place of a number that was not read.
"""

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.model import path as paths
from rackcheck.model.fact import clean
from rackcheck.model.formula_guard import unguarded
from rackcheck.model.part_kinds import KINDS, kind_named, kind_of
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean

SIZE = 16 << 20
"""Maximum size of a bill of materials, in bytes."""

_SPOILT = regex(r"[0-9](?:[.,][0-9]+)?[eE][+-]?[0-9]+")

COLUMNS = ("node", "item", "kind", "model", "part_number", "serial")
"""Columns of a bill of materials that are read; the serial identifies the part."""

IGNORED = ("note", "quantity", "order", "position", "description")
"""Columns that a bill of materials may contain in addition; they are ignored."""

INVENTORY = frozenset({*COLUMNS, "items", "notes"})
"""Columns that each `inventory.csv` has; of a file with all of these columns, any other column is ignored."""

UNLISTED = "not listed: "
"""The beginning of the serial of a row that stands for all parts of a kind which could not be listed on a node."""

AND = " and "
"""Separates the numbers of a part that has several."""

_REASON = regex(
    r"(?:the (?:OS|BMC) |(?:serial|part) number not read from |their list was not read"
    r"|not (?:read|listed|reported)\b).*"
)
"""Matches the reason that `inventory.csv` has in place of a number."""


@dataclass(frozen=True, slots=True)
class BomLine:
    """One row of a bill of materials: the part's node and item, and what it is; texts missing in the bill are empty.

    `part_number` and `serial` are the texts of their cells: a number, several numbers, or the reason why there is none.
    """

    row: int
    node: str
    item: str
    kind: str
    model: str
    part_number: str
    serial: str

    @property
    def serials(self) -> tuple[str, ...]:
        """The serial numbers, any of which the part may return; empty if there is none."""
        return _numbers(self.serial)

    @property
    def part_numbers(self) -> tuple[str, ...]:
        """The part numbers, any of which the part may return; empty if there is none."""
        return _numbers(self.part_number)

    @property
    def no_serial(self) -> str:
        """The reason why the row has no serial number; empty if it has one, or says nothing."""
        return "" if self.serials else self.serial

    @property
    def is_gap(self) -> bool:
        """Whether the row stands for all parts of a kind, which could not be listed on its node."""
        return not self.item and self.serial.startswith(UNLISTED)

    @property
    def part_kind(self) -> str:
        """The kind of the part, from its kind or its item; empty if the row has neither."""
        return kind_named(self.kind) if self.kind else kind_of(self.item)


def _numbers(cell: str) -> tuple[str, ...]:
    """Return the numbers in a cell; the whole text is the first one, because a number may contain the word `and`."""
    if not cell or _REASON.fullmatch(cell):
        return ()
    return tuple(dict.fromkeys((cell, *filter(None, map(str.strip, cell.split(AND))))))


@dataclass(frozen=True)
class Bom:
    """A bill of materials as read from its file; `gaps` are the rows for kinds that could not be listed on a node."""

    name: str
    digest: str
    lines: tuple[BomLine, ...]
    gaps: tuple[BomLine, ...] = ()


def load(path: Path) -> Bom:
    """Read a bill of materials and compute the digest of its file; raises UserError with the row of the error."""
    with safe_read.opened(path) as file:
        data = file.read(SIZE + 1)
    if len(data) > SIZE:
        raise UserError(f"{path} has more than {SIZE >> 20} MiB, the maximum of a bill of materials")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start}); export it as `CSV UTF-8`") from None
    lines = tuple(_lines(text, path.name))
    parts = tuple(line for line in lines if not line.is_gap)
    gaps = tuple(line for line in lines if line.is_gap)
    return Bom(path.name, hashlib.sha256(data).hexdigest(), parts, gaps)


def _lines(text: str, name: str) -> Iterator[BomLine]:
    head = io.StringIO(text).readline()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    first: dict[tuple[str, str], int] = {}
    try:
        columns = _head(next(rows, []), name)
        for cells in rows:
            row = rows.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(columns):
                raise UserError(f"{name}:{row}: {len(cells)} cells; the header has {len(columns)}")
            values = {c: unguarded(cell).strip() for c, cell in zip(columns, cells, strict=True) if c in COLUMNS}
            values["kind"] = values.get("kind", "").casefold()
            line = BomLine(row, **{column: values.get(column, "") for column in COLUMNS})
            if line.item and not _is_item(line.item):
                raise UserError(f"{name}:{row}: item {clean(line.item, 80)!r} is not a fact path like gpu/module-3")
            if _SPOILT.fullmatch(line.serial):
                message = "converted to a number by a spreadsheet; format the column as text and export it again"
                raise UserError(f"{name}:{row}: serial {line.serial}: {message}")
            place = "" if not _may_repeat(line, columns) else f"{line.node} {line.item}"
            for serial in line.serials:
                if (before := first.setdefault((serial, place), row)) != row:
                    message = f"appears twice; first at row {before}"
                    raise UserError(f"{name}:{row}: serial {clean(serial, 80)} {message}")
            yield line
    except csv.Error as error:
        raise UserError(f"{name}:{rows.line_num}: not CSV: {error}") from None


def _may_repeat(line: BomLine, columns: Sequence[str]) -> bool:
    """Whether another row may have the same serial number: a system, its chassis and its node often share one.

    Delivered parts share one only in an `inventory.csv`, which lists what was found.
    """
    return bool(line.item) and (line.part_kind not in KINDS or _is_inventory(columns))


def _is_inventory(columns: Sequence[str]) -> bool:
    return set(columns) >= INVENTORY


def _is_item(text: str) -> bool:
    try:
        paths.parse(text)
    except paths.BadPath:
        return False
    return True


def _head(cells: list[str], name: str) -> list[str]:
    columns = ["_".join(cell.strip().casefold().replace("-", " ").split()) for cell in cells]
    for column in columns:
        if column not in {*COLUMNS, *IGNORED} and not _is_inventory(columns):
            hint = did_you_mean(column, [*COLUMNS, *IGNORED]) or f"; there are {', '.join((*COLUMNS, *IGNORED))}"
            raise UserError(f"{name}:1: no column {clean(column, 40)!r}{hint}")
        if columns.count(column) > 1:
            raise UserError(f"{name}:1: column {column} appears twice")
    if "serial" not in columns:
        raise UserError(f"{name}:1: a bill of materials needs the column `serial`; there are {', '.join(COLUMNS)}")
    return columns
