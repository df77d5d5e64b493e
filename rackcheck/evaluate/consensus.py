"""Consensus among nodes that should be identical: each node is compared with the value that most of them have. Pure.

A value is right if a quorum of the *expected* nodes has it; nodes that return nothing count as if they differed.
Missing data can prevent a quorum, but never makes a wrong value right. `Absent` is counted like any other value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from rackcheck.evaluate.waiver import Granted, taken
from rackcheck.model import operator
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.evidence import Evidence, Status, Verdict, all_hold, clause_text
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import EVERY, Path, Segment
from rackcheck.model.profile import Across, AgreedFact, Rule
from rackcheck.model.tree import Tree

FEWEST = 3
"""Minimum number of expected nodes of a role for a vote to have a result."""

VALUES_SHOWN = 3
"""Maximum number of values listed for a vote without a result; also, maximum number of facts in a reason."""

SHOWN = 256
"""Maximum number of pieces of evidence kept for one verdict."""

VoteKey = tuple[str, object]
K = TypeVar("K")


def needed(expected: int, quorum: float | None = None) -> int:
    """Return how many of the expected nodes must have a value for it to have the quorum.

    `quorum` is a share in %; the default is more than half. If fewer than FEWEST nodes are expected, FEWEST is
    returned, so that no value can have a quorum.
    """
    if expected < FEWEST:
        return FEWEST
    return expected // 2 + 1 if quorum is None else -int(-(quorum * expected) // 100)


def most(counts: Mapping[K, int], expected: int, quorum: float | None = None) -> K | None:
    """Return the value that has the quorum, None if no value has it; `counts` maps values to their numbers of nodes."""
    enough = needed(expected, quorum)
    return next((value for value, count in counts.items() if count >= enough), None)


@dataclass(frozen=True, slots=True)
class Vote:
    """The values of one fact across nodes: how many of the `expected` nodes have each value.

    `right` is the value that has the quorum; it is None if no value has the quorum.
    """

    expected: int
    right: VoteKey | None
    words: Mapping[VoteKey, str]
    counts: Mapping[VoteKey, int]

    @property
    def split(self) -> str:
        """How many nodes have each value, most frequent first."""
        order = sorted(self.counts, key=lambda key: (-self.counts[key], self.words[key]))
        text = ", ".join(f"{self.words[key]} on {self.counts[key]}" for key in order[:VALUES_SHOWN])
        more = f", and {len(order) - VALUES_SHOWN} more values" if len(order) > VALUES_SHOWN else ""
        return f"of {self.expected} nodes: {text}{more}" if text else f"none of {self.expected} nodes reports a value"


@dataclass(frozen=True)
class Poll:
    """The votes of one rule, by fact path.

    The vote at a path with a star, such as `nic/*.firmware`, counts the nodes whose list of items is complete.
    """

    votes: Mapping[str, Vote] = field(default_factory=dict)
    places: Mapping[str, tuple[AgreedFact, Path]] = field(default_factory=dict)


def large_enough(across: Across, targets: int, expected: int) -> bool:
    """Whether a vote can have a result: enough of the `expected` nodes are audited (`targets`) to reach the quorum."""
    return targets >= needed(expected, across.quorum)


def poll(across: Across, trees: Mapping[str, Tree], expected: int) -> Poll:
    """Count the votes of these nodes on each fact; a fact of items has one vote for each item that any node has."""
    votes: dict[str, Vote] = {}
    places: dict[str, tuple[AgreedFact, Path]] = {}
    for shared in across.shared:
        asked = dict.fromkeys(path for tree in trees.values() for path in _paths(shared, tree))
        if any(segment.key == EVERY for segment in shared.fact.segments):
            asked[shared.fact] = None
        for path in (path for path in asked if path not in across.left):
            readings = [_reading(shared, path, tree) for tree in trees.values()]
            votes[str(path)] = _vote(readings, shared.kind, across.quorum, expected)
            places[str(path)] = (shared, path)
    return Poll(votes, places)


def agreed(rule: Rule, tree: Tree, found: Poll, pins: Granted) -> Verdict:
    """Judge one node by the votes of all nodes; n/a if no fact is left to compare, as other rules test all of them."""
    if not found.places:
        return Verdict(rule.id, Status.NA, "each of its facts is already judged by another rule")
    evidence = [
        taken(_evidence(path, shared, tree, found.votes[text]), pins) for text, (shared, path) in found.places.items()
    ]
    status = all_hold(e.status for e in evidence)
    waived = tuple(e for e in evidence if e.status is Status.WAIVED)
    if status is Status.PASS:
        return Verdict(rule.id, status, "", waived)
    telling = tuple(e for e in evidence if e.status is status)
    more = f" and {len(telling) - VALUES_SHOWN} more" if len(telling) > VALUES_SHOWN else ""
    return Verdict(
        rule.id, status, "; ".join(map(clause_text, telling[:VALUES_SHOWN])) + more, (*telling[:SHOWN], *waived)
    )


def _paths(shared: AgreedFact, tree: Tree) -> Iterable[Path]:
    """Return the fact's path; for a fact of items, one path for each item of the node."""
    owner, rest = _owner(shared.fact)
    if owner is None:
        return (shared.fact,)
    return (Path(item.segments + rest) for item in tree.select(owner, shared.plane).items)


def _owner(fact: Path) -> tuple[Path | None, tuple[Segment, ...]]:
    """Return the collection whose items a pattern matches, and the part of the path after the item."""
    stars = [depth for depth, segment in enumerate(fact.segments) if segment.key == EVERY]
    if not stars:
        return None, ()
    last = stars[-1]
    return Path((*fact.segments[:last], Segment(fact.segments[last].word))), fact.segments[last + 1 :]


def _reading(shared: AgreedFact, path: Path, tree: Tree) -> Reading:
    """Return a node's reading at a path; for a path with a star, the reason if items may be missing, else Absent."""
    owner, _ = _owner(path)
    if owner is None:
        return tree.reading(path, shared.plane)
    hidden = tree.select(owner, shared.plane).unknown
    return hidden if hidden is not None else Absent("no further items")


def _vote(readings: Iterable[Reading], kind: Kind, quorum: float, expected: int) -> Vote:
    counts: dict[VoteKey, int] = {}
    words: dict[VoteKey, str] = {}
    for reading in readings:
        if not isinstance(reading, Unknown):
            key = _key(reading, kind)
            counts[key] = counts.get(key, 0) + 1
            words.setdefault(key, "absent" if isinstance(reading, Absent) else operator.spell(reading, kind))
    return Vote(expected, most(counts, expected, quorum), words, counts)


def _key(reading: Reading, kind: Kind) -> VoteKey:
    """Return a dictionary key that is equal for equal values; for settings that are integers, `1` equals `01`."""
    if isinstance(reading, Absent):
        return "absent", None
    if kind.type is Type.SETTING:
        return "value", operator.setting_key(str(reading))
    return "value", reading


def _evidence(path: Path, shared: AgreedFact, tree: Tree, vote: Vote) -> Evidence:
    reading = _reading(shared, path, tree)
    leaf = tree.leaf(path)
    source = leaf.source if leaf is not None else ""
    if isinstance(reading, Unknown):
        return Evidence(Status.UNKNOWN, str(path), "", "must be the same as on the other nodes", source, reading)
    seen = "absent" if isinstance(reading, Absent) else operator.spell(reading, shared.kind)
    if vote.right is None:
        why = Unknown(Reason.NO_CONSENSUS, vote.split)
        return Evidence(Status.UNKNOWN, str(path), seen, "must be the same as on the other nodes", source, why)
    expected = f"must be {vote.words[vote.right]} as on {vote.counts[vote.right]} of {vote.expected}"
    status = Status.PASS if _key(reading, shared.kind) == vote.right else Status.FAIL
    exact = "" if isinstance(reading, Absent) else operator.exact(reading, shared.kind)
    return Evidence(status, str(path), seen, expected, source, None, exact)
