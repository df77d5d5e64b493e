"""Fact paths: dotted words, each with an optional key (`gpu/0.ecc.mode`)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote

from rackcheck.model.lazy import lazy
from rackcheck.model.regex import regex

EVERY = "*"
"""The key that stands for every item of a collection."""

_WORD = regex(r"[a-z][a-z0-9_]*\Z")
_BARE_KEY = regex(r"[A-Za-z0-9_@:+-]+\Z")
_SEGMENT = regex(r'(?P<word>[^./"]+)(?:/(?:"(?P<quoted>[^"]*)"|(?P<bare>[^."]*)))?(?P<end>\.|\Z)')


class BadPath(ValueError):
    """An invalid fact path; the message states at which character it becomes invalid."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One word of a path; a word that names a collection may have the key of an item: `gpu/0` has the key `0`."""

    word: str
    key: str | None = None

    def __str__(self) -> str:
        return self.word if self.key is None else f"{self.word}/{spell_key(self.key)}"


@dataclass(frozen=True)
class Path:
    """A fact path; every path has exactly one valid spelling, which `str` returns.

    Values computed from a path are cached, since all nodes of a run have the same paths.
    """

    segments: tuple[Segment, ...]

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)  # Python keeps the hash of a text, and would compute that of the segments each time

    @lazy
    def text(self) -> str:
        """The path as a cached text, for code that runs for each fact of each node; elsewhere, use `str`."""
        return ".".join(map(str, self.segments))

    def __add__(self, other: "Path") -> "Path":
        if not self.segments or not other.segments:
            return self if self.segments else other
        return _joined(self.text, other.text)  # one path for all nodes: nothing is computed again

    @lazy
    def starred(self) -> bool:
        """Whether the path is a pattern: at least one key is a star."""
        return any(segment.key == EVERY for segment in self.segments)

    @property
    def is_collection(self) -> bool:
        """Whether the last word has no key, so that the path may be that of a collection."""
        return self.segments[-1].key is None

    @lazy
    def items(self) -> tuple[tuple[str, str], ...]:
        """The items on the path, each as the path of its collection and its key; stars are not included."""
        found = []
        for depth, segment in enumerate(self.segments):
            if segment.key is not None and segment.key != EVERY:
                found.append((str(Path((*self.segments[:depth], Segment(segment.word)))), segment.key))
        return tuple(found)

    @lazy
    def pattern(self) -> "Path":
        """The same path with `*` in place of every key; the catalogue contains its entries by such patterns."""
        return Path(tuple(Segment(s.word, None if s.key is None else EVERY) for s in self.segments))

    @property
    def collections(self) -> tuple["Path", ...]:
        """The collections on the path, outermost first: `nic` and `nic/*.port` for `nic/*.port/*.rate`."""
        keyed = (depth for depth, segment in enumerate(self.segments) if segment.key is not None)
        return tuple(Path((*self.segments[:depth], Segment(self.segments[depth].word))) for depth in keyed)

    def item(self, key: str) -> "Path":
        """One item of this collection: `gpu` and `0` give `gpu/0`."""
        return parse(f"{self.text}/{spell_key(key)}")

    def fill(self, keys: Iterable[str]) -> "Path":
        """Replace the stars by keys, from left to right; if there are fewer keys, the remaining stars stay."""
        given = iter(keys)
        return Path(tuple(Segment(s.word, next(given, EVERY) if s.key == EVERY else s.key) for s in self.segments))


@lru_cache(maxsize=65536)
def spell_key(key: str) -> str:
    """Write a key in the shortest valid way: bare if possible, else quoted and percent-encoded."""
    if key == EVERY or _BARE_KEY.match(key):
        return key
    safe = "".join(c if c.isprintable() and c not in '"%' else quote(c, safe="", errors="surrogateescape") for c in key)
    return f'"{safe}"'


@lru_cache(maxsize=65536)
def parse(text: str) -> Path:
    """Parse a path; raises BadPath if the path is invalid or has a shorter spelling."""
    segments: list[Segment] = []
    at = 0
    while True:
        match = _SEGMENT.match(text, at)
        if match is None:
            raise BadPath(f"not a fact path at column {at + 1}: {text!r}")
        segments.append(_segment(match, text))
        at = match.end()
        if not match["end"]:
            return Path(tuple(segments))


_PLAIN_SEGMENT = r'[a-z][a-z0-9_]*(?:/(?:[A-Za-z0-9_@:+-]+|"(?=[^"]*[^A-Za-z0-9_@:+"-])[ !#$&-)+-~]+"))?'
"""A segment with a bare key, or with a key of printable ASCII that needs its quotes and has nothing percent-encoded."""
_PLAIN = regex(rf"{_PLAIN_SEGMENT}(?:\.{_PLAIN_SEGMENT})*\Z")
_PLAIN_KEY = regex(r'/(?:[A-Za-z0-9_@:+-]+|"[^"]*")')


def plain_pattern(text: str) -> str | None:
    """Return the pattern of a valid path, without parsing it; None if the path has a star or an unusual key."""
    return _PLAIN_KEY.sub(f"/{EVERY}", text) if _PLAIN.match(text) else None


def last_item(text: str) -> str:
    """Return a valid path up to its last key, which is an item, without parsing it; an empty text if it has no key."""
    last = max(text.rfind("/"), text.rfind('"'))  # a quoted key may contain anything else than a quote
    if last < 0:
        return ""
    end = text.find(".", last)
    return text if end < 0 else text[:end]


@lru_cache(maxsize=65536)
def _joined(first: str, second: str) -> Path:
    return Path((*parse(first).segments, *parse(second).segments))


def _segment(match: re.Match[str], text: str) -> Segment:
    word = match["word"]
    if not _WORD.match(word):
        raise BadPath(f"{word!r} in {text!r} is not a valid word: small letters, digits and _ only, a letter first")
    if match["quoted"] is not None:
        key = unquote(match["quoted"], errors="surrogateescape")
        if not key or f'"{match["quoted"]}"' != spell_key(key):
            raise BadPath(f"the key in {text!r} must be written as {spell_key(key)}")
        return Segment(word, key)
    if match["bare"] is not None:
        if match["bare"] != EVERY and not _BARE_KEY.match(match["bare"]):
            raise BadPath(f"the key {match['bare']!r} in {text!r} needs double quotes")
        return Segment(word, match["bare"])
    return Segment(word)
