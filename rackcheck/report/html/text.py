"""Formats texts of unknown origin for the page: all characters visible, limited in length, never as markup."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.views.locations import Whole, counted_names, names_text

LIMIT = 4000
"""Maximum number of characters shown of one text; the record and the annexes contain the full text."""


def shown(text: str, limit: int = LIMIT) -> str:
    """Return a text with control, invisible and direction characters escaped; a text that is cut ends in `…`."""
    seen = visible(text[: limit + 1])
    return seen if len(seen) <= limit else f"{seen[: limit - 1]}…"


def finalize(value: object) -> object:
    """Escape invisible characters of a string in a template; markup is unchanged, HTML is escaped after this."""
    return shown(str(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def prose(text: str) -> str:
    """Return a text of a profile on one line, without the line breaks of the file."""
    return re.sub(r"[ \t]*\n[ \t]*", " ", text.strip())


def number(count: int) -> str:
    """Format a count with a comma between thousands."""
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
    """Make a link anchor from words; characters other than letters, digits and `._-` become `-`."""
    return "-".join(re.sub(r"[^A-Za-z0-9._-]", "-", word) for word in words)


def css_string(text: str) -> str:
    """Format a text as a CSS string; all characters except ASCII letters and digits are written as code points."""
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\{ord(c):06x}" for c in shown(text, 120)) + '"'
