"""Silence of one node among others of its role: parts that return nothing where most nodes' parts like them do. Pure.

Within a node siblings settle it (`siblings`); a node all of whose parts are silent alike is found here, by consensus:
where a quorum of the expected nodes return a fact of parts of one sort, a node on which every such part lacks it is
named. What an unknown node might return counts on neither side, so that taking knowledge away names no further node.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.evaluate.consensus import FEWEST, needed
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown, clean
from rackcheck.model.fold import fold
from rackcheck.model.path import Path
from rackcheck.model.profile import Rule
from rackcheck.model.sibling_silence import Siblings, occupied, sort_of
from rackcheck.model.tree import Tree

QUORUM = 75.0
"""Share of the expected nodes of a role, in %, that must return a fact before its lack is a finding."""

NAMED = 3
"""Facts that a finding names."""

MOST = 256
"""Findings that are given."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact of items of siblings that rules excuse the absence of; `rest` is its path from the item."""

    siblings: Siblings
    plane: Plane
    rest: Path

    def __str__(self) -> str:
        return str(self.siblings.collection.item("*") + self.rest)


def asked(rules: Iterable[Rule]) -> tuple[Asked, ...]:
    """Give the facts whose absence rules of a node excuse, each once."""
    found: dict[tuple[Path, Path], Asked] = {}
    for rule in rules:
        item = Path(()) if rule.look is None else rule.look.collection.item("*")
        for clause in rule.parts():
            if clause.siblings is None:
                continue
            whole = (clause.fact if clause is rule.when else item + clause.fact).pattern
            depth = len(clause.siblings.collection.segments)
            rest = Path(whole.segments[depth:])
            if rest.segments and not rest.starred:
                found.setdefault((clause.siblings.collection, rest), Asked(clause.siblings, clause.plane, rest))
    return tuple(found.values())


SiblingSort = tuple[str, ...]
"""What groups items: their grouping facts, as texts."""

_Key = tuple[str, Asked, SiblingSort]


@dataclass
class Silences:
    """Counts, node by node, who returns what; holds numbers, and the names of those that return nothing."""

    given: Counter[_Key] = field(default_factory=Counter)
    unsure: Counter[_Key] = field(default_factory=Counter)
    unseen: Counter[tuple[str, Asked]] = field(default_factory=Counter)
    both: Counter[_Key] = field(default_factory=Counter)  # of unseen: nodes that given or unsure counts already
    silent: dict[_Key, list[str]] = field(default_factory=dict)

    def take(self, role: str, node: str, facts: Sequence[Asked], tree: Tree) -> None:
        """Count what the parts of a node return."""
        families: dict[Hashable, tuple[list[tuple[str, Path, SiblingSort | None]], bool]] = {}
        for each in facts:
            if each.siblings not in families:
                families[each.siblings] = _items(each.siblings, tree)
            items, hidden = families[each.siblings]
            rest = f".{each.rest}"
            sorts: dict[SiblingSort, set[bool | None]] = {}
            lost = hidden
            for text, item, sort in items:
                leaf = tree.leaves.get(text + rest)
                reading: Reading = leaf.reading if leaf is not None else tree.reading(item + each.rest, each.plane)
                if sort is None:
                    lost = True
                else:
                    answer = None if isinstance(reading, Unknown) else not isinstance(reading, Absent)
                    sorts.setdefault(sort, set()).add(answer)
            if lost:
                self.unseen[role, each] += 1
            for sort, answers in sorts.items():
                if True in answers:
                    self.given[role, each, sort] += 1
                elif None in answers:
                    self.unsure[role, each, sort] += 1
                elif not lost:
                    self.silent.setdefault((role, each, sort), []).append(node)
                if lost and answers != {False}:
                    self.both[role, each, sort] += 1

    def reading(self, expected: Mapping[str, int]) -> Reading:
        """Give the silent nodes; `expected` counts the nodes of each role that the inventory has."""
        found: dict[tuple[str, SiblingSort, tuple[str, ...], str], list[str]] = {}
        doubt: Unknown | None = None
        for key in dict.fromkeys((*self.given, *self.unsure, *self.silent)):
            role, each, sort = key
            of, given = expected.get(role, 0), self.given[key]
            if of < FEWEST:  # also where more nodes were read than the inventory has
                continue
            enough = needed(of, QUORUM)
            lost = self.unsure[key] + self.unseen[role, each] - self.both[key]
            if given >= enough and key in self.silent:
                silent = tuple(self.silent[key])
                found.setdefault((role, sort, silent, f"{given} of {of}"), []).append(str(each))
            elif lost and given + lost >= enough:
                doubt = doubt or _doubt(each, given, lost, of)
        for (role, each), lost in self.unseen.items():
            of = expected.get(role, 0)
            if of >= FEWEST and lost >= needed(of, QUORUM):
                doubt = doubt or _doubt(each, 0, lost, of)
        if found:
            return tuple(_sentence(*key, facts) for key, facts in list(found.items())[:MOST])
        return () if doubt is None else doubt


def _doubt(each: Asked, given: int, lost: int, of: int) -> Unknown:
    return Unknown(Reason.NO_CONSENSUS, f"{each}: {given} of {of} nodes return it, and of {lost} it is unknown")


def _items(siblings: Siblings, tree: Tree) -> tuple[list[tuple[str, Path, SiblingSort | None]], bool]:
    """Give the items of a node with what groups them, None where that is unknown; and whether there may be more."""
    selection = tree.select(siblings.collection, siblings.plane)
    kept = (item for item in selection.items if occupied(item, siblings, tree))
    return [(str(item), item, sort_of(item, siblings, tree)) for item in kept], selection.unknown is not None


def _sentence(role: str, sort: SiblingSort, nodes: tuple[str, ...], share: str, facts: Sequence[str]) -> str:
    more = f" and {len(facts) - NAMED} more" if len(facts) > NAMED else ""
    parts = f" of {clean(' '.join(sort), 60)}" if any(sort) else ""
    return f"{clean(fold(nodes), 120)}: no {', '.join(facts[:NAMED])}{more}{parts}, which {share} {role} nodes return"
