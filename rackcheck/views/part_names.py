"""The parts that the findings of a run are about: parts that deviate, and parts that a count shows to be missing. Pure.

A part that is missing on a node is known from the other plane of the node, which still lists it, and from a node of the
same role that has all of its parts: it has the items that the node lacks, and shows their slot and PCI address.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rackcheck.evaluate.selection import chosen_items
from rackcheck.evaluate.verdict import Evidence, Status, Verdict
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.part_index import ADDRESSED, WORDS, Part, PartIndex
from rackcheck.model.path import BadPath, Path
from rackcheck.model.profile import Rule, RuleSelection
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree
from rackcheck.probe.group import is_group
from rackcheck.probe.registry import registry
from rackcheck.run.event import Event, FactsRead, Foreseen, Judged

BAD = frozenset({Status.FAIL, Status.WARN, Status.UNKNOWN})
"""Verdicts whose parts are named."""

MOST = 16
"""Maximum number of parts that are named for one finding on one node."""

NUMBERED = frozenset({"burnin.gpu", "gpu.amd", "nic", "nvme", "storage.device"})
"""Collections whose keys number the parts in the order of detection: without `nvme2`, `nvme3` is `nvme2`."""

SHORT = 256
"""Maximum number of nodes of which the facts are kept because parts are missing."""


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part that a finding is about; `missing` if the node lacks it, at least on one plane.

    `beside` are the serial numbers of the node's other parts of this kind. `earlier` is the serial number that the
    missing part had in an earlier run of the node, and the run. `on_bmc` is true if only the BMC lacks the part.
    """

    part: Part
    missing: bool = False
    beside: frozenset[str] = frozenset()
    earlier: tuple[str, str] = ("", "")
    on_bmc: bool = False

    def __str__(self) -> str:
        if not self.missing:
            return str(self.part)
        if self.on_bmc:
            return f"{self.part} is not listed by the BMC"
        serial, run = self.earlier
        return f"{self.part} is missing" + (f"; its serial number was {serial} in run {run}" if serial else "")

    def same(self, other: "NamedPart") -> bool:
        """Whether two findings name the same part: they have an item in common."""
        return not set(self.part.items).isdisjoint(other.part.items)


Named = Mapping[str, Mapping[str, tuple[NamedPart, ...]]]
"""The parts of findings by node and rule."""


class PartNames:
    """Finds the parts of findings while the events of a run arrive; the order of the nodes makes no difference."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._node, self._tree = "", Tree({})
        self._named: dict[str, Mapping[str, tuple[NamedPart, ...]]] = {}
        self._short: dict[str, tuple[Judged, Tree]] = {}
        self._whole: dict[str, tuple[str, Mapping[str, tuple[NamedPart, ...]]]] = {}
        self._peers: dict[str, tuple[str, Tree]] = {}

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of a run unchanged, and take each."""
        for event in events:
            self.take(event)
            yield event

    def take(self, event: Event) -> None:
        """Take the next event of the run: the facts of a node come directly before its verdicts."""
        match event:
            case FactsRead(node, tree) if not is_group(node):
                self._node, self._tree = node, tree
            case Foreseen(judged):
                self._judged(judged)
            case Judged() if event.node == self._node:
                self._judged(event)

    def found(self) -> Named:
        """Return the parts of all findings so far, by node and rule; findings that are about no part are left out."""
        found = dict(self._named)
        for node, (judged, tree) in self._short.items():
            name, peer = self._peers.get(judged.role, ("", None))
            known = self._whole.get(node)
            if known is None or known[0] != name:  # a node with all parts may be known by now, or another one
                known = self._whole[node] = name, self._completed(judged, tree, peer)
            found[node] = known[1]
        return {node: dict(rules) for node, rules in found.items() if rules}

    def _judged(self, judged: Judged) -> None:
        bad = self._bad(judged)
        index = PartIndex(self._tree) if bad else None
        found: dict[str, tuple[NamedPart, ...]] = {}
        self._named[judged.node] = found
        self._short.pop(judged.node, None)
        self._whole.pop(judged.node, None)
        short = False
        for verdict in bad:
            rule = self._rules[verdict.rule]
            assert index is not None
            if _is_short(rule, verdict):
                short = True
            elif parts := _surplus(index, rule) or _deviating(index, verdict) or _unlisted(index, verdict):
                found[verdict.rule] = parts
        if short:
            self._short[judged.node] = judged, self._tree
            if len(self._short) > SHORT:  # the same nodes for any order of replies
                del self._short[max(self._short, key=natural)]
        else:
            peer = self._peers.get(judged.role)
            if peer is None or natural(judged.node) < natural(peer[0]):
                self._peers[judged.role] = judged.node, self._tree
        self._node, self._tree = "", Tree({})

    def _bad(self, judged: Judged) -> list[Verdict]:
        """Return the verdicts whose parts are named; an unknown verdict that its rule excuses has no row of its own."""
        mine = [verdict for verdict in judged.verdicts if verdict.status in BAD and verdict.rule in self._rules]
        return [
            v
            for v in mine
            if any(map(_names_item, v.evidence)) and not self._rules[v.rule].excuses(v.status, v.evidence)
        ]

    def _completed(self, judged: Judged, tree: Tree, other: Tree | None) -> Mapping[str, tuple[NamedPart, ...]]:
        """Name the missing parts of a node, and what follows from them; `other` is a node that has all parts."""
        index = PartIndex(tree)
        peer = PartIndex(other) if other is not None else None
        found = dict(self._named[judged.node])
        bad = self._bad(judged)
        for verdict in bad:
            rule = self._rules[verdict.rule]
            if _is_short(rule, verdict):
                parts = tuple(_missing(index, peer, rule)) or _deviating(index, verdict)
                if parts:
                    found[verdict.rule] = parts
        gone = _distinct(each for parts in found.values() for each in parts if each.missing)
        for name, parts in found.items():
            found[name] = _distinct(next((each for each in gone if each.same(part)), part) for part in parts)
        for verdict in bad:
            lacking = tuple(each for each in gone if _follows(verdict, self._rules[verdict.rule], each, found))
            if lacking:
                found[verdict.rule] = lacking
        return found


def _names_item(evidence: Evidence) -> bool:
    """Whether a piece of evidence may be about a part: it is about an item or a count, or it names items."""
    names = "/" in evidence.item or "/" in evidence.observed or " of " in evidence.item or evidence.item in WORDS
    names = names or ":" in evidence.expected or evidence.item in _derived_from()
    return evidence.status in BAD and names


def _is_short(rule: Rule, verdict: Verdict) -> bool:
    """Whether a rule fails because it counts too few items: with none, it would not pass either."""
    look = rule.look
    if look is None or not verdict.evidence:
        return False
    if look.mode == "count":
        (clause,) = rule.clauses
        return not all(operator.holds(test, 0, clause.kind) is True for test in clause.tests)
    return look.expect_count is not None and verdict.evidence[0].item == str(look.collection)


def _surplus(index: PartIndex, rule: Rule) -> tuple[NamedPart, ...]:
    """Return the parts that a rule counts although there should be none of them."""
    if rule.look is None or rule.look.mode != "count":
        return ()
    found = (index.part(str(item)) for item in chosen_items(rule.look, index.tree))
    return _distinct(NamedPart(part) for part in found if part is not None)


def _follows(verdict: Verdict, rule: Rule, gone: NamedPart, found: Mapping[str, tuple[NamedPart, ...]]) -> bool:
    """Whether a finding follows from a missing part.

    It does if it expects the part's PCI address, or if a join that reads the collections of the part derived all its
    facts. A blocker or major failure of another part is no such finding: it may have a cause of its own.
    """
    own = found.get(verdict.rule, ())
    if any(each.missing for each in own):
        return False
    bad = [each for each in verdict.evidence if each.status in BAD]
    if not own and any(gone.part.pci in _words(each.expected) for each in bad if gone.part.pci):
        return True
    if own and verdict.status is Status.FAIL and rule.severity.decides:
        return False
    mine = {_pattern(item).removesuffix("/*") for item in gone.part.items}
    return bool(bad) and all(not mine.isdisjoint(_derived_from().get(_pattern(each.item), ())) for each in bad)


@cache
def _derived_from() -> Mapping[str, frozenset[str]]:
    """Return the collections that the join of each derived fact reads."""
    return {
        pattern: frozenset(need for need in join.needs if need in WORDS)
        for join in registry().joins
        for pattern in join.gives
    }


def _pattern(text: str) -> str:
    try:
        return str(paths.parse(text).pattern)
    except BadPath:
        return ""


def _deviating(index: PartIndex, verdict: Verdict) -> tuple[NamedPart, ...]:
    """Return the parts in the evidence that decides a verdict."""
    unknown = verdict.status is Status.UNKNOWN
    own = (each for each in verdict.evidence if each.status in BAD and (each.status is Status.UNKNOWN) is unknown)
    found = (index.part(text) for evidence in own for text in _subjects(evidence))
    return _distinct(NamedPart(part) for part in found if part is not None)


def _unlisted(index: PartIndex, verdict: Verdict) -> tuple[NamedPart, ...]:
    """Return the parts that a collection lacks which another plane lists, if a join counted this collection."""
    counted = {each for e in verdict.evidence if e.status in BAD for each in _derived_from().get(_pattern(e.item), ())}
    found = []
    for collection in sorted(counted & WORDS.keys()):
        path = paths.parse(collection)
        here = {str(path.item(key)) for key in index.tree.keys(collection)}
        found += [_lone(part, path) for part in _alone(index, path, here)]
    return _distinct(found)


def _lone(part: Part, collection: Path) -> NamedPart:
    return NamedPart(part, missing=True, on_bmc=_is_bmc(collection))


def _subjects(evidence: Evidence) -> Iterator[str]:
    """Yield the paths in a piece of evidence: that of the fact, and those of items that its value lists."""
    yield evidence.item
    yield from (word for word in _words(evidence.observed) if "/" in word and not word.startswith("/"))


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(";", " ").split()


def _distinct(found: Iterable[NamedPart]) -> tuple[NamedPart, ...]:
    kept: list[NamedPart] = []
    for each in found:
        if len(kept) < MOST and not any(each.same(other) for other in kept):
            kept.append(each)
    return tuple(kept)


def _missing(index: PartIndex, peer: PartIndex | None, rule: Rule) -> Iterator[NamedPart]:
    """Yield the parts that a counting rule misses on a node."""
    assert rule.look is not None
    look = rule.look
    here = {str(item) for item in chosen_items(look, index.tree)}
    named = [NamedPart(_on(index, p), True, _serials(index, p)) for p in _absent(index, peer, look)] if peer else []
    if not named:
        named += [_lone(part, look.collection) for part in _alone(index, look.collection, here)]
    yield from _distinct(named)


def _absent(index: PartIndex, peer: PartIndex, look: RuleSelection) -> list[Part]:
    """Return the parts that a rule selects on the peer, and that this node lacks; empty if this is not sure.

    Parts are compared by PCI address if the node has no address that the peer lacks, else by key. Keys that are numbers
    in the order of detection name another part after each missing one, so they are not compared between nodes.
    """
    collection = str(look.collection)
    mine = {part.pci for part in index.parts(collection)} - {""} if collection not in ADDRESSED else set[str]()
    by_address = mine <= {part.pci for part in peer.parts(collection)}
    if mine and not by_address and collection in NUMBERED:
        return []
    listed = {str(look.collection.item(key)) for key in index.tree.keys(collection)}
    chosen = [(str(item), peer.part(str(item))) for item in chosen_items(look, peer.tree)]
    found = []
    for item, part in chosen:
        compared = bool(mine) and by_address and part is not None and bool(part.pci)
        if part is not None and not (part.pci in mine if compared else item in listed):
            found.append(part if by_address else replace(part, pci=""))
    return found if len(found) <= max(len(chosen) - len(chosen_items(look, index.tree)), 1) else []


def _serials(index: PartIndex, part: Part) -> frozenset[str]:
    """Return the serial numbers of a node's parts in the collections of a part."""
    collections = {_pattern(item).removesuffix("/*") for item in part.items}
    found = (each.serial for collection in collections for each in index.parts(collection) if each.word == part.word)
    return frozenset(filter(None, found))


def _on(index: PartIndex, part: Part) -> Part:
    """Return a part of another node as this node has it: with the texts of the items that the node still lists.

    An item that is another part on this node has the PCI address of the missing part in place of its key.
    """
    own = {item: index.part(item) if _listed(index.tree, item) else None for item in part.items}
    others = {item for item, found in own.items() if found and found.pci and part.pci and found.pci != part.pci}
    items = tuple(_addressed(item, part.pci) if item in others else item for item in part.items)
    name = part.pci if items[:1] != part.items[:1] else part.name
    left = next((found for item, found in own.items() if found and item not in others), None)
    if left is None:
        return replace(part, name=name, items=items, serial="", index="", part_number="")
    return replace(
        part,
        name=name,
        serial=left.serial,
        index="",
        part_number=left.part_number,
        slot=part.slot or left.slot,
        items=tuple(dict.fromkeys((*items, *left.items))),
    )


def _addressed(item: str, pci: str) -> str:
    ((collection, _),) = paths.parse(item).items[-1:]
    return str(paths.parse(collection).item(pci))


def _listed(tree: Tree, item: str) -> bool:
    ((collection, key),) = paths.parse(item).items[-1:]
    return key in tree.keys(collection)


def _alone(index: PartIndex, collection: Path, here: Iterable[str]) -> Sequence[Part]:
    """Return the parts that another plane of the node lists, and this collection does not, although it has others."""
    kinds = {part.word for item in here if (part := index.part(item)) is not None}
    others = [each for each in WORDS if WORDS[each] in kinds and each.startswith("bmc.") is not _is_bmc(collection)]
    own = f"{collection}/"
    found = [part for other in others for part in index.parts(other)]
    both = any(any(item.startswith(own) for item in part.items) for part in found)
    return [part for part in found if not any(item.startswith(own) for item in part.items)] if both else []


def _is_bmc(collection: Path) -> bool:
    return str(collection).startswith("bmc.")
