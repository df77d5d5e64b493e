"""Judging that remembers: where a node tells a rule what another one told it, it has the other's verdict. Pure.

A verdict follows from what the rule reads, from what it needs, from waivers and from what siblings say. The first is a
key of small numbers, and what is needed stands beside it. What siblings say is the same for all nodes of one memory. A
rule that is waived for the node, that compares two readings of it, or that is somebody's Python, is judged as it is.
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
"""Verdicts held of one rule."""

MemoKey = tuple[int, ...]


class Memo:
    """Judges nodes by the same rules, and gives equal verdicts as one object."""

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
        """Give what `verdict.judge` gives of these rules; `numbered` are the numbers of this tree."""
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
    """Give what takes the numbers at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda numbers: tuple(numbers[place] for place in places)
