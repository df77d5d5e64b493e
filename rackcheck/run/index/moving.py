"""Formats moved parts: one line per part, or one line for several parts that were only renumbered."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.change import plane_order, same_id
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.part_moves import Moved, PartPlace
from rackcheck.model.text import natural

MACHINE = "node"
"""The item whose serial number is that of the whole machine, as the operating system reports it."""

LETTERS = 120
"""Maximum number of characters of a part's identity in a line."""


def lines(moves: Iterable[Moved]) -> Iterator[str]:
    """Yield the lines for moved parts.

    A machine with another name is one line with the parts that are where they were. Parts that were renumbered in the
    same way share one line, also across nodes. A part that several facts identify is one line.
    """
    moves = list(moves)
    renamed = {(one.was[0], one.now[0]) for one in moves if one.was[1] == one.now[1] == MACHINE}
    for was, now in sorted(renamed, key=lambda pair: [natural(name) for name in pair]):
        along = [one for one in moves if (one.was[0], one.now[0]) == (was, now) and one.was[1] == one.now[1]]
        moves = [one for one in moves if one not in along]
        serial = next(one.ids[0][1] for one in along if one.was[1] == MACHINE)
        count = len({_part(one) for one in along}) - 1
        yield f"{now} is the machine that was {was} ({clean(serial, LETTERS)}), with {count} parts in their places"
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
    alone: dict[tuple[str, ...], list[Moved]] = {}
    for one in single:
        alone.setdefault(_part(one), []).append(one)
    for some in sorted(
        alone.values(), key=lambda some: [natural(end) for end in (*_first(some).was, *_first(some).now)]
    ):
        yield _moved_text(some)


def _part(one: Moved) -> tuple[str, ...]:
    """Return what identifies a part that moved: its preferred identifier and the two nodes."""
    return same_id(one.ids[0][1]), one.was[0], one.now[0]


def _first(some: Sequence[Moved]) -> Moved:
    return min(some, key=lambda one: plane_order(one.was[1]))


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


def _moved_text(some: Sequence[Moved]) -> str:
    """Format one part; `some` are its moves, one for each fact that identifies it."""
    first = _first(some)
    (node, was), (other, now) = first.was, first.now
    end = now if node == other else f"{other} {now}"
    rest = sorted({one.was[1] for one in some} - {was}, key=plane_order)
    also = f", with {', '.join(rest)}" if rest else ""
    return f"{_word(was)} {clean(first.ids[0][1], LETTERS)} moved: {node} {was} -> {end}{also}"


def _word(item: str) -> str:
    return paths.parse(item).segments[-1].word


def doc(one: Moved) -> dict[str, Any]:
    """Return a moved part as a JSON document."""
    was, now = ({"node": node, "item": item} for node, item in (one.was, one.now))
    return {"part": _word(one.was[1]), "names": dict(one.ids), "before": was, "after": now}
