"""Fingerprints of a node's facts by plane and class: the SHA-256 of their canonical JSON. Pure.

Nodes of a rack differ in few facts, so what most of them share is encoded and sorted once.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import VOLATILE, Class, Plane, Unknown
from rackcheck.model.tree import Leaf, Tree, not_shared
from rackcheck.run.event import reading_json

LEAVES = 200_000
"""Maximum number of leaves whose JSON is kept; a node has about 23,000, and nodes share most of them."""

MACHINES = 8
"""Maximum number of nodes with which later nodes are compared."""

Key = tuple[Plane, Class]
"""The facts of one fingerprint."""


@dataclass(frozen=True, slots=True)
class Print:
    """The fingerprint of a node's facts of one class on one plane: SHA-256, number of facts, number of unknowns."""

    digest: str
    facts: int
    unknown: int


class Fingerprints:
    """Makes the fingerprints of nodes, without counters and other volatile facts."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], tuple[Leaf, str]] = {}
        self._known: list[_Printed] = []

    def of(self, tree: Tree) -> Mapping[Key, Print]:
        """Return the fingerprints of a node's facts by plane and class."""
        for known in reversed(self._known):
            found = self._compared(tree, known)
            if found is not None:
                return found
        groups = self._groups(tree)
        prints = {key: group.printed() for key, group in groups.items()}
        self._known.append(_Printed(tree, groups, prints))
        del self._known[:-MACHINES]
        return prints

    def _groups(self, tree: Tree) -> dict[Key, "_Group"]:
        entries: dict[Key, dict[str, str]] = {}
        unknown: dict[Key, int] = {}
        for path, leaf in tree.leaves.items():
            key = _key(leaf)
            if key is not None:
                entries.setdefault(key, {})[path] = self._json(path, leaf)
                unknown[key] = unknown.get(key, 0) + isinstance(leaf.reading, Unknown)
        for plane, why in tree.silent.items():  # a silent plane differs from one that was not requested
            key = (plane, Class.CONFIG)
            entries.setdefault(key, {})[""] = _entry("", {"unknown": why.reason.value})
            unknown[key] = unknown.get(key, 0) + 1
        return {key: _group(mine, unknown[key]) for key, mine in entries.items()}

    def _compared(self, tree: Tree, known: "_Printed") -> Mapping[Key, Print] | None:
        """Return the fingerprints from those of a node with the same paths and silent planes; None if it is another."""
        leaves, base = tree.leaves, known.tree.leaves
        if leaves.keys() != base.keys() or _reasons(tree) != _reasons(known.tree):
            return None
        changed: dict[Key, list[str]] = {}
        for path in not_shared(leaves, base):
            key = _key(leaves[path])
            if key != _key(base[path]):
                return None
            if key is not None:
                changed.setdefault(key, []).append(path)
        prints = dict(known.prints)
        for key, paths in changed.items():
            group = known.groups[key]
            entries, unknown = [*group.entries], group.unknown
            for path in paths:
                entries[group.places[path]] = self._json(path, leaves[path])
                unknown += isinstance(leaves[path].reading, Unknown) - isinstance(base[path].reading, Unknown)
            prints[key] = _Group(entries, group.places, unknown).printed()
        return prints

    def _json(self, path: str, leaf: Leaf) -> str:
        made = self._made.get((path, id(leaf)))
        if made is None:
            if len(self._made) >= LEAVES:
                self._made.clear()
            # The leaf is kept with its JSON, so that no other leaf gets its id.
            made = self._made[path, id(leaf)] = (leaf, _entry(path, _stable_value(leaf)))
        return made[1]


@dataclass(frozen=True, slots=True)
class _Group:
    """The facts of one fingerprint: the JSON of each, sorted by path, and the position of each path."""

    entries: Sequence[str]
    places: Mapping[str, int]
    unknown: int

    def printed(self) -> Print:
        """Return the fingerprint: the digest of an object of these facts as canonical JSON."""
        text = f"{{{','.join(self.entries)}}}"
        return Print(hashlib.sha256(text.encode()).hexdigest(), len(self.entries), self.unknown)


@dataclass(frozen=True, slots=True)
class _Printed:
    """A node with its fingerprints, and the facts of each."""

    tree: Tree
    groups: Mapping[Key, _Group]
    prints: Mapping[Key, Print]


def _group(entries: Mapping[str, str], unknown: int) -> _Group:
    order = sorted(entries)
    return _Group([entries[path] for path in order], {path: at for at, path in enumerate(order)}, unknown)


def _key(leaf: Leaf) -> Key | None:
    """Return the fingerprint to which a fact belongs; None for a fact that changes with every reading."""
    return None if leaf.kind.cls in VOLATILE else (leaf.plane, leaf.kind.cls)


def _reasons(tree: Tree) -> Mapping[Plane, str]:
    return {plane: why.reason.value for plane, why in tree.silent.items()}


def _entry(path: str, doc: object) -> str:
    """Return an entry of an object as canonical JSON."""
    return _canonical({path: doc})[1:-1]


def _stable_value(leaf: Leaf) -> object:
    """Return a fact's value and unit, without source, time and error details, which differ between readings."""
    doc = reading_json(leaf.reading)
    doc.pop("detail", None)
    return {**doc, "unit": leaf.kind.unit} if leaf.kind.unit else doc


def canonical(doc: object) -> bytes:
    """Serialize a document as canonical JSON: sorted keys, no blanks, ASCII only."""
    return _canonical(doc).encode()


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode
