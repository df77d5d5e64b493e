"""Prepares texts for the PDF: every character visible, long words breakable, node sets limited in length."""

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Any

from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex
from rackcheck.views.locations import Whole, counted_names

PIECE = 6
"""Length of the pieces into which a long word is split; even the narrowest column has room for longer ones."""

LONG = 14
"""Maximum length of a word that is not split."""

MARKS = 2
"""Maximum number of combining marks on one letter; more marks would be drawn over the lines above."""

_FIELDS = regex(r"[^,;/:|\].@_-]*[,;/:|\].@_-]+|[^,;/:|\].@_-]+")


def text(message: str, limit: int = 600) -> str:
    """Make every character of a text visible, and cut it to `limit` characters; the omitted characters are counted."""
    shown = visible(message.strip())
    return shown if len(shown) <= limit else f"{shown[:limit]}… and {len(shown) - limit} more characters"


def prose(written: str, limit: int = 1200) -> str:
    """Join the lines of a profile's text into one paragraph, cut to `limit` characters."""
    return text(" ".join(written.split()), limit)


def where(names: Collection[str], of: Whole, limit: int = 150) -> str:
    """Format counts and names: `62 of 72: dgx[001-062]`, `1 of 2 racks: a01`, `the fleet`.

    A long list of names is cut at a comma.
    """
    return cut(visible(counted_names(names, of, lambda nodes: _nodes(nodes, of.nodes), every=True)), limit)


def _nodes(nodes: Collection[str], total: int) -> str:
    if total == 1 and len(nodes) == 1:
        return fold(nodes)
    return f"{len(nodes)} of {total}: {fold(nodes)}" if len(nodes) != total else f"all {total}: {fold(nodes)}"


def cut(folded: str, limit: int) -> str:
    """Cut a node set of more than `limit` characters at a comma, and add `…`."""
    if len(folded) <= limit:
        return folded
    kept = folded[:limit].rpartition(",")[0] or folded[:limit]
    return f"{kept},…{']' if kept.count('[') > kept.count(']') else ''}"


def strings(tree: Any) -> Iterator[str]:
    """Yield every string in a JSON value, except the keys of objects, which come from this program."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from strings(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from strings(value)


def spelt(tree: Any, lacking: Collection[str]) -> Any:
    """Return a JSON value with its strings prepared for the page; a string with long words becomes a list of pieces."""
    if isinstance(tree, str):
        return pieces(by_code_point(tree, lacking))
    if isinstance(tree, dict):
        return {key: spelt(value, lacking) for key, value in tree.items()}
    return [spelt(value, lacking) for value in tree] if isinstance(tree, list) else tree


def by_code_point(message: str, lacking: Collection[str]) -> str:
    """Write characters without a glyph, and combining marks above the limit, as `[U+6771 U+4EAC]`."""
    if message.isascii():
        return message
    shown: list[str] = []
    missed: list[str] = []
    pile = 0
    for char in message:
        pile = pile + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if char in lacking or pile > MARKS:
            missed.append(f"U+{ord(char):04X}")
            continue
        if missed:
            shown.append(f"[{' '.join(missed)}]")
            missed = []
        shown.append(char)
    return "".join(shown) + (f"[{' '.join(missed)}]" if missed else "")


def pieces(message: str) -> str | list[str]:
    """Split a text where a line may break: in long words, after punctuation, or else after every PIECE characters."""
    if all(len(word) <= LONG for word in message.split(" ")):
        return message
    cut = [""]
    for word in re.split("( +)", message):
        first, *more = [word] if len(word) <= LONG or word.isspace() else _chop(word)
        cut[-1] += first
        cut += more
    return cut


def _chop(word: str) -> Iterator[str]:
    for part in _FIELDS.findall(word):
        if len(part) <= LONG:
            yield part
        else:
            yield from (part[i : i + PIECE] for i in range(0, len(part), PIECE))
