"""Themes: the terminal's own colours, colours safe for colour-blind users, or none; symbols are kept."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from rich.color import Color as Ink
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter


class Theme(StrEnum):
    """The colour theme."""

    TERMINAL = "terminal"
    SAFE = "safe"
    NONE = "none"


SAFE: Mapping[str, str] = {
    "red": "bright_yellow", "green": "bright_blue", "yellow": "white", "magenta": "bright_cyan", "cyan": "blue",
    "bright_red": "bright_yellow", "bright_green": "bright_blue",
}  # fmt: skip
"""Replaces red and green, which some users confuse, by yellow and blue.

Source: Okabe and Ito, Color Universal Design, 2008.
"""

_NUMBERS = {Ink.parse(name).number: Ink.parse(other) for name, other in SAFE.items()}


class Colours(LineFilter):
    """Changes colours when lines are drawn; bold, reverse and dim are kept."""

    theme = Theme.TERMINAL

    def __hash__(self) -> int:
        """Return a hash of the theme: Textual caches each filtered line by the filter that changed it."""
        return hash(self.theme)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's signature
        """Return a line in the theme's colours."""
        if self.theme is Theme.TERMINAL:
            return segments
        made = _safe if self.theme is Theme.SAFE else _none
        return [Segment(text, made(style) if style else style, control) for text, style, control in segments]


@lru_cache(maxsize=1024)
def _safe(style: Style) -> Style:
    return style + Style(color=_other(style.color), bgcolor=_other(style.bgcolor))


def _other(ink: Ink | None) -> Ink | None:
    """Return the safe colour for one of the terminal's colours; some have the name `red`, others `color(1)`."""
    return None if ink is None or ink.number is None else _NUMBERS.get(ink.number)


@lru_cache(maxsize=1024)
def _none(style: Style) -> Style:
    return style.without_color + Style(
        bold=style.bold, dim=style.dim, reverse=style.reverse, italic=style.italic, underline=style.underline
    )
