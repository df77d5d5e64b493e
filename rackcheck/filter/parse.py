"""The parser of filters: it returns the terms of a filter, or raises an error with the column of the invalid term.

Pure.
"""

import re
from collections.abc import Callable, Iterator

from rackcheck.filter.terms import ORDERS, Bare, ComparisonTerm, Named, Term, TermBody, TextTerm
from rackcheck.filter.words import CLOSED, NUMBERED, TREES, WORDS, pieces, unfolded
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import clean
from rackcheck.model.operator import BadOperand, Test
from rackcheck.model.path import BadPath
from rackcheck.model.regex import regex

LETTERS = 4_000
"""Maximum number of characters of a filter."""

TERMS = 64
"""Maximum number of terms of a filter."""

KindOf = Callable[[str], Kind | None]


class FilterError(Exception):
    """The error for an invalid filter; its message names the invalid term.

    `column` is the position of the error in the filter, in characters from 1. `word` is the invalid word, and `known`
    are the valid words. `fact` is the path of a fact that cannot be compared, because no probe provides it or because
    it is a collection. The caller adds to the message the valid word or fact path that is most similar to the invalid
    one.
    """

    def __init__(
        self, message: str, column: int, *, word: str = "", known: tuple[str, ...] = (), fact: str = ""
    ) -> None:
        super().__init__(message)
        self.column, self.word, self.known, self.fact = column, word, known, fact


def terms(text: str, kind_of: KindOf, keys: frozenset[str]) -> Iterator[Term]:
    """Parse the terms of a filter; raises FilterError for an invalid term, and for one whose key is not in `keys`."""
    if len(text) > LETTERS:
        raise FilterError(f"a filter has at most {LETTERS:,} characters; this one has {len(text):,}", LETTERS + 1)
    words = list(_words(text))
    if len(words) > TERMS:
        raise FilterError(f"a filter has at most {TERMS} terms; this one has {len(words)}", words[TERMS][1])
    for word, column in words:
        term = _term(word, column, kind_of)
        if term.body.key not in keys:
            there = ", ".join(f"{key}:" for key in WORDS if key in keys)
            raise FilterError(f"`{clean(word, 60)}`: the valid keys are {there} and text", column)
        yield term


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Split a filter at blanks outside quotes; yields each word with its column."""
    start, quote = -1, -1
    for at, letter in enumerate(text):
        if letter == '"':
            quote = at if quote < 0 else -1
        if letter.isspace() and quote < 0:
            if start >= 0:
                yield text[start:at], start + 1
            start = -1
        elif start < 0:
            start = at
    if quote >= 0:
        raise FilterError(f"`{clean(text[start:], 60)}`: the quote is not closed", quote + 1)
    if start >= 0:
        yield text[start:], start + 1


def _term(word: str, column: int, kind_of: KindOf) -> Term:
    body = word.removeprefix("!")
    if not body or body.startswith("!"):
        raise FilterError(f"`{clean(word, 60)}`: write one `!`, then the term to exclude", column)
    at = column + len(word) - len(body)
    return Term(_body(body, at, kind_of), word != body)


_MARK = regex(r'(?P<head>(?:"[^"]*"|[^":<>=!])*)(?P<mark><=|>=|==|!=|[:<>=!])')
_COMPARES = regex(r'(?P<path>(?:"[^"]*"|!(?!=)|[^"<>=!])*)(?P<op><=|>=|==|!=|[<>=])')
_QUOTED = regex(r'"[^"]*"\Z')


def _body(word: str, column: int, kind_of: KindOf) -> TermBody:
    if word.startswith("~"):
        return TextTerm(_values(word[1:], word, column, 1))
    mark = _MARK.match(word)
    if mark is not None and mark["mark"] == ":" and re.fullmatch("[A-Za-z_]+", mark["head"]):
        return _named(word, mark["head"], column)
    compares = _COMPARES.match(word)
    if compares is not None:
        return _compared(word, compares, column, kind_of)
    values = _values(word, word, column, 0)
    if word.startswith('"'):
        return TextTerm(values)
    if all(re.search(r"\[[0-9][0-9,-]*\]", value) for value in values):
        return _named(f"node:{word}", "node", column - len("node:"))
    if any(re.search(r"\w\[[0-9,-]*\Z", value) for value in values):
        raise FilterError(f"`{clean(word, 60)}`: the set is not closed; put text with a bracket in quotes", column)
    return Bare(values)


def _values(text: str, word: str, column: int, skipped: int) -> tuple[str, ...]:
    """Parse comma-separated values of a term; a value may be in quotes."""
    found, at = [], column + skipped
    for piece in pieces(text):
        if not piece or piece == '""':
            raise FilterError(f"`{clean(word, 60)}`: a word is missing", at)
        if piece.startswith('"') and not _QUOTED.match(piece):
            raise FilterError(f"`{clean(word, 60)}`: a value that begins with a quote must end with a quote", at)
        found.append(piece[1:-1] if piece.startswith('"') else piece)
        at += len(piece) + 1
    return tuple(found)


def _named(word: str, head: str, column: int) -> Named:
    key = head.casefold()
    if key not in WORDS:
        message = f"`{clean(word, 60)}`: no key `{clean(head, 30)}`; put text with a colon in quotes"
        known = (*WORDS, "state:waived") if key == "waived" else WORDS
        raise FilterError(message, column, word="state:waived" if key == "waived" else head, known=known)
    values = _values(word[len(head) + 1 :], word, column, len(head) + 1)
    at = column + len(head) + 1
    return Named(key, tuple(_value(key, value, word, at) for value in values))


def _value(key: str, value: str, word: str, column: int) -> str:
    """Check one value of a key in a filter, and return it; raises FilterError if the key does not accept the value."""
    shown = clean(word, 60)
    if key in TREES:
        return value
    closed = CLOSED.get(key)
    if closed is not None:
        value = value.casefold()
        if not any(operator.glob(value, each) for each in closed):
            message = f"`{shown}`: no {key} `{clean(value, 30)}`; there are {', '.join(closed)}"
            raise FilterError(message, column, word=value, known=closed)
        return value
    if key in NUMBERED and not re.fullmatch(r"[0-9]{1,9}|[0-9*?]*\[[0-9,-]+\]|[0-9*?]+", value):
        raise FilterError(f"`{shown}`: expected a number, or several as in `{key}:[1-3,7]`", column)
    try:
        unfolded(value)
    except ValueError as error:
        raise FilterError(f"`{shown}`: {error}", column) from None
    return value


def _compared(word: str, found: re.Match[str], column: int, kind_of: KindOf) -> ComparisonTerm:
    shown, op = clean(word, 60), "=" if found["op"] == "==" else found["op"]
    hint = "" if found["path"] else "; put text with such a character in quotes"
    try:
        path = paths.parse(found["path"])
    except BadPath as error:
        message = clean(str(error), 120) if found["path"] else f"`{op}` needs a fact before it"
        raise FilterError(f"`{shown}`: {message}{hint}", column) from None
    kind = kind_of(str(path))
    if kind is None:
        message = f"`{shown}`: no fact {clean(str(path), 80)}; put text with `{op}` in quotes"
        raise FilterError(message, column, fact=str(path))
    if kind.type is Type.COLLECTION:
        raise FilterError(
            f"`{shown}`: {path} is a collection; compare a fact of its items instead", column, fact=str(path)
        )
    at = column + found.end()
    values = tuple(_meant(value, kind) for value in _values(word[found.end() :], word, column, found.end()))
    if op in ORDERS and len(values) > 1:
        raise FilterError(f"`{shown}`: `{op}` takes one value", at)
    if op in ORDERS and not kind.ordered:
        raise FilterError(f"`{shown}`: `{op}` needs an order, and a fact of type {kind} has none", at)
    try:
        tests = tuple(_test(op, value, kind) for value in values)
    except BadOperand as error:
        raise FilterError(f"`{shown}`: {clean(str(error), 200)}", at) from None
    return ComparisonTerm(path, op, values, tests, kind)


def _meant(value: str, kind: Kind) -> str:
    """Return a value of a comparison, with the fact's unit appended if the value is a number without a unit."""
    if kind.type is not Type.QUANTITY:
        return value
    close = "".join(value.split())
    return f"{close}{kind.unit}" if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", close) else close


def _test(op: str, value: str, kind: Kind) -> Test:
    if kind.type is Type.LIST:
        return Test("like", value)
    if op in ORDERS:
        found = operator.value(value, kind)
        operator.orderable(value, kind)
        return Test(ORDERS[op], found)
    if kind.type in {Type.TEXT, Type.VERSION, Type.SETTING} and ("*" in value or "?" in value):
        return Test("like", value)
    return Test("is", operator.value(value, kind))
