"""Lines as the screen library takes them: styled by us alone, nothing in them is markup."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rackcheck.model.fact import visible
from rackcheck.views.terminal import Line


def strip(line: Line, width: int, whole: Style | None = None) -> Strip:
    """Write a line in exactly so many cells; `whole` is a style for all of it, in place of its own.

    Texts are cleaned where they come from; one that was not does not reach the terminal here, either.
    """
    pieces = [
        Segment(text if text.isprintable() else visible(text), Style.parse(style) if whole is None else whole)
        for text, style in line.pieces
    ]
    return Strip(pieces).adjust_cell_length(width, whole)
