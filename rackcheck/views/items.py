"""Combines fact paths that differ only in an item's name to one path, such as `gpu/[0-7].vbios`. Pure."""

from collections.abc import Iterable, Sequence

from rackcheck.model import path as paths
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex
from rackcheck.model.text import natural

ItemRow = tuple[tuple[str, str | None], ...]
"""The segments of a path, each with its item name (or None); an item name may be folded, such as `[0-7]`."""


def folded(found: Iterable[str]) -> tuple[str, ...]:
    """Combine paths that differ only in one item name, starting with the last name; return them in natural order."""
    rows = list(dict.fromkeys(tuple((s.word, s.key) for s in paths.parse(text).segments) for text in found))
    for depth in range(max(map(len, rows), default=0) - 1, -1, -1):
        gathered: dict[tuple[object, ...], list[ItemRow]] = {}
        for row in rows:
            keyed = depth < len(row) and row[depth][1] is not None
            home = (*row[:depth], row[depth][0], *row[depth + 1 :]) if keyed else row
            gathered.setdefault((keyed, home), []).append(row)
        rows = [_one(alike, depth) if keyed else alike[0] for (keyed, _), alike in gathered.items()]
    texts = (".".join(word if key is None else f"{word}/{key}" for word, key in row) for row in rows)
    return tuple(sorted(texts, key=natural))


KEY = regex(r"/(?:\"[^\"]*\"|[^.\"]+)")
"""The key of an item in a combined path."""

WIDE = 60
"""Maximum number of characters of combined paths that are written with all keys."""


def folded_paths(found: Iterable[str], most: int) -> str:
    """Combine paths, and format at most `most` of the results: `gpu/[0-7].vbios, bios.nps and 3 more`.

    A result with more keys than fit in `WIDE` characters has a star for them.
    """
    rows = [row if len(row) <= WIDE else KEY.sub("/*", row) for row in folded(found)]
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return ", ".join(rows[:most]) + more


def _one(alike: Sequence[ItemRow], depth: int) -> ItemRow:
    first = alike[0]
    keys = [str(row[depth][1]) for row in alike]
    quoted = any(paths.spell_key(key).startswith('"') for key in keys)
    several = fold(keys)
    return (*first[:depth], (first[depth][0], f'"{several}"' if quoted else several), *first[depth + 1 :])
