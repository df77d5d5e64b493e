"""Reads a bill of materials: what was ordered or shipped, as a CSV file with a header and one part per row."""

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.model import path as paths
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean

SIZE = 16 << 20
"""Maximum size of a bill of materials, in bytes."""

_SPOILT = regex(r"[0-9](?:[.,][0-9]+)?[eE][+-]?[0-9]+")

COLUMNS = ("node", "item", "kind", "model", "part_number", "serial")
"""Columns of a bill of materials that are read; the serial identifies the part."""

IGNORED = ("note", "quantity", "order", "position", "description")
"""Columns that a bill of materials may contain in addition; they are ignored."""


@dataclass(frozen=True, slots=True)
class BomLine:
    """One row of a bill of materials: the part's node and item, and what it is; texts missing in the bill are empty."""

    row: int
    node: str
    item: str
    kind: str
    model: str
    part_number: str
    serial: str


@dataclass(frozen=True)
class Bom:
    """A bill of materials as read from its file."""

    name: str
    digest: str
    lines: tuple[BomLine, ...]


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
    return Bom(path.name, hashlib.sha256(data).hexdigest(), tuple(_lines(text, path.name)))


def _lines(text: str, name: str) -> Iterator[BomLine]:
    head = io.StringIO(text).readline()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    first: dict[str, int] = {}
    try:
        columns = _head(next(rows, []), name)
        for cells in rows:
            row = rows.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(columns):
                raise UserError(f"{name}:{row}: {len(cells)} cells; the header has {len(columns)}")
            values = {c: cell.strip() for c, cell in zip(columns, cells, strict=True) if c in COLUMNS}
            values["kind"] = values.get("kind", "").casefold()
            line = BomLine(row, **{column: values.get(column, "") for column in COLUMNS})
            if line.item and not _is_item(line.item):
                raise UserError(f"{name}:{row}: item {clean(line.item, 80)!r} is not a fact path like gpu/module-3")
            if _SPOILT.fullmatch(line.serial):
                message = "converted to a number by a spreadsheet; format the column as text and export it again"
                raise UserError(f"{name}:{row}: serial {line.serial}: {message}")
            if line.serial and line.serial in first:
                before = f"first at row {first[line.serial]}"
                raise UserError(f"{name}:{row}: serial {clean(line.serial, 80)} appears twice; {before}")
            first[line.serial] = row
            yield line
    except csv.Error as error:
        raise UserError(f"{name}:{rows.line_num}: not CSV: {error}") from None


def _is_item(text: str) -> bool:
    try:
        paths.parse(text)
    except paths.BadPath:
        return False
    return True


def _head(cells: list[str], name: str) -> list[str]:
    columns = ["_".join(cell.strip().casefold().replace("-", " ").split()) for cell in cells]
    for column in columns:
        if column not in {*COLUMNS, *IGNORED}:
            hint = did_you_mean(column, [*COLUMNS, *IGNORED]) or f"; there are {', '.join((*COLUMNS, *IGNORED))}"
            raise UserError(f"{name}:1: no column {clean(column, 40)!r}{hint}")
        if columns.count(column) > 1:
            raise UserError(f"{name}:1: column {column} appears twice")
    if "serial" not in columns:
        raise UserError(f"{name}:1: a bill of materials needs the column `serial`; there are {', '.join(COLUMNS)}")
    return columns
