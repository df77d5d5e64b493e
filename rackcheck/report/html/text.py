"""Formats texts of unknown origin for the page: visible, bounded, and never as markup."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.views.locations import Whole, counted_names, names_text

LIMIT = 4000
"""Maximum characters shown of one text; record and annexes contain all of it."""


def shown(text: str, limit: int = LIMIT) -> str:
    """Return a text with control, invisible and direction characters escaped, and its end marked if cut."""
    seen = visible(text[: limit + 1])
    return seen if len(seen) <= limit else f"{seen[: limit - 1]}…"


def finalize(value: object) -> object:
    """Make every text that a template prints visible; our own markup passes, escaping comes after this."""
    return shown(str(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def prose(text: str) -> str:
    """Return a profile's sentence on one line, without the line breaks of its file."""
    return re.sub(r"[ \t]*\n[ \t]*", " ", text.strip())


def number(count: int) -> str:
    """Format a count with separated thousands."""
    return f"{count:,}"


def where(names: Sequence[str], of: Whole) -> str:
    """Format counts and names: `62 of 72: dgx[001-062]`, `all 72`, `dgx05`, `rack a01`, `the fleet`."""
    if len(names) <= 1:
        return names_text(names) or "no node"
    return counted_names(names, of, lambda nodes: _nodes(nodes, of.nodes))


def _nodes(nodes: Sequence[str], total: int) -> str:
    if len(nodes) == total > 1:
        return f"all {number(total)}"
    return f"{number(len(nodes))} of {number(total)}: {fold(nodes)}"


def anchor(*words: str) -> str:
    """Make an anchor from words: letters, digits and `._-` are kept."""
    return "-".join(re.sub(r"[^A-Za-z0-9._-]", "-", word) for word in words)


def css_string(text: str) -> str:
    """Format a text as a CSS string, with all but the plainest characters as code points."""
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\{ord(c):06x}" for c in shown(text, 120)) + '"'
