"""Judges with a cache: two nodes that return the same values for a rule share one verdict. Pure.

A verdict depends on the facts that the rule reads, the rules it needs, waivers and the votes of siblings. The cache key
consists of small numbers that stand for the facts, and of the first needed rule that failed or is unknown. The votes of
siblings are not in the key, since they are the same for all nodes of one cache. The cache is not used for rules that
are waived for the node, that compare two readings of a fact, or that are written in Python.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from rackcheck.evaluate.consensus import Poll
from rackcheck.evaluate.input_numbers import OWN, Numbered, Reads, read_by
from rackcheck.evaluate.verdict import NO_POLLS, NO_VERDICTS, NO_WAIVERS, blocked, judge_one, needs_first
from rackcheck.evaluate.waiver import Granted
from rackcheck.model.evidence import Verdict
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Tree

HELD = 128
"""Maximum number of verdicts kept for one rule."""

MemoKey = tuple[int, ...]


class Memo:
    """Judges many nodes by the same rules; nodes with the same inputs share one verdict object."""

    def __init__(self, rules: Sequence[Rule], reads: Reads, polls: Mapping[str, Poll] = NO_POLLS) -> None:
        self._rules = rules
        self._polls = polls
        self._known: dict[str, dict[tuple[MemoKey, str], Verdict]] = {rule.id: {} for rule in rules}
        self._order = [(rule, _getter(reads.places(read_by(rule)))) for rule in needs_first(rules)]
        self._apart = frozenset(rule.id for rule in rules if rule.twice or rule.called is not None)

    def judge(
        self,
        tree: Tree,
        numbered: Numbered,
        waived: Mapping[str, Granted] = NO_WAIVERS,
        before: Mapping[str, Verdict] = NO_VERDICTS,
    ) -> tuple[Verdict, ...]:
        """Return the same verdicts as `verdict.judge`; `numbered` has the numbers of the parts of this tree."""
        numbers = numbered.numbers
        done = dict(before)
        for rule, key_of in self._order:
            if rule.id in done:
                continue
            key = key_of(numbers)
            if OWN in key or rule.id in waived or rule.id in self._apart:
                done[rule.id] = judge_one(rule, tree, done, waived, self._polls)
                continue
            known = self._known[rule.id]
            whole = key, blocked(rule, done) if rule.needs else ""
            verdict = known.get(whole)
            if verdict is None:
                if len(known) >= HELD:
                    known.clear()
                verdict = known[whole] = judge_one(rule, tree, done, waived, self._polls)
            done[rule.id] = verdict
        return tuple(done[rule.id] for rule in self._rules)


def _getter(places: Sequence[int]) -> Callable[[Sequence[int]], MemoKey]:
    """Return a function that returns the numbers at these positions of a sequence, as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda numbers: tuple(numbers[place] for place in places)
