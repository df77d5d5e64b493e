"""Draws racks side by side as lines of text; a line shows one shelf, or several nodes of a large rack. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest

from rich.cells import cell_len

from rackcheck.evaluate.verdict import Outcome
from rackcheck.views.elevation import RackPanel, RackShelf, dots
from rackcheck.views.locations import among, passing
from rackcheck.views.modes import LEFT_OUT, Cell, Mode
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line

MANY = 60
"""Number of shelves above which a rack is drawn with many nodes per line; a standard rack has fewer units."""

GAP = 3
"""Number of columns between two racks."""

TOGETHER = 8
"""Number of nodes per group on a line of many nodes, so that they can be counted by eye."""

DrawnPiece = tuple[str, str]


def lines(
    panels: Sequence[RackPanel], cells: Mapping[str, Cell], mode: Mode, width: int, signs: Signs
) -> Iterator[Line]:
    """Draw racks row by row; `cells` contains the cell of every node."""
    named, titled = any(panel.row for panel in panels), any(panel.title for panel in panels)
    for row, several in groupby(panels, key=lambda panel: panel.row):
        if named:
            yield Line(((signs.fit(f"row {row}" if row else "row unknown", width).rstrip(), "bold"),))
        blocks = [_block(panel, cells, mode, width, signs, titled=titled) for panel in several]
        for beside in _beside(blocks, width):
            yield from beside
            yield Line()


def _block(
    panel: RackPanel, cells: Mapping[str, Cell], mode: Mode, width: int, signs: Signs, *, titled: bool
) -> list[list[DrawnPiece]]:
    """Draw one rack: the name with a count, the title, and the shelves.

    With `titled`, the title line is drawn even if the rack has no title.
    """
    head = [[(signs.text(panel.name), "bold"), (f"  {_count(panel, cells, mode)}", "dim")]]
    head += [[(signs.text(panel.title), "dim")]] if titled else []
    if len(panel.shelves) > MANY:
        return [*(_cut(row, width, signs) for row in head), *_many(panel, cells, width, signs)]
    wide = max(map(len, panel.labels), default=0)
    rows = [_shelf(shelf, cells, mode, wide, signs) for shelf in panel.shelves]
    return [_cut(row, width, signs) for row in (*head, *rows)]


def _count(panel: RackPanel, cells: Mapping[str, Cell], mode: Mode) -> str:
    """Format how many nodes match the filter; without a filter, how many pass (mode `state`) or how many there are."""
    count = len(panel.nodes)
    shown = [cells[node] for node in panel.nodes if cells[node] != LEFT_OUT]
    if len(shown) < count:
        return f"{among(len(shown), count, 'node')} shown"
    if mode is Mode.STATE:
        return passing(sum(cell.word == Outcome.PASS.value for cell in shown), count, "node")
    return f"{count:,} node{'' if count == 1 else 's'}"


def _shelf(shelf: RackShelf, cells: Mapping[str, Cell], mode: Mode, wide: int, signs: Signs) -> list[DrawnPiece]:
    label = (f"{shelf.label:>{wide}} " if wide else "", "dim")
    if not shelf.nodes:
        return [label, (f"({signs.text(shelf.role or shelf.slot)})" if shelf.slot else "", "dim")]
    found: list[DrawnPiece] = [label]
    for at, node in enumerate(shelf.nodes):
        cell = cells[node]
        measured = f" {signs.text(cell.word)}" if mode is not Mode.STATE and cell.sign.isdigit() else ""
        found += [("  " if at else "", ""), (f"{cell.sign} ", cell.style), (signs.text(node), ""), (measured, "dim")]
    return found


def _many(panel: RackPanel, cells: Mapping[str, Cell], width: int, signs: Signs) -> Iterator[list[DrawnPiece]]:
    """Draw as many nodes per line as fit the width; each line begins with the name of its first node."""
    wide = min(max((cell_len(signs.text(node)) for node in panel.nodes), default=0), width // 3)
    # Each group of nodes needs one more column for the blank before the group.
    columns = max(1, (width - wide) // (TOGETHER + 1)) * TOGETHER
    for row in dots(panel, columns):
        drawn: list[DrawnPiece] = [(signs.fit(row[0], wide), "dim")]
        for at, node in enumerate(row):
            blank = " " if at % TOGETHER == 0 else ""
            drawn.append((f"{blank}{cells[node].sign}", cells[node].style))
        yield drawn


def _cut(row: list[DrawnPiece], width: int, signs: Signs) -> list[DrawnPiece]:
    """Cut a line to the width; a line that was cut has a mark at its end."""
    found: list[DrawnPiece] = []
    room = width
    for text, style in row:
        if cell_len(text) > room:
            return [*found, (signs.fit(text, room), style)] if room else found
        found.append((text, style))
        room -= cell_len(text)
    return found


def _beside(blocks: Sequence[list[list[DrawnPiece]]], width: int) -> Iterator[list[Line]]:
    """Place as many blocks side by side as fit; all blocks have the width of the widest block."""
    wide = max((_wide(row) for block in blocks for row in block), default=0)
    several = max(1, (width + GAP) // (wide + GAP))
    for at in range(0, len(blocks), several):
        yield [_joined(rows, wide) for rows in zip_longest(*blocks[at : at + several], fillvalue=())]


def _joined(rows: Iterable[Sequence[DrawnPiece]], wide: int) -> Line:
    found: list[DrawnPiece] = []
    used = 0
    for at, row in enumerate(rows):
        if row:
            found.append((" " * (at * (wide + GAP) - used), ""))
            found += row
            used = at * (wide + GAP) + _wide(row)
    return Line(tuple(piece for piece in found if piece[0]))


def _wide(row: Iterable[DrawnPiece]) -> int:
    return sum(cell_len(text) for text, _ in row)
