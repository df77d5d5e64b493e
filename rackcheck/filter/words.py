"""Parses and formats the words of a filter: keys, and names with node sets and globs. Pure."""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import product

from rackcheck.model import operator
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Class, Plane
from rackcheck.model.profile import Severity
from rackcheck.model.regex import regex

NAMES = 10_000
"""Maximum number of names that one node set in a filter may contain."""

GLOBS = 100
"""Maximum number of globs in one node set; each glob is matched against every row."""

CLOSED: Mapping[str, tuple[str, ...]] = {
    "state": tuple(Status),
    "severity": tuple(Severity),
    "plane": tuple(Plane),
    "class": tuple(Class),
}
"""Keys of a filter that accept only certain values, each with these values."""

NUMBERED = frozenset({"group", "u"})
"""Keys of a filter whose values are numbers."""

TREES = frozenset({"rule", "fact"})
"""Keys for dotted names: a name also matches all names below it (`bios` matches `bios.smt`)."""

TEXT = "text"
COMPARED = "compared"
"""Keys for terms that are written without a key: TEXT is for the row's text, COMPARED for the comparison of a fact."""

NODE_KEYS = frozenset({"node", "rack", "row", "role", "slot", "u", COMPARED})
"""Keys of a filter that select nodes."""

FINDING_KEYS = frozenset({"rule", "fact", "plane", "group", "profile", "run", "class", "state", "severity", TEXT})
"""Keys of a filter that select findings and facts."""

KEYS = NODE_KEYS | FINDING_KEYS
WORDS = tuple(sorted(KEYS - {TEXT, COMPARED}))
"""Every key that can be written before a colon in a filter."""

_SET = regex(r"\[([0-9][0-9,-]*)\]")
_SPAN = regex(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_PIECE = regex(r'(?:"[^"]*"|\[[0-9,-]*\]|[^,"])+')


def named(key: str, value: str, word: str) -> bool:
    """Whether `value`, from a term of a filter, matches `word`, a value of a row; both belong to the same key."""
    if key in TREES:
        return operator.glob(value, word) or (word.startswith(value) and word[len(value)] in "./")
    try:
        names, globs = unfolded(value)
    except ValueError:
        return False
    if key in NUMBERED:
        return _plain(word) in map(_plain, names) or any(operator.glob(glob, word) for glob in globs)
    return word in names or any(operator.glob(glob, word) for glob in globs)


def _plain(number: str) -> str:
    return number.lstrip("0") or "0"


@lru_cache(maxsize=64)
def unfolded(value: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Expand a node set like `dgx[01-08,10]` to names and globs; raises ValueError if there are too many of them."""
    *pieces, tail = _SET.split(value)
    spans = [_spans(ranges) for ranges in pieces[1::2]]
    count, starred = math.prod(sum(map(_size, some)) for some in spans), any(star in value for star in "*?")
    if count > (GLOBS if starred else NAMES):
        raise ValueError(f"more than {GLOBS} globs" if starred else f"more than {NAMES:,} names")
    choices = [[n for span in some for n in _numbers(span)] for some in spans]
    heads = pieces[::2]
    names = ["".join((*(h + n for h, n in zip(heads, chosen, strict=True)), tail)) for chosen in product(*choices)]
    globs = tuple(name for name in names if "*" in name or "?" in name)
    return frozenset(names).difference(globs), globs


def _spans(ranges: str) -> list[tuple[str, str]]:
    found = []
    for part in ranges.split(","):
        match = _SPAN.fullmatch(part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise ValueError(f"[{ranges}] is not a range")
        found.append((match[1], match[2] or match[1]))
    return found


def _size(span: tuple[str, str]) -> int:
    return int(span[1]) - int(span[0]) + 1


def _numbers(span: tuple[str, str]) -> Iterable[str]:
    width = len(span[0]) if span[0].startswith("0") else 0
    return (f"{number:0{width}}" for number in range(int(span[0]), int(span[1]) + 1))


def pieces(text: str) -> list[str]:
    """Split a text at commas, except inside quotes and square brackets; all quotes must be closed."""
    found, at = [], 0
    while True:
        match = _PIECE.match(text, at)
        found.append(match[0] if match else "")
        at += len(found[-1])
        if at == len(text):
            return found
        at += 1


def spelt(value: str) -> str:
    """Write a value of a term so that parsing it returns the same value."""
    bare = '"' in value or (pieces(value) == [value] and not any(letter.isspace() for letter in value))
    return value if bare else f'"{value}"'
