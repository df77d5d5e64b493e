"""Reads the facts of nodes from a run's events, as parts by class.

The events are those of `run/stored_facts`, or of an earlier version: all facts of a node, with their source and time.
"""

import hashlib
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from rackcheck.model import path as paths
from rackcheck.model.change import Doc, reading
from rackcheck.model.fact import Class, Plane
from rackcheck.probe.group import is_group
from rackcheck.run import stored_forms
from rackcheck.run.index.parts import IndexPart, Patched, Whole, canonical
from rackcheck.run.stored_facts import BASES

FACTS = 200_000
"""Maximum number of facts of a node."""

KEPT = ("value", "absent", "unknown", "detail", "unit", "plane")
"""The fields of a fact that a part contains; source and time are left out, because they differ from run to run."""

ByClass = Mapping[Class, Whole]


class FactsReader:
    """Reads the events `facts` of one run in their order; nodes with the same facts of a class share the part."""

    def __init__(self, classes: tuple[Class, ...]) -> None:
        self._classes = classes
        self._bases: dict[str, tuple[int, ByClass]] = {}
        self._shared: WeakValueDictionary[tuple[int, Class, bytes], IndexPart] = WeakValueDictionary()

    def parts(self, doc: Mapping[str, Any], planes: Mapping[str, Doc]) -> dict[Class, IndexPart]:
        """Return a node's facts by class; `planes`, one fact for each of its planes, are among those of class config.

        Raises TypeError, KeyError or ValueError if a fact is invalid, or if no earlier event has the node from which
        the facts differ.
        """
        whole = "like" not in doc
        changed = _by_class(doc["facts" if whole else "set"])
        gone = [] if whole else stored_forms.words_of(doc, "gone")
        number, base = (0, EMPTY) if whole else self._bases[stored_forms.word(doc, "like")]
        node = stored_forms.word(doc, "node")
        if whole and len(self._bases) < BASES and not is_group(node):
            self._bases.setdefault(node, (1 + len(self._bases), changed))
        less = {*gone, *(path for docs in changed.values() for path in docs)}
        mine = {**changed, Class.CONFIG: {**changed[Class.CONFIG], **planes}}
        return {cls: self._part(number, cls, base[cls], mine[cls], less) for cls in self._classes}

    def _part(self, number: int, cls: Class, base: Whole, changed: dict[str, Doc], gone: set[str]) -> IndexPart:
        less = sorted(path for path in gone if path in base and path not in changed)
        key = number, cls, hashlib.sha256(canonical([changed, less])).digest()
        part = self._shared.get(key)
        if part is None:
            docs = Patched(base, changed, frozenset(less)) if number else changed
            if len(docs) > FACTS:
                raise ValueError("too many facts")
            part = self._shared[key] = IndexPart(docs)
        return part


EMPTY: ByClass = {cls: Whole() for cls in Class}


def _by_class(facts: Any) -> ByClass:
    """Group facts by class; raises TypeError, KeyError or ValueError if a fact is invalid."""
    if not isinstance(facts, dict) or len(facts) > FACTS:
        raise TypeError("the facts are not a JSON object, or there are too many")
    found = {cls: Whole() for cls in Class}
    for path, fact in facts.items():
        paths.parse(path)
        reading(fact)
        stored_forms.word(fact, "unit", "")
        Plane(fact["plane"])
        found[Class(fact["class"])][path] = {key: fact[key] for key in KEPT if key in fact}
    return found
