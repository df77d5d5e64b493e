"""Finds the lines of a reply that contain a fact: by the name of its item, its value, or the last word of its path.

Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.path import EVERY, Path

WIDTH = 200
"""Maximum number of characters shown of one line; a longer line is cut around the match."""

MEMBERS = 16
"""Maximum number of members of a list that are searched for."""

TELLING = 3
"""Minimum length of an item's name that is searched for: `0` occurs in too many lines."""


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """The search terms for a reply; `items` are pairs of a collection's name and an item's name.

    `properties` are the properties of a JSON body that are named in the source of the fact.
    """

    items: tuple[tuple[str, str], ...]
    values: tuple[str, ...]
    word: str
    properties: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the items in the path, the outermost first."""
        return tuple(key for _, key in self.items)

    @classmethod
    def of(cls, path: Path, reading: Reading) -> "SearchTerms":
        """Return the search terms of a fact: the names of its items, its value, and the last word of its path."""
        items = tuple((s.word, s.key) for s in path.segments if s.key is not None and s.key != EVERY)
        return cls(items, tuple(_spellings(reading)), _bare(path.segments[-1].word))


def _spellings(reading: Reading) -> Iterator[str]:
    match reading:
        case Unknown() | Absent() | bool():
            return
        case tuple():
            yield from (text for text in reading[:MEMBERS] if text)
        case float():
            yield f"{reading:g}"
        case _:
            yield from (text for text in (str(reading),) if text)


def _bare(text: str) -> str:
    """Normalize a word for comparison: `max_width`, `MaxWidth` and `Max Width` give the same result."""
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def picked(lines: Sequence[str], wanted: SearchTerms, most: int, around: int = 0) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines that contain a fact, in order.

    Each line has its number from 1, its text, and whether it matches. If no line matches, the first lines of the item's
    block are yielded. `around` lines are added before and after each match.
    """
    start, end = _block(lines, wanted.items)
    keys = wanted.keys if end - start == len(lines) else ()  # all lines of an item's own block are about it
    looked = re.compile("|".join(_whole(value) for value in wanted.values)) if wanted.values else None
    scores = {at: score for at in range(start, end) if (score := _score(lines[at], wanted, keys, looked))}
    if wanted.properties and any(score >= PROPERTY for score in scores.values()):
        scores = {at: score for at, score in scores.items() if score >= PROPERTY}
    hits = set(sorted(scores, key=lambda at: (-scores[at], at))[:most])
    near = [at + way for step in range(1, around + 1) for at in sorted(hits) for way in (-step, step)]
    shown = [*hits, *(at for at in dict.fromkeys(near) if start <= at < end and at not in hits)]
    for at in sorted(shown[:most] or range(start, min(end, start + most))):
        yield at + 1, _window(lines[at].expandtabs(4), looked), at in hits


PROPERTY = 8
"""The score of a line that begins with the property named in a fact's source; it exceeds all other scores together."""


def _score(line: str, wanted: SearchTerms, keys: Sequence[str], looked: re.Pattern[str] | None) -> int:
    word = bool(wanted.word) and wanted.word in _bare(line)
    found = looked.search(line) if looked is not None else None
    value = found is not None and (word or len(found[0]) > 1)  # a single digit occurs in too many lines
    score = PROPERTY if any(line.lstrip().startswith(f'"{name}":') for name in wanted.properties) else 0
    score += 4 if any(len(key) >= TELLING and key in line for key in keys) else 0
    return score + 2 * value + word


def _whole(value: str) -> str:
    """Return a regex that matches a value, unless the value is a part of a longer word or number."""
    return rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)"


def _block(lines: Sequence[str], items: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Return the first and the end index of an item's block in a reply; all lines if the item has no block.

    A block is a section with the title `==> ITEM <==`, or the line of the item and the following lines with more
    indentation.
    """
    for word, key in reversed(items):
        title = f"==> {key} <=="
        at = next((n for n, line in enumerate(lines) if line.strip() == title), None)
        if at is not None:
            ends = (n for n in range(at + 1, len(lines)) if lines[n].startswith("<== "))
            return at, next(ends, len(lines))
        named = [n for n, line in enumerate(lines) if len(key) >= TELLING and re.search(_whole(key), line)]
        heads = [n for n in named if n + 1 < len(lines) and _indent(lines[n + 1]) > _indent(lines[n])]
        if not heads and key.isdecimal():
            heads = _numbered(lines, word, int(key))
        if heads:
            return heads[0], _end(lines, heads[0])
    return 0, len(lines)


def _numbered(lines: Sequence[str], word: str, number: int) -> list[int]:
    """Find the JSON object of an item by its index (from 0) in the list of the collection, such as `gpus` for gpu/0."""
    for at, line in enumerate(lines):
        if line.strip() == f'"{word}s": [':
            depth = _indent(line)
            below = (n for n in range(at + 1, _end(lines, at)) if _indent(lines[n]) == depth + 1)
            return [n for n in below if lines[n].strip() == "{"][number : number + 1]
    return []


def _end(lines: Sequence[str], head: int) -> int:
    """Return the index of the first line after a block.

    A block is a line and the following lines that have more indentation.
    """
    return next((n for n in range(head + 1, len(lines)) if _indent(lines[n]) <= _indent(lines[head])), len(lines))


def _indent(line: str) -> int:
    """Return the indentation of a line; for a blank line, return a value that ends every block."""
    return len(line) - len(line.lstrip()) if line.strip() else -1


def _window(line: str, looked: re.Pattern[str] | None) -> str:
    if len(line) <= WIDTH:
        return line
    found = looked.search(line) if looked is not None else None
    middle = found.start() if found is not None else 0
    start = max(min(middle - WIDTH // 2, len(line) - WIDTH), 0)
    text = line[start : start + WIDTH]
    return f"{'…' if start else ''}{text}{'…' if start + WIDTH < len(line) else ''}"
