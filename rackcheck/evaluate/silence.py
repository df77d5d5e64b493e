"""Finds nodes whose parts lack a fact that similar parts have on most nodes of the role. Pure.

`rackcheck.model.sibling_silence` compares the parts of one node. This module compares nodes: if a quorum of the
expected nodes returns a fact for parts of one sort, a node on which every such part lacks the fact is listed. An
unknown value counts neither as returned nor as lacking, so that missing data never adds a node to the list.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.evaluate.consensus import FEWEST, needed
from rackcheck.evaluate.input_numbers import OWN, Numbered, Reads, RuleReads
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown, clean
from rackcheck.model.fold import fold
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Rule
from rackcheck.model.sibling_silence import Siblings, occupied, sort_of
from rackcheck.model.tree import Tree

QUORUM = 75.0
"""Share of the expected nodes of a role, in %, that must return a fact before its absence is a finding."""

NAMED = 3
"""Maximum number of facts that a finding lists."""

MOST = 256
"""Maximum number of findings."""

KNOWN = 64
"""Maximum number of different sets of parts for which it is kept which of them return a fact."""


@dataclass(frozen=True, slots=True)
class ExcusedFact:
    """A fact of sibling items that some rules accept as absent; `rest` is the path from the item to the fact.

    `needed` is false if an unknown reading is a minor finding for every rule that accepts the fact as absent.
    """

    siblings: Siblings
    plane: Plane
    rest: Path
    needed: bool = True

    def __str__(self) -> str:
        return str(self.siblings.collection.item(EVERY) + self.rest)


def excused_facts(rules: Iterable[Rule]) -> tuple[ExcusedFact, ...]:
    """Return the facts of sibling items that these rules accept as absent, without duplicates."""
    found: dict[tuple[Path, Path], ExcusedFact] = {}
    for rule in rules:
        item = Path(()) if rule.look is None else rule.look.collection.item("*")
        for clause in rule.parts():
            if clause.siblings is None:
                continue
            whole = (clause.fact if clause is rule.when else item + clause.fact).pattern
            depth = len(clause.siblings.collection.segments)
            rest = Path(whole.segments[depth:])
            if rest.segments and not rest.starred:
                key = (clause.siblings.collection, rest)
                matters = not rule.unknown_is_minor or (key in found and found[key].needed)
                found[key] = ExcusedFact(clause.siblings, clause.plane, rest, matters)
    return tuple(found.values())


SiblingSort = tuple[str, ...]
"""The values of the facts that group an item with its siblings, as texts."""

_Key = tuple[str, ExcusedFact, SiblingSort]


@dataclass(frozen=True, slots=True)
class SortAnswers:
    """Whether the parts of one node return a fact, by sort of part; None for a part whose value is unknown.

    `lost` is true if there may be more parts, or parts whose sort is unknown.
    """

    fact: ExcusedFact
    lost: bool
    sorts: Mapping[SiblingSort, frozenset[bool | None]]


class ExcusedReader:
    """Reads the facts of nodes that rules accept as absent; nodes with the same parts share what was read."""

    def __init__(self, facts: Sequence[ExcusedFact], reads: Reads) -> None:
        known: list[dict[tuple[int, ...], SortAnswers]] = [{} for _ in facts]
        self._facts = [(e, reads.places(excused_reads(e)), mine) for e, mine in zip(facts, known, strict=True)]

    def of(self, tree: Tree, numbered: Numbered) -> Iterator[SortAnswers]:
        """Yield for each fact which parts of a node return it; `numbered` has the numbers of the parts of this tree."""
        numbers = numbered.numbers
        families: dict[Hashable, tuple[list[tuple[str, Path, SiblingSort | None]], bool]] = {}
        for each, places, known in self._facts:
            key = tuple(numbers[place] for place in places)
            found = None if OWN in key else known.get(key)
            if found is None:
                if each.siblings not in families:
                    families[each.siblings] = _items(each.siblings, tree)
                found = _answers(each, *families[each.siblings], tree)
                if OWN not in key:
                    if len(known) >= KNOWN:
                        known.clear()
                    known[key] = found
            yield found


def excused_reads(each: ExcusedFact) -> RuleReads:
    """Return what decides whether the parts of a node return a fact."""
    facts = each.siblings.facts() | {each.siblings.collection.item(EVERY) + each.rest}
    ways = frozenset(way for fact in facts for way in fact.collections) | {each.siblings.collection}
    return RuleReads(facts | ways, ways, each.siblings.planes | {each.plane})


def _answers(
    each: ExcusedFact, items: Sequence[tuple[str, Path, SiblingSort | None]], hidden: bool, tree: Tree
) -> SortAnswers:
    sorts: dict[SiblingSort, frozenset[bool | None]] = {}
    lost, rest = hidden, f".{each.rest}"
    for text, item, sort in items:
        leaf = tree.leaves.get(text + rest)
        reading: Reading = leaf.reading if leaf is not None else tree.reading(item + each.rest, each.plane)
        if sort is None:
            lost = True
        else:
            answer = None if isinstance(reading, Unknown) else not isinstance(reading, Absent)
            sorts[sort] = sorts.get(sort, frozenset()) | {answer}
    return SortAnswers(each, lost, sorts)


@dataclass
class Silences:
    """Counts, by fact and sort of part, the nodes that return the fact; keeps the names of nodes that lack it.

    The order in which nodes are taken makes no difference. `ranks` are the places of the facts among those of a role.
    """

    given: Counter[_Key] = field(default_factory=Counter)
    unsure: Counter[_Key] = field(default_factory=Counter)
    unseen: Counter[tuple[str, ExcusedFact]] = field(default_factory=Counter)
    both: Counter[_Key] = field(default_factory=Counter)  # nodes of `unseen` that `given` or `unsure` already counts
    silent: dict[_Key, list[str]] = field(default_factory=dict)
    ranks: dict[tuple[str, ExcusedFact], int] = field(default_factory=dict)

    def take(self, role: str, node: str, answers: Iterable["SortAnswers"]) -> None:
        """Add one node: count the facts that its parts return."""
        for rank, answer in enumerate(answers):
            each, lost = answer.fact, answer.lost
            self.ranks[role, each] = rank
            if lost:
                self.unseen[role, each] += 1
            for sort, given in answer.sorts.items():
                if True in given:
                    self.given[role, each, sort] += 1
                elif None in given:
                    self.unsure[role, each, sort] += 1
                elif not lost:
                    self.silent.setdefault((role, each, sort), []).append(node)
                if lost and given != {False}:
                    self.both[role, each, sort] += 1

    def reading(self, expected: Mapping[str, int]) -> Reading:
        """Return a sentence for each set of nodes that lack facts.

        The result is unknown if no node is found that lacks facts, but unknown values may hide such a node. `expected`
        is the number of nodes of each role in the inventory.
        """
        found: dict[tuple[str, SiblingSort, tuple[str, ...], str], list[str]] = {}
        doubt: Unknown | None = None
        for key in sorted({*self.given, *self.unsure, *self.silent}, key=lambda k: (k[0], self.ranks[k[:2]], k[2])):
            role, each, sort = key
            of, given = expected.get(role, 0), self.given[key]
            if of < FEWEST:  # also if more nodes were read than the inventory has
                continue
            enough = needed(of, QUORUM)
            lost = self.unsure[key] + self.unseen[role, each] - self.both[key]
            if given >= enough and key in self.silent:
                silent = tuple(sorted(self.silent[key]))
                found.setdefault((role, sort, silent, f"{given} of {of}"), []).append(str(each))
            elif each.needed and lost and given + lost >= enough:
                doubt = doubt or _doubt(each, given, lost, of)
        for role, each in sorted(self.unseen, key=lambda k: (k[0], self.ranks[k])):
            lost = self.unseen[role, each]
            of = expected.get(role, 0)
            if each.needed and of >= FEWEST and lost >= needed(of, QUORUM):
                doubt = doubt or _doubt(each, 0, lost, of)
        if found:
            return tuple(_sentence(*key, facts) for key, facts in list(found.items())[:MOST])
        return () if doubt is None else doubt


def _doubt(each: ExcusedFact, given: int, lost: int, of: int) -> Unknown:
    return Unknown(Reason.NO_CONSENSUS, f"{each}: {given} of {of} nodes return it; unknown for {lost}")


def _items(siblings: Siblings, tree: Tree) -> tuple[list[tuple[str, Path, SiblingSort | None]], bool]:
    """Return a node's items with their grouping facts (None if unknown), and whether there may be more items."""
    selection = tree.select(siblings.collection, siblings.plane)
    kept = (item for item in selection.items if occupied(item, siblings, tree))
    return [(str(item), item, sort_of(item, siblings, tree)) for item in kept], selection.unknown is not None


def _sentence(role: str, sort: SiblingSort, nodes: tuple[str, ...], share: str, facts: Sequence[str]) -> str:
    more = f" and {len(facts) - NAMED} more" if len(facts) > NAMED else ""
    parts = f" of {clean(' '.join(sort), 60)}" if any(sort) else ""
    return f"{clean(fold(nodes), 120)}: no {', '.join(facts[:NAMED])}{more}{parts}, which {share} {role} nodes return"
