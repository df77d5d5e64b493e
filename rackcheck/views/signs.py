"""What a terminal can draw: signs and text, in Unicode or in plain ASCII."""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean, visible
from rackcheck.views.terminal import ASCII, GLYPHS

LIMIT = 4000
"""Characters of one text that are shown, unless somebody asks for more."""

OUTCOME = {Outcome.PASS: Status.PASS, Outcome.FAIL: Status.FAIL, Outcome.INCOMPLETE: Status.UNKNOWN}
"""The verdict whose sign and colour an outcome has."""

_PLAIN = {0x2026: "...", 0xB1: "+/-", 0x2013: "-", 0x2014: "-", 0xB7: "-", 0x2019: "'", 0x2192: "->"}
"""Signs that rackcheck and its profiles use, in ASCII: … ± · and dashes, quotes and arrows."""


@dataclass(frozen=True, slots=True)
class Signs:
    """How this terminal is written to; `plain` keeps to ASCII."""

    plain: bool

    def status(self, status: Status) -> str:
        """Give a verdict's sign."""
        return (ASCII if self.plain else GLYPHS)[status]

    def text(self, text: str, limit: int = LIMIT) -> str:
        """Make any text fit to be shown: control characters in sight, in this terminal's letters."""
        return self.piece(clean(text, limit))

    def piece(self, text: str) -> str:
        """Make a piece of a line fit to be shown, its blanks kept."""
        shown = visible(text)
        return shown.translate(_PLAIN).encode("ascii", "replace").decode() if self.plain else shown

    def fit(self, text: str, width: int) -> str:
        """Make a text fit into exactly this many columns; what was cut off shows at its end."""
        shown = self.text(text)
        if cell_len(shown) <= width:
            return set_cell_size(shown, width)
        mark = "~" if self.plain else "…"
        return set_cell_size(shown, width - 1) + mark if width > 0 else ""

    @property
    def rule(self) -> str:
        """What a line across the screen is drawn with."""
        return "-" if self.plain else "─"


def signs_for(environment: Mapping[str, str]) -> Signs:
    """Read from the environment what the terminal can draw.

    Python turns the locale C into UTF-8 for itself, and says so in LC_CTYPE; the terminal has not changed by that.
    """
    if environment.get("TERM") in {"linux", "dumb", "vt100", "vt102", "vt220"}:
        return Signs(plain=True)
    names = ["LC_ALL", "LC_CTYPE", "LANG"]
    if environment.get("LC_CTYPE") == "C.UTF-8" and "LANG" in environment:
        names.remove("LC_CTYPE")
    named = next((environment[name] for name in names if environment.get(name)), "C.UTF-8")
    return Signs(plain="utf" not in named.casefold())
