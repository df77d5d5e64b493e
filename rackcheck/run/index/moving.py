"""Formats moved parts: one line per part, or one line for several parts that were only renumbered."""

from collections.abc import Iterable, Iterator
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.part_moves import Moved, PartPlace
from rackcheck.model.text import natural

LETTERS = 120
"""Maximum number of characters of a part's identity in a line."""


def lines(moves: Iterable[Moved]) -> Iterator[str]:
    """Yield the lines for moved parts; parts that were renumbered in the same way share one line, also across nodes."""
    shifted: dict[tuple[str, str, int], list[Moved]] = {}
    single: list[Moved] = []
    for one in moves:
        shift = _shift(one)
        if shift is None:
            single.append(one)
        else:
            shifted.setdefault((one.was[0], *shift), []).append(one)
    alike: dict[tuple[str, int, str, str], list[str]] = {}
    for (node, collection, _), some in shifted.items():
        if len(some) == 1:
            single += some
            continue
        was, now = (fold(place[1] for place in ends) for ends in zip(*((m.was, m.now) for m in some), strict=True))
        alike.setdefault((collection, len(some), was, now), []).append(node)
    for (collection, count, was, now), nodes in alike.items():
        each = "each of " if len(nodes) > 1 else ""
        yield f"{count} {_word(collection)} renumbered on {each}{fold(nodes)}: {was} -> {now}"
    for one in sorted(single, key=lambda m: [natural(word) for end in (m.was, m.now) for word in end]):
        yield _moved_text(one)


def _shift(one: Moved) -> tuple[str, int] | None:
    """Return a part's collection and the change of its number; None if the part left its node or has no number."""
    if one.was[0] != one.now[0]:
        return None
    was, now = _numbered(one.was), _numbered(one.now)
    return (was[0], now[1] - was[1]) if was and now and was[0] == now[0] else None


def _numbered(place: PartPlace) -> tuple[str, int] | None:
    parsed = paths.parse(place[1])
    key = parsed.segments[-1].key
    if key is None or len(key) > 9 or not (key.isascii() and key.isdecimal()):
        return None
    return parsed.items[-1][0], int(key)


def _moved_text(one: Moved) -> str:
    (node, was), (other, now) = one.was, one.now
    end = now if node == other else f"{other} {now}"
    return f"{_word(was)} {clean(one.ids[0][1], LETTERS)} moved: {node} {was} -> {end}"


def _word(item: str) -> str:
    return paths.parse(item).segments[-1].word


def doc(one: Moved) -> dict[str, Any]:
    """Return a moved part as a JSON document."""
    was, now = ({"node": node, "item": item} for node, item in (one.was, one.now))
    return {"part": _word(one.was[1]), "names": dict(one.ids), "before": was, "after": now}
