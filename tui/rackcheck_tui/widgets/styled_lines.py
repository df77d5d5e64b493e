"""Converts lines to Textual strips: only our styles apply, and the text is not interpreted as markup."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rackcheck.model.fact import visible
from rackcheck.views.terminal import Line


def strip(line: Line, width: int, whole: Style | None = None) -> Strip:
    """Format a line in exactly `width` cells; `whole` is a style for the whole line, instead of the line's own styles.

    Control characters are escaped again here, in case a text was not cleaned where it was read.
    """
    pieces = [
        Segment(text if text.isprintable() else visible(text), Style.parse(style) if whole is None else whole)
        for text, style in line.pieces
    ]
    return Strip(pieces).adjust_cell_length(width, whole)
