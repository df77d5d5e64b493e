"""Expands the patterns of machine folders: one key or list item with brackets stands for several keys or items.

A dictionary key with a bracket such as `[0-223]`, `[00-15]` or `[1b,43,52]` is expanded to one key for each member. A
key with several brackets is expanded to one key for each combination of their members. The placeholder `@{1}` is
replaced by the member of the first bracket. A bracket may have columns, such as `[0-2|1b,43,52]`: the key contains the
member of the first column, and `@{1.2}` is replaced by the member of the second column. The
placeholders of a node, such as `@{n}`, are replaced later.
"""

import re
from collections.abc import Mapping
from itertools import product

MOST = 10_000
"""Maximum number of members of one pattern."""

Stood = tuple[tuple[str, ...], ...]
"""The chosen member of each bracket, those of enclosing patterns first; a member has one text for each column."""

_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_PLACE = re.compile(r"@\{([^{}]*)\}")
_OF_NODE = ("node", "n", "n3", "net", "host", "x4", "octets")


class BadPattern(Exception):
    """An invalid pattern or placeholder; the message contains the reason."""


def expanded(pattern: str, outer: Stood = ()) -> list[tuple[str, Stood]]:
    """Return every text that a pattern expands to, with the members of its brackets.

    `outer` has the member that was chosen for each bracket of the enclosing pattern. Brackets are numbered in sequence:
    first the brackets of the enclosing pattern, then the pattern's own. Raises BadPattern if the pattern is invalid or
    has too many members.
    """
    parts = _BRACKET.split(pattern)
    brackets = [_members(inside) for inside in parts[1::2]]
    count = 1
    for bracket in brackets:
        count *= len(bracket)
    if count > MOST:
        raise BadPattern(f"`{pattern}` has {count} members; the maximum is {MOST}")
    found = []
    for members in product(*brackets):
        stood = (*outer, *members)
        text = "".join(a + b for a, b in zip(parts[::2], (*(m[0] for m in members), ""), strict=True))
        found.append((filled(text, stood), stood))
    return found


def _members(inside: str) -> list[tuple[str, ...]]:
    """Return the members of one bracket; a member has one text for each column."""
    columns = [[item for part in column.split(",") for item in _run(part.strip())] for column in inside.split("|")]
    if any(len(column) != len(columns[0]) for column in columns):
        raise BadPattern(
            f"the columns of [{inside}] have different numbers of members: {', '.join(str(len(c)) for c in columns)}"
        )
    return list(zip(*columns, strict=True))


def _run(part: str) -> list[str]:
    if not part:
        raise BadPattern("a bracket has an empty member")
    match = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", part)
    if match is None:
        return [part]
    first, last = int(match[1]), int(match[2])
    if last < first:
        raise BadPattern(f"[{part}] runs backwards")
    if last - first >= MOST:
        raise BadPattern(f"[{part}] has {last - first + 1} members; the maximum is {MOST}")
    return [str(number).zfill(len(match[1])) for number in range(first, last + 1)]


def filled(text: str, stood: Stood) -> str:
    """Replace placeholders such as `@{1}` and `@{1.2}` by members of brackets, but keep placeholders such as `@{node}`.

    Raises BadPattern if a placeholder is unknown, or refers to a bracket or a column that the pattern does not have.
    """
    if "@{" not in text:
        return text

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name in _OF_NODE:
            return match[0]
        numbers = re.fullmatch(r"([1-9])(?:\.([1-9]))?", name)
        if numbers is None:
            raise BadPattern(
                f"`{match[0]}` is not one of {', '.join(f'@{{{each}}}' for each in (*_OF_NODE, '1', '1.2'))}"
            )
        bracket, column = int(numbers[1]), int(numbers[2] or 1)
        if bracket > len(stood):
            raise BadPattern(f"`{match[0]}`, but there are {len(stood)} brackets")
        if column > len(stood[bracket - 1]):
            raise BadPattern(f"`{match[0]}`, but that bracket has {len(stood[bracket - 1])} columns")
        return stood[bracket - 1][column - 1]

    return _PLACE.sub(fill, text)


def of_node(text: str, names: Mapping[str, str]) -> str:
    """Replace the placeholders of a node, such as `@{node}` and `@{n}`, by the values of one node."""
    return _PLACE.sub(lambda match: names.get(match[1], match[0]), text) if "@{" in text else text
