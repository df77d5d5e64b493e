"""How a text of unknown origin stands in the page: in sight, bounded, and never as markup."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.views.locations import Whole, counted_names, names_text

LIMIT = 4000
"""Characters of one text that are shown; record and annexes hold the whole of it."""


def shown(text: str, limit: int = LIMIT) -> str:
    """Give a text with control, invisible and direction characters as their escapes, and its end marked if cut."""
    seen = visible(text[: limit + 1])
    return seen if len(seen) <= limit else f"{seen[: limit - 1]}…"


def finalize(value: object) -> object:
    """Make every text that a template prints fit to be seen; markup of our own passes, escaping comes after this."""
    return shown(str(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def prose(text: str) -> str:
    """Give a profile's sentence on one line: how the author broke it in the file is no part of it."""
    return re.sub(r"[ \t]*\n[ \t]*", " ", text.strip())


def number(count: int) -> str:
    """Write a count with its thousands apart, the same everywhere."""
    return f"{count:,}"


def where(names: Sequence[str], of: Whole) -> str:
    """Say on how many of how many, and which: `62 of 72: dgx[001-062]`, `all 72`, `dgx05`, `rack a01`, `the fleet`."""
    if len(names) <= 1:
        return names_text(names) or "no node"
    return counted_names(names, of, lambda nodes: _nodes(nodes, of.nodes))


def _nodes(nodes: Sequence[str], total: int) -> str:
    if len(nodes) == total > 1:
        return f"all {number(total)}"
    return f"{number(len(nodes))} of {number(total)}: {fold(nodes)}"


def anchor(*words: str) -> str:
    """Make a name for a link out of words: letters, digits and `._-` stay."""
    return "-".join(re.sub(r"[^A-Za-z0-9._-]", "-", word) for word in words)


def css_string(text: str) -> str:
    """Write a text as a string of a style sheet, with all but the plainest letters as code points."""
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\{ord(c):06x}" for c in shown(text, 120)) + '"'
