"""Finds traits that nodes with the same finding share and other nodes do not have, as a hint at the cause. Pure.

A hint is not a proof, and is shown with the counts of nodes. An unknown fact is not a shared trait. A fact that many
nodes do not report is not used for hints.

If no trait fits the failing nodes, because other nodes fail as well, a trait is named whose nodes fail far more often
than the others, and too often for chance (see `chance`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rackcheck.model.fact import clean
from rackcheck.views.census import Census
from rackcheck.views.chance import cut, tail
from rackcheck.views.shared_traits import LONG, SHOWN, HintKind, Trait, gathered, pattern, traits

LIKE = 0.9
"""Minimum overlap at which two sets of nodes match: size of the intersection divided by size of the union."""

SILENT = 0.2
"""Maximum share of nodes with an unknown value; a fact that is unknown on more nodes is not used for hints."""

LEAST = 3
"""Minimum number of failing nodes with a trait that is named although other nodes fail, too."""

LIFT = 3.0
"""Minimum ratio of the share of failing nodes with such a trait to the share of failing nodes of all."""

HALF = 0.5
"""Minimum share of the nodes with such a trait that fail."""

CAUSES = 3
"""Maximum number of such traits that are named for one finding."""

FEW = 2
"""Number of failing nodes above which a hint may say that the profile is wrong."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint: `words` is a short text for a column, `sentence` is the hint with the counts of nodes.

    `share` is the overlap of the failing nodes with the nodes that have the trait, from 0 to 1.

    For a hint at the profile or at a single node, `share` is the share of failing nodes among all judged nodes.
    """

    sort: HintKind
    words: str
    sentence: str
    share: float


_Has = tuple[int, int]
"""Two sets of nodes: the nodes with a trait, and the nodes for which it is known whether they have the trait."""


class Hints:
    """Finds traits that nodes of a census have in common; one object is used for all findings."""

    def __init__(self, census: Census) -> None:
        self._census = census
        self._traits: dict[_Has, list[tuple[HintKind, str, str]]] = {}
        for has, known, sort, path, value in traits(census):
            self._traits.setdefault((has, known), []).append((sort, path, value))
        self._among: dict[int, tuple[list[int], list[tuple[int, _Has]]]] = {}
        self._asked: dict[object, Hint | None] = {}
        self._cut: float | None = None

    def weigh(self, cases: Iterable["Case"]) -> None:
        """Find out which associations are no chance, given all findings of a run; without it, each counts alone."""
        chances: list[float] = []
        tests = 0
        for nodes, among, facts, seen in cases:
            found = list(self._associations(nodes & among, among, facts, seen))
            chances += [each.chance for each in found]
            tests += len(self._index(among)[1])
        self._cut = cut(chances, tests)

    def of(
        self, nodes: int, among: int, facts: frozenset[str] = frozenset(), seen: frozenset[str] = frozenset(),
        *, unknown: bool = False,
    ) -> Hint | None:  # fmt: skip
        """Return a hint why `nodes` fail and the other nodes in `among` do not; None if there is no hint.

        `nodes` and `among` are sets of the census; `among` contains all judged nodes. `facts` are the patterns that the
        rule reads, and `seen` the actual values of these facts; a trait with such a pattern or value is not used for
        hints. If `unknown` is true, because the verdict of the rule is unknown on `nodes`, the hint never says that the
        profile may be wrong.
        """
        key = (nodes, among, facts, seen, unknown)
        if key not in self._asked:
            self._asked[key] = self._hint(nodes & among, among, facts, seen, unknown=unknown)
        return self._asked[key]

    def _hint(
        self, nodes: int, among: int, facts: frozenset[str], seen: frozenset[str], *, unknown: bool
    ) -> Hint | None:
        count, of = nodes.bit_count(), among.bit_count()
        if count > FEW and 2 * count > of and not unknown:
            fleet = "fleet" if among == self._census.everyone else "nodes it is judged on"
            sentence = f"{100 * count // of} % of the {fleet} ({count:,} of {of:,}): is the profile right?"
            return Hint(HintKind.PROFILE, "profile?", sentence, count / of)
        if count == 1:
            name = clean(self._census.names(nodes)[0], LONG)
            return Hint(HintKind.ALONE, "only this node", f"only {name}, of {of:,} nodes", 1 / of) if of > 1 else None
        if not 1 < count < of:
            return None
        fits = sorted(self._fits(nodes, among, facts, seen), key=lambda fit: (-fit[0], fit[2][0].rank))
        alike = [(has, held) for share, has, held in fits if share == fits[0][0]]
        if not alike:
            return self._frequent(nodes, among, facts, seen)
        first = alike[0][1][0]
        return Hint(first.sort, first.words, self._sentence(nodes, among, alike), fits[0][0])

    def _frequent(self, nodes: int, among: int, facts: frozenset[str], seen: frozenset[str]) -> Hint | None:
        """Return a hint at traits whose nodes fail far more often than others; None if there is no such trait."""
        found: list[_Association] = []
        left, others = nodes, among
        while len(found) < CAUSES:
            some = list(self._associations(left, others, facts, seen))
            limit = self._cut if self._cut is not None else cut((e.chance for e in some), len(self._index(among)[1]))
            some = [each for each in some if each.chance <= limit]
            if not some:
                break
            best = min(some, key=lambda each: (each.chance, each.held[0].rank))
            found.append(best)
            left, others = left & ~best.has, others & ~best.has
        if not found:
            return None
        first = found[0].held[0]
        share = found[0].both / found[0].size
        return Hint(first.sort, first.words, "; ".join(each.sentence(nodes, among) for each in found), share)

    def _associations(
        self, nodes: int, among: int, facts: frozenset[str], seen: frozenset[str]
    ) -> Iterator["_Association"]:
        """Yield the traits whose nodes fail more often than others, each with the probability of this by chance."""
        of, failing = among.bit_count(), nodes.bit_count()
        if not LEAST <= failing < of:
            return
        for _, has in self._index(among)[1]:
            both = (has[0] & nodes).bit_count()
            size = (has[0] & among).bit_count()
            if both >= LEAST and both >= HALF * size and both * of >= LIFT * failing * size:
                held = gathered(t for t in self._traits[has] if pattern(t[1]) not in facts and t[2] not in seen)
                if held:
                    yield _Association(tail(both, size, failing, of), has[0], both, size, held)

    def _fits(
        self, nodes: int, among: int, facts: frozenset[str], seen: frozenset[str]
    ) -> Iterator[tuple[float, _Has, list[Trait]]]:
        """Yield the sets of nodes whose overlap with `nodes` is at least `LIKE`.

        Each result has the overlap, the set of nodes, and the traits of the set, with the preferred trait first.
        """
        counts, sets = self._index(among)
        count = nodes.bit_count()
        for at in range(bisect_left(counts, LIKE * count), bisect_right(counts, count / LIKE)):
            size, has = sets[at]
            both = (has[0] & nodes).bit_count()
            share = both / (size + count - both)
            if share >= LIKE:
                held = gathered(t for t in self._traits[has] if pattern(t[1]) not in facts and t[2] not in seen)
                if held:
                    yield share, has, held

    def _index(self, among: int) -> tuple[list[int], list[tuple[int, _Has]]]:
        """Return the number of nodes with each trait, in ascending order, and the traits in the same order.

        A trait is included if several but not all nodes in `among` have it, and if it is known for enough of these
        nodes.
        """
        if among not in self._among:
            of = among.bit_count()
            sets = []
            for has, known in self._traits:
                size = (has & among).bit_count()
                if 1 < size < of and (known & among).bit_count() >= (1 - SILENT) * of:
                    sets.append((size, (has, known)))
            sets.sort(key=lambda each: each[0])
            self._among[among] = [size for size, _ in sets], sets
        return self._among[among]

    def _sentence(self, nodes: int, among: int, alike: list[tuple[_Has, list[Trait]]]) -> str:
        rows = [_clause(nodes, among, has, held) for has, held in alike[:SHOWN]]
        more = f"; and {len(alike) - SHOWN:,} more such facts" if len(alike) > SHOWN else ""
        return "; ".join(rows) + more


Case = tuple[int, int, frozenset[str], frozenset[str]]
"""What `Hints.of` is asked about one finding: nodes, among, facts and seen."""


@dataclass(frozen=True, slots=True)
class _Association:
    """A trait of `size` nodes, of which `both` fail; `chance` is the probability of so many by chance."""

    chance: float
    has: int
    both: int
    size: int
    held: list[Trait]

    def sentence(self, nodes: int, among: int) -> str:
        """Format `5 of 6 in rack r03 fail, and 20 of 1,018 others`."""
        rest = among & ~self.has
        also = (nodes & rest).bit_count()
        rows = [each.phrase if not each.paths else f"with {each.phrase}" for each in self.held[:SHOWN]]
        more = f", and {len(self.held) - SHOWN:,} more in common" if len(self.held) > SHOWN else ""
        who = f"{self.both:,} of {self.size:,} {' and '.join(rows)}{more} fail"
        return f"{who}, and {also:,} of {rest.bit_count():,} others"


def _clause(nodes: int, among: int, has: _Has, held: list[Trait]) -> str:
    """Format `all 9 are in rack r03; 1 of 1,015 others is, and 2 are unknown`."""
    count, both, others = nodes.bit_count(), (has[0] & nodes).bit_count(), among & ~nodes
    also, dark = (has[0] & others).bit_count(), (others & ~has[1]).bit_count()
    rows = held[:SHOWN]
    places, facts = [t.phrase for t in rows if not t.paths], [t.phrase for t in rows if t.paths]
    are = [f"are {' and '.join(places)}"] if places else []
    have = [f"have {' and '.join(facts)}"] if facts else []
    more = f", and {len(held) - SHOWN:,} more in common" if len(held) > SHOWN else ""
    who = f"all {count:,}" if both == count else f"{both:,} of {count:,}"
    left = f"{others.bit_count():,} other{'' if others.bit_count() == 1 else 's'}"
    rest = f"{also or 'none'} of {left} {'is' if places else 'has'}"
    unsure = f", and {dark:,} {'is' if dark == 1 else 'are'} unknown" if dark else ""
    return f"{who} {' and '.join((*are, *have))}{more}; {rest}{unsure}"
