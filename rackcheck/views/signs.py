"""Symbols and text for a terminal, in Unicode or in plain ASCII."""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean, visible
from rackcheck.views.terminal import ASCII, GLYPHS, VerdictMark, verdict_mark

LIMIT = 4000
"""Default maximum number of characters shown of one text."""

OUTCOME = {Outcome.PASS: Status.PASS, Outcome.FAIL: Status.FAIL, Outcome.INCOMPLETE: Status.UNKNOWN}
"""For each outcome, the verdict whose symbol and colour are used for the outcome."""

_PLAIN = {0x2026: "...", 0xB1: "+/-", 0x2013: "-", 0x2014: "-", 0xB7: "-", 0x2019: "'", 0x2192: "->"}
"""The ASCII forms of characters that rackcheck and its profiles use: … ± ·, dashes, quotes and arrows."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The character set of a terminal; `plain` uses ASCII only."""

    plain: bool

    def status(self, status: Status) -> str:
        """Return a verdict's symbol."""
        return (ASCII if self.plain else GLYPHS)[status]

    def mark(self, status: Status, severity: str) -> VerdictMark:
        """Return the symbol, the word and the style of a verdict of a rule of this severity."""
        return verdict_mark(status, severity, plain=self.plain)

    def text(self, text: str, limit: int = LIMIT) -> str:
        """Convert any text to printable characters of this character set; control characters are escaped."""
        return self.piece(clean(text, limit))

    def piece(self, text: str) -> str:
        """Convert a piece of a line to printable characters; blanks are kept."""
        shown = visible(text)
        return shown.translate(_PLAIN).encode("ascii", "replace").decode() if self.plain else shown

    def fit(self, text: str, width: int) -> str:
        """Fit a text to exactly `width` columns; a text that was cut has a mark at its end."""
        shown = self.text(text)
        if cell_len(shown) <= width:
            return set_cell_size(shown, width)
        mark = "~" if self.plain else "…"
        return set_cell_size(shown, width - 1) + mark if width > 0 else ""

    @property
    def rule(self) -> str:
        """The character for horizontal lines."""
        return "-" if self.plain else "─"


def signs_for(environment: Mapping[str, str]) -> Signs:
    """Return the character set of the terminal, from the environment variables of the locale and TERM.

    If LC_CTYPE is `C.UTF-8` and LANG is set, LC_CTYPE is ignored: Python itself sets it to this value if the locale is
    C, whatever the terminal can show.
    """
    if environment.get("TERM") in {"linux", "dumb", "vt100", "vt102", "vt220"}:
        return Signs(plain=True)
    names = ["LC_ALL", "LC_CTYPE", "LANG"]
    if environment.get("LC_CTYPE") == "C.UTF-8" and "LANG" in environment:
        names.remove("LC_CTYPE")
    named = next((environment[name] for name in names if environment.get(name)), "C.UTF-8")
    return Signs(plain="utf" not in named.casefold())
