"""The parts that the findings of a run are about: parts that deviate, and parts that a count shows to be missing. Pure.

A part that is missing on a node is known from the other plane of the node, which still lists it, and from a node of the
same role on which the rule passes: it has the items that the node lacks, and shows their slot and PCI address.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from statistics import median

from rackcheck.evaluate.selection import chosen_items
from rackcheck.evaluate.verdict import Evidence, Status, Verdict
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.held_tree import HeldTrees
from rackcheck.model.part_index import WORDS, PartIndex
from rackcheck.model.path import BadPath
from rackcheck.model.profile import Rule, RuleSelection
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree
from rackcheck.probe.group import is_group
from rackcheck.probe.registry import registry
from rackcheck.run.event import Event, FactsRead, Foreseen, Judged
from rackcheck.views.missing_parts import alone, lone, missing
from rackcheck.views.named_part import NamedPart, distinct

BAD = frozenset({Status.FAIL, Status.WARN, Status.UNKNOWN})
"""Verdicts whose parts are named."""

UNSURE = 3
"""Maximum number of parts that are named because values of theirs are unknown."""

DIFFERS = regex(r"bmc\.differs\..+\.listed")
"""Facts that list the items which only one plane of a node has."""

PAIR = regex(r"(burnin\.gpu)/([0-9]+)\.peer/([0-9]+)\.")
"""Facts of a pair of GPUs."""

FAULT = regex(r"burnin\.fault/(?:\"[^\"]*\"|[^.\"]+)")
"""Items of faults under load."""

SHORT = 256
"""Maximum number of nodes of which the facts are kept because parts are missing."""


Named = Mapping[str, Mapping[str, tuple[NamedPart, ...]]]
"""The parts of findings by node and rule."""


class PartNames:
    """Finds the parts of findings while the events of a run arrive; the order of the nodes makes no difference."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._counting = {rule.id for rule in self._rules.values() if rule.look is not None and _counts(rule.look)}
        self._node, self._tree = "", Tree({})
        self._named: dict[str, Mapping[str, tuple[NamedPart, ...]]] = {}
        self._short: dict[str, tuple[Judged, Tree]] = {}
        self._held = HeldTrees()
        self._whole: dict[str, tuple[Mapping[str, str], Mapping[str, tuple[NamedPart, ...]]]] = {}
        self._peers: dict[tuple[str, str], tuple[str, PartIndex]] = {}

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
            peers = {rule: peer for (role, rule), peer in self._peers.items() if role == judged.role}
            names = {rule: name for rule, (name, _) in peers.items()}
            known = self._whole.get(node)
            if known is None or known[0] != names:  # a node with all parts may be known by now, or another one
                known = self._whole[node] = names, self._completed(judged, tree, peers)
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
            self._short[judged.node] = judged, self._held.held(self._tree)
            if len(self._short) > SHORT:  # the same nodes for any order of replies
                del self._short[max(self._short, key=natural)]
        whole = index or PartIndex(self._tree)
        for name in self._counting & {verdict.rule for verdict in judged.verdicts if verdict.status is Status.PASS}:
            peer = self._peers.get((judged.role, name))
            if peer is None or natural(judged.node) < natural(peer[0]):
                self._peers[judged.role, name] = judged.node, whole
        self._node, self._tree = "", Tree({})

    def _bad(self, judged: Judged) -> list[Verdict]:
        """Return the verdicts whose parts are named; an unknown verdict that its rule excuses has no row of its own."""
        mine = [verdict for verdict in judged.verdicts if verdict.status in BAD and verdict.rule in self._rules]
        return [
            v
            for v in mine
            if any(map(_names_item, v.evidence)) and not self._rules[v.rule].excuses(v.status, v.evidence)
        ]

    def _completed(
        self, judged: Judged, tree: Tree, peers: Mapping[str, tuple[str, PartIndex]]
    ) -> Mapping[str, tuple[NamedPart, ...]]:
        """Name the missing parts of a node, and what follows from them.

        `peers` are, by rule, nodes that have all parts which the rule counts.
        """
        index = PartIndex(tree)
        found = dict(self._named[judged.node])
        bad = self._bad(judged)
        for verdict in bad:
            rule = self._rules[verdict.rule]
            if _is_short(rule, verdict):
                parts = missing(index, peers[rule.id][1] if rule.id in peers else None, rule)
                if not parts and rule.look is not None and rule.look.mode != "count":
                    parts = _deviating(index, verdict)
                if parts:
                    found[verdict.rule] = parts
        gone = distinct(each for parts in found.values() for each in parts if each.missing)
        for name, parts in found.items():
            found[name] = distinct(next((each for each in gone if each.same(part)), part) for part in parts)
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


def _counts(look: RuleSelection) -> bool:
    return look.mode == "count" or look.expect_count is not None


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
    return distinct(NamedPart(part) for part in found if part is not None)


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
    mine = mine - {"pcie"} or mine  # a join that reads all devices of the bus is not about this kind of part
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
    """Return the parts in the evidence that decides a verdict; none if too many are only unknown."""
    unknown = verdict.status is Status.UNKNOWN
    own = [each for each in verdict.evidence if each.status in BAD and (each.status is Status.UNKNOWN) is unknown]
    pairs = [{f"{pair[1]}/{pair[2]}", f"{pair[1]}/{pair[3]}"} for e in own if (pair := PAIR.match(e.item)) is not None]
    if pairs and len(pairs) == len(own):
        shared = set.intersection(*pairs) or set.union(*pairs)  # the part that all slow pairs have
        return distinct(NamedPart(part) for text in sorted(shared) if (part := index.part(text)) is not None)
    found = distinct(each for evidence in own for each in _in_evidence(index, evidence))
    return () if unknown and len(found) > UNSURE else found


def _in_evidence(index: PartIndex, evidence: Evidence) -> Iterator[NamedPart]:
    differs = DIFFERS.fullmatch(evidence.item) is not None
    for text in _subjects(index, evidence):
        part = index.part(text)
        if part is not None:
            by_os_alone = differs and not text.startswith("bmc.")
            yield NamedPart(part, missing=by_os_alone, on_bmc=by_os_alone)


def _unlisted(index: PartIndex, verdict: Verdict) -> tuple[NamedPart, ...]:
    """Return the parts that a collection lacks which another plane lists, if a join counted this collection."""
    counted = {each for e in verdict.evidence if e.status in BAD for each in _derived_from().get(_pattern(e.item), ())}
    found = []
    if verdict.status is Status.UNKNOWN:
        return ()
    for collection in sorted(counted & WORDS.keys()):
        path = paths.parse(collection)
        here = {str(path.item(key)) for key in index.tree.keys(collection)}
        found += [lone(part, path) for part in alone(index, path, here)]
    return distinct(found)


def _subjects(index: PartIndex, evidence: Evidence) -> Iterator[str]:
    """Yield the paths in a piece of evidence: that of the fact, and those of items that its value lists.

    A fault under load names its part by a fact of its own: `burnin.fault/lost.where` is `gpu/3`.
    """
    fault = FAULT.match(evidence.item)
    if fault is not None:
        leaf = index.tree.leaves.get(f"{fault[0]}.where")
        if leaf is not None and isinstance(leaf.reading, str):
            yield from (f"burnin.{where}" for where in leaf.reading.split(", "))
        return
    yield evidence.item
    listed = [word for word in _words(evidence.observed) if "/" in word and not word.startswith("/")]
    yield from _outliers(index, evidence.item, listed)


def _outliers(index: PartIndex, fact: str, listed: Sequence[str]) -> Sequence[str]:
    """Return the end that is farther from the median, of the two ends of a spread; of other facts, all items."""
    collection, star, word = fact.partition("/*.")
    ends = [item for item in listed if item.startswith(f"{collection}/")]
    if not star or len(ends) != 2:
        return listed
    readings = {end: index.tree.leaves.get(f"{end}.{word}") for end in ends}
    every = (
        index.tree.leaves.get(f"{collection}/{paths.spell_key(key)}.{word}") for key in index.tree.keys(collection)
    )
    numbers = [float(leaf.reading) for leaf in every if leaf is not None and isinstance(leaf.reading, (int, float))]
    values = [leaf.reading if leaf is not None else None for leaf in readings.values()]
    if len(numbers) < 3 or not all(isinstance(value, (int, float)) for value in values):
        return ends
    low, high = min(numbers), max(numbers)
    middle = median(numbers)
    return ends[:1] if middle - low > high - middle else ends[1:]


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(";", " ").split()
