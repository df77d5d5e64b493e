"""Computes the majority values of the other nodes of a role, to compare one node with its peers. Pure.

As in consensus rules, the total for a majority includes nodes without a value. The majority value is the value that
more than half of the role's nodes and at least three nodes report. For measurements and counters, the median of the
known values is used instead of a majority value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rackcheck.evaluate.consensus import FEWEST, most, needed
from rackcheck.model.change import STEADY, Change, ComparedFacts, Doc, compare
from rackcheck.model.fact import VOLATILE, Class, Unknown
from rackcheck.run.event import reading_json

PeerGroup = tuple[ComparedFacts, int]
"""Facts, and the number of nodes that have exactly these facts."""


@dataclass(frozen=True)
class PeerMajority:
    """The majority values of `nodes` peers; `decided` contains the paths of the facts on which enough nodes agree.

    `needed` is the number of nodes that must agree, and `split` is the number of facts on which too few nodes agree.
    """

    facts: ComparedFacts
    decided: frozenset[str]
    nodes: int
    needed: int
    split: int

    @property
    def enough(self) -> bool:
        """Whether there are enough nodes for a majority."""
        return self.nodes >= self.needed

    def speaks_of(self, change: Change) -> bool:
        """Whether a difference counts: enough peers agree on the fact, or a plane returned nothing."""
        return change.path in self.decided or change.under.startswith("plane/")


def peers(
    mine: ComparedFacts, others: Sequence[ComparedFacts], expected: int, classes: Iterable[Class] = STEADY
) -> PeerMajority:
    """Return the majority values of the other nodes of a role; the role has `expected` nodes, including this node.

    Absent counts as a value; an item that a node does not list is absent on that node.
    """
    enough = needed(expected)
    groups = _groups(others)
    found: dict[Class, dict[str, Doc]] = {cls: {} for cls in Class}
    decided: set[str] = set()
    split = 0
    # Listings of items, and silent planes, are config: without them a missing fact cannot be explained.
    for cls in dict.fromkeys((Class.CONFIG, *classes)) if len(others) >= enough else ():
        every = dict.fromkeys((*mine.get(cls, {}), *(path for facts, _ in groups for path in facts.get(cls, {}))))
        missing = _missing(every, cls, mine, groups)
        for path in every:
            doc = _middle(path, groups, cls) if cls in VOLATILE else _most(path, cls, groups, missing, expected)
            if doc is None:
                split += 1
                continue
            decided.add(path)
            if "under" not in doc or str(doc["under"]) not in found[Class.CONFIG]:
                found[cls][path] = {key: value for key, value in doc.items() if key != "under"}
    return PeerMajority(found, frozenset(decided), len(others), enough, split)


def _groups(others: Iterable[ComparedFacts]) -> list[PeerGroup]:
    """Group nodes whose facts are the same Python objects; identical facts of a run are loaded only once."""
    found: dict[tuple[tuple[Class, int], ...], PeerGroup] = {}
    for facts in others:
        key = tuple((cls, id(docs)) for cls, docs in facts.items())
        found[key] = facts, found[key][1] + 1 if key in found else 1
    return list(found.values())


def _missing(
    every: Mapping[str, None], cls: Class, mine: ComparedFacts, groups: Sequence[PeerGroup]
) -> list[dict[str, tuple[Any, str]]]:
    """Return for each group of nodes the fact paths that the group does not contain.

    For each of the paths, the result contains the fact's value (absent or unknown), and the path of the plane, item or
    collection because of which the fact is missing.
    """
    whole = {**{p: d for f, _ in groups for p, d in f.get(cls, {}).items()}, **mine.get(cls, {})}
    found = []
    for facts, _ in groups:
        held = facts.get(cls, {})
        # A value that no node has is compared with the group: each change then contains the group's reading.
        asked = {p: {"value": "\0", "plane": whole[p].get("plane", "")} for p in every if p not in held}
        changes = compare({cls: asked}, _but(facts, cls), (cls,)) if asked else ()
        found.append({c.path: (c.after, c.under) for c in changes if c.path in asked})
    return found


def _but(facts: ComparedFacts, cls: Class) -> ComparedFacts:
    """Return only the facts of the class `config`: their lists of items explain why other facts are missing."""
    return {Class.CONFIG: facts.get(Class.CONFIG, {})} if cls is not Class.CONFIG else {cls: facts.get(cls, {})}


def _most(
    path: str, cls: Class, groups: Sequence[PeerGroup], missing: Sequence[Mapping[str, tuple[Any, str]]], expected: int
) -> Doc | None:
    counts: dict[tuple[str, ...], int] = {}
    docs: dict[tuple[str, ...], Doc] = {}
    for (facts, many), gone in zip(groups, missing, strict=True):
        doc = facts.get(cls, {}).get(path) or _gone(gone.get(path))
        if doc is not None and "unknown" not in doc:
            key = ("absent",) if "absent" in doc else (repr(doc.get("value")), str(doc.get("unit", "")))
            counts[key] = counts.get(key, 0) + many
            docs.setdefault(key, doc)
    prevailing = most(counts, expected)
    return None if prevailing is None else docs[prevailing]


def _gone(rows: tuple[Any, str] | None) -> Doc | None:
    if rows is None or isinstance(rows[0], Unknown):
        return None
    under = rows[1].rpartition("/")[0] if rows[1] else ""
    return reading_json(rows[0]) | ({"under": under} if under else {})


def _middle(path: str, groups: Sequence[PeerGroup], cls: Class) -> Doc | None:
    """Return the median of the numbers that nodes report.

    Returns None if there are fewer than three numbers, or several units.
    """
    docs = [(doc, many) for facts, many in groups if (doc := facts.get(cls, {}).get(path)) is not None]
    units = {str(doc.get("unit", "")) for doc, _ in docs if "value" in doc}
    numbers = [number for doc, many in docs for number in _numbers(doc) for _ in range(many)]
    if len(units) != 1 or len(numbers) < FEWEST:
        return None
    like = docs[0][0]
    return {**{key: like[key] for key in ("unit", "plane") if key in like}, "value": median(numbers)}


def _numbers(doc: Doc) -> Iterator[float]:
    value = doc.get("value")
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value
