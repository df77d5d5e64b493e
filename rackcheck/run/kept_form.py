"""The form of a node's facts on disk: columns, with a table for each column whose values repeat.

The facts of a node are stored in full, or as what differs from the facts of another node, its base: nodes of a rack
differ in few facts. Facts that are equal to those of the base are the same objects after reading.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import filterfalse
from operator import eq
from typing import Any

from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown, same_reading
from rackcheck.model.tree import Leaf, Tree, not_shared


@dataclass(frozen=True, slots=True)
class Difference:
    """What must be changed in the facts of a base to get those of a node.

    `new` are the positions of the facts that the base lacks, in the order of the node's facts.
    """

    changed: Sequence[str]
    gone: Sequence[str]
    new: Sequence[int]


def difference(base: Tree, tree: Tree) -> Difference | None:
    """Return how the facts of a tree differ from those of a base.

    Return None if more than half of them do, or if the facts that both have are in different orders.
    """
    known, leaves = base.leaves, tree.leaves
    changed = [path for path in not_shared(leaves, known) if not _same(known.get(path), leaves[path])]
    if list(known) == list(leaves):
        return None if 2 * len(changed) > len(leaves) else Difference(changed, (), ())
    gone = [*filterfalse(leaves.__contains__, known)]
    if 2 * (len(changed) + len(gone)) > len(leaves):
        return None
    if not all(map(eq, filter(leaves.__contains__, known), filter(known.__contains__, leaves))):
        return None
    return Difference(changed, gone, [at for at, path in enumerate(leaves) if path not in known])


def _same(one: Leaf | None, other: Leaf) -> bool:
    """Whether two facts are the same to every reader."""
    if one is other:
        return True
    if one is None or one.source != other.source or one.plane is not other.plane:
        return False
    return (one.kind is other.kind or one.kind == other.kind) and same_reading(one.reading, other.reading)


def form(tree: Tree, base: Tree | None, change: Difference | None) -> dict[str, Any]:
    """Return the JSON form of a tree: in full, or without the facts and items that are equal to those of its base."""
    kinds: dict[Kind, int] = {}
    forms: dict[Hashable, int] = {}
    sources: dict[str, int] = {}
    rows: tuple[list[str], list[int], list[int], list[Any]] = ([], [], [], [])
    for path in tree.leaves if change is None else change.changed:
        leaf = tree.leaves[path]
        kind = kinds.setdefault(leaf.kind, len(kinds))
        rows[0].append(path)
        rows[1].append(forms.setdefault((kind, leaf.plane.value), len(forms)))
        rows[2].append(sources.setdefault(leaf.source, len(sources)))
        rows[3].append(_reading_form(leaf.reading))
    known = {} if base is None else base.items
    return {
        "kinds": [[getattr(kind, name) for name in _KIND] for kind in kinds],
        "forms": list(forms),
        "sources": list(sources),
        "rows": rows,
        "gone": [] if change is None else list(change.gone),
        "new": [] if change is None else list(change.new),
        "items": {
            name: list(keys)
            for name, keys in tree.items.items()
            if name not in known or list(known[name]) != list(keys)
        },
        "emptied": [name for name in known if name not in tree.items],
        "silent": {plane.value: reason_form(why) for plane, why in tree.silent.items()},
        "times": {plane.value: time for plane, time in tree.times.items()},
    }


def restored(doc: Mapping[str, Any], base: Tree | None) -> Tree:
    """Return the tree of a JSON form; raises KeyError, TypeError, ValueError or IndexError if the form is damaged."""
    kinds = [_kind(*map(_hashable, parts)) for parts in doc["kinds"]]
    forms = [(kinds[kind], Plane(plane)) for kind, plane in doc["forms"]]
    sources, readings = doc["sources"], _Readings()
    leaves = {} if base is None else dict(base.leaves)
    for path in doc["gone"]:
        del leaves[path]
    paths, numbers, places, values = doc["rows"]
    for path, number, place, value in zip(paths, numbers, places, values, strict=True):
        reading = readings.reading(value) if value.__class__ in {list, dict} else value
        kind, plane = forms[number]
        leaves[path] = Leaf(reading, kind, plane, sources[place])
    if doc["new"]:
        leaves = _ordered(leaves, doc["new"])
    items: dict[str, dict[str, None]] = {} if base is None else dict(base.items)
    items |= {collection: dict.fromkeys(keys) for collection, keys in doc["items"].items()}
    for name in doc["emptied"]:
        del items[name]
    silent = {Plane(plane): unknown(*why) for plane, why in doc["silent"].items()}
    return Tree.listed(leaves, silent, items, {Plane(plane): str(time) for plane, time in doc["times"].items()})


def sharing(base: Tree, tree: Tree) -> Tree:
    """Return a tree with the objects of a base for those facts that are the same in both."""
    known = base.leaves
    leaves = {path: known[path] if _same(known.get(path), leaf) else leaf for path, leaf in tree.leaves.items()}
    return Tree.listed(leaves, tree.silent, tree.items, tree.times, tree.failed)


def _ordered(leaves: Mapping[str, Leaf], places: Sequence[int]) -> dict[str, Leaf]:
    """Return leaves of which the last have been moved to these positions, which are in ascending order."""
    order = list(leaves)
    first = len(order) - len(places)
    last = order[first:]
    del order[first:]
    for place, path in zip(places, last, strict=True):
        order.insert(place, path)
    return {path: leaves[path] for path in order}


def reason_form(why: Unknown) -> tuple[str, str]:
    """Return the JSON form of a reason."""
    return why.reason.value, why.detail


def unknown(reason: str, detail: str) -> Unknown:
    """Return the reason of a JSON form; raises ValueError if there is no such reason."""
    return Unknown(Reason(reason), detail)


def _reading_form(reading: Reading) -> Any:
    if isinstance(reading, Unknown):
        return {"unknown": reason_form(reading)}
    return {"absent": reading.detail} if isinstance(reading, Absent) else reading


class _Readings:
    """Makes readings that are no JSON values; equal ones, of which a node has thousands, are one object."""

    def __init__(self) -> None:
        self._made: dict[str, Absent | Unknown] = {}

    def reading(self, form: Any) -> Reading:
        if isinstance(form, list):
            return tuple(form)
        text = str(form)
        found = self._made.get(text)
        if found is None:
            found = self._made[text] = Absent(form["absent"]) if "absent" in form else unknown(*form["unknown"])
        return found


_KIND = tuple(each.name for each in fields(Kind))


def _hashable(part: Any) -> Any:
    return tuple(part) if isinstance(part, list) else part


@lru_cache(maxsize=8192, typed=True)
def _kind(*parts: Any) -> Kind:
    named = dict(zip(_KIND, parts, strict=True))
    return Kind(**named | {"type": Type(named["type"]), "cls": Class(named["cls"])})
