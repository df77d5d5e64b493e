"""Draws numbers in cells: bars, histories of one line or of several lines, in blocks and braille or in ASCII. Pure."""

from collections.abc import Iterator, Sequence
from math import ceil, floor, isfinite

ChartPoints = Sequence[tuple[float, float]]
"""Values, each with its time, in order of time."""

BLOCKS, RAMP = "▁▂▃▄▅▆▇█", "_.-~=+*#"
"""The eight heights of a bar in one line, in blocks and in ASCII."""

BRAILLE = 0x2800
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of the dots in a braille character: two columns, each from top to bottom."""

PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def scaled(value: float, unit: str) -> str:
    """Format a number with three digits and a unit prefix: `520 TFLOP/s`, `53.7 GB/s`."""
    if not isfinite(value):
        return f"? {unit}"
    factor, prefix = next(((f, p) for f, p in PREFIXES if abs(value) >= f * 0.9995), (1.0, ""))
    return f"{digits(value / factor)} {prefix}{unit}"


def digits(value: float) -> str:
    """Format a number below a thousand with three digits: `1.59`, `53.7`, `520`."""
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}" if abs(value) < 99.95 else f"{value:.0f}"


def bar(share: float, width: int, *, plain: bool) -> str:
    """Draw a share of a whole, 0 to 1; a larger share is drawn as a full bar."""
    full, empty = ("#", ".") if plain else ("█", "░")
    filled = max(0, min(round(share * width), width)) if isfinite(share) else 0
    return full * filled + empty * (width - filled)


def limits(points: ChartPoints, step: float = 10.0) -> tuple[float, float]:
    """Return a lower and an upper limit that include all values: two different multiples of `step`."""
    values = [value for _, value in points if isfinite(value)] or [0.0]
    low = floor(min(values) / step) * step
    return low, max(ceil(max(values) / step) * step, low + step)


def spark(points: ChartPoints, width: int, low: float, high: float, *, plain: bool) -> str:
    """Draw values in one line of at most `width` cells, as heights between two limits."""
    signs, count = RAMP if plain else BLOCKS, min(width, len(points))
    found = []
    for place in range(count):
        some = points[place * len(points) // count : (place + 1) * len(points) // count]
        share = (sum(value for _, value in some) / len(some) - low) / ((high - low) or 1.0)
        found.append(signs[int(max(0.0, min(share, 0.999)) * len(signs))])
    return "".join(found).ljust(max(width, 0))


def chart(points: ChartPoints, width: int, height: int, low: float, high: float, *, plain: bool) -> list[str]:
    """Draw values over time in a grid of cells, the highest line first; without values, the lines are empty."""
    across, down = (1, 1) if plain else (2, 4)
    columns, rows = max(width, 1) * across, height * down
    cells = [[0] * max(width, 1) for _ in range(height)]
    before: tuple[int, int] | None = None
    for x, y in _dots(points, columns, rows, low, high):
        # Adjacent columns with very different heights are joined, so that a step is visible as a line.
        first = y if before is None or x - before[0] > 1 else before[1]
        for at in range(min(first, y), max(first, y) + 1):
            cells[at // down][x // across] |= 1 if plain else DOTS[x % 2][at % 4]
        before = x, y
    return ["".join(_sign(cell, plain=plain) for cell in row) for row in cells]


def _dots(points: ChartPoints, columns: int, rows: int, low: float, high: float) -> Iterator[tuple[int, int]]:
    """Yield the positions of dots, counted from the top left; each column has one dot at the column's mean value."""
    if not points:
        return
    begin, span = points[0][0], (points[-1][0] - points[0][0]) or 1.0
    found: dict[int, list[float]] = {}
    for t, value in points:
        found.setdefault(max(0, min(int((t - begin) / span * (columns - 1)), columns - 1)), []).append(value)
    known = sorted(found)
    for place, x in enumerate(known):
        value = sum(found[x]) / len(found[x])
        up = max(0.0, min((value - low) / ((high - low) or 1.0), 1.0))
        y = rows - 1 - int(up * (rows - 1) + 0.5)
        # A column without a sample keeps the last value.
        until = known[place + 1] if place + 1 < len(known) else x + 1
        yield from ((column, y) for column in range(x, until))


def _sign(cell: int, *, plain: bool) -> str:
    if plain:
        return "*" if cell else " "
    return chr(BRAILLE + cell) if cell else " "
