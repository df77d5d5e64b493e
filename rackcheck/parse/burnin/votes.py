"""Results that must be the same bits wherever they are computed: the odd ones, by votes and by a golden. Pure.

Equal work runs on the SMs of a GPU, the GPUs of a node, the nodes of a fleet. At each level the result of more than
half of the expected voters is right; a voter without a result counts as if it differed, so missing results can cost a
majority and never make one. With two voters a disagreement blames neither. The golden is the result that was computed
when the kernels were built, and outranks the votes; but if most of a fleet differs from it, that is a finding of its
own: the kernels, the driver or the golden is wrong, and no part.

The result of the widest majority counts: if most of a node's GPUs err alike, the fleet blames the node and not those
GPUs of it that are right.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

VotePlace = tuple[str, ...]
"""Where a result was computed, the widest first: `("n1",)`, `("n1", "gpu/0")` or `("n1", "gpu/0", "sm/17")`."""


class VoteOutcome(StrEnum):
    """The outcome for one voter's result."""

    AGREES = "agrees"
    ODD = "odd"
    DISPUTED = "disputed"
    NOT_TESTED = "not tested"


class Name(StrEnum):
    """The kind of a finding."""

    ODD = "odd"
    DISPUTED = "disputed"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class VoteFinding:
    """One finding: an odd voter, voters that disagree without one to blame, or a majority against the golden.

    `at` is the odd one, or whose voters disagree (empty: the fleet's). `got` is the hash it has, `want` the one it
    should have, empty if unknown. `agree` of `voters` have `want`, those expected beside it; 0 of 0 if only the golden
    has it.
    """

    name: Name
    at: VotePlace
    got: str
    want: str
    agree: int = 0
    voters: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    """The votes on one piece of work: the right result, the outcome of every voter, and the findings."""

    right: str | None
    said: Mapping[VotePlace, VoteOutcome]
    findings: tuple[VoteFinding, ...]


def count(results: Mapping[VotePlace, str | None], golden: str | None = None) -> Count:
    """Count the votes on one piece of work: the hash of every expected voter, None if it has no result.

    The order of the voters affects only the order of the result. Raises ValueError if places are of different depths,
    as an SM is no peer of a GPU, or empty.
    """
    depths = {len(place) for place in results}
    if len(depths) > 1 or 0 in depths:
        raise ValueError(f"voters must stand at one level: places have {', '.join(map(str, sorted(depths)))} parts")
    fleet = _grown(results, ())
    alike = Counter(word for word in results.values() if word is not None)
    if golden is not None and fleet.right not in (None, golden) and len(results) > 1:
        return _contradicted(results, fleet, golden)
    if golden is not None and len(results) == 1:
        fleet = replace(fleet, right=None)
    right = golden if fleet.right is None else fleet.right
    counting = _Counting(fleet, golden, alike, alone=len(results) == 1)
    if right is None:
        counting.apart(fleet)
    else:
        counting.hold(fleet, right, fleet)
    return Count(right, {place: counting.said[place] for place in results}, tuple(counting.findings))


def _contradicted(results: Mapping[VotePlace, str | None], fleet: "_Group", golden: str) -> Count:
    """Return the count for a majority against the golden; only a voter with neither result is odd."""
    right = fleet.right or ""
    findings = [VoteFinding(Name.CONTRADICTED, (), right, golden, fleet.agree, len(fleet.parts))]
    values: dict[VotePlace, VoteOutcome] = {}
    for place, word in results.items():
        values[place] = VoteOutcome.NOT_TESTED if word is None else VoteOutcome.DISPUTED
        if word not in (None, right, golden):
            values[place] = VoteOutcome.ODD
            findings.append(VoteFinding(Name.ODD, place, word or "", golden))
    return Count(right, values, tuple(findings))


@dataclass(frozen=True, slots=True)
class _Group:
    """A voter, or voters that are peers: the result of more than half of those expected, and how many have it."""

    at: VotePlace
    right: str | None
    agree: int = 1
    parts: Sequence["_Group"] = ()

    def could_say(self, word: str) -> bool:
        """Return whether this would be its result if all missing results were this one."""
        if not self.parts:
            return self.right in (None, word)
        return sum(part.could_say(word) for part in self.parts) * 2 > len(self.parts)

    def voters(self) -> Iterator["_Group"]:
        """Yield every voter below."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.voters()


def _grown(results: Mapping[VotePlace, str | None], at: VotePlace) -> _Group:
    """Group voters by their places, from the parts up."""
    if at in results:
        return _Group(at, results[at])
    below: dict[VotePlace, dict[VotePlace, str | None]] = {}
    for place, word in results.items():
        below.setdefault(place[: len(at) + 1], {})[place] = word
    parts = [_grown(inner, place) for place, inner in below.items()]
    words = Counter(part.right for part in parts if part.right is not None)
    right = next((word for word, agree in words.items() if agree * 2 > len(parts)), None)
    return _Group(at, right, words[right] if right is not None else 0, parts)


@dataclass
class _Counting:
    """The outcomes so far for the voters of a fleet."""

    fleet: _Group
    golden: str | None
    alike: Counter[str]
    alone: bool
    said: dict[VotePlace, VoteOutcome] = field(default_factory=dict)
    findings: list[VoteFinding] = field(default_factory=list)

    def hold(self, group: _Group, right: str, peers: _Group) -> None:
        """Compare a group with the result that wider votes, or the golden, found right."""
        if group.right not in (None, right):
            blamed = self._blamable(group.right or "", right)
            name = Name.ODD if blamed else Name.DISPUTED
            agree, voters = (peers.agree, len(peers.parts)) if peers.right == right else (0, 0)
            self.findings.append(VoteFinding(name, group.at, group.right or "", right, agree, voters))
            for voter in group.voters():
                self.said[voter.at] = self._word(voter, right, VoteOutcome.ODD if blamed else VoteOutcome.DISPUTED)
        elif not group.parts:
            self.said[group.at] = self._word(group, right, VoteOutcome.ODD)
        for part in group.parts if group.right in (None, right) else ():
            self.hold(part, right, group)

    def apart(self, group: _Group, above: VoteOutcome = VoteOutcome.NOT_TESTED) -> None:
        """Judge a group without a right result from a wider one: by its own majority, if it has one."""
        words = Counter(part.right for part in group.parts if part.right is not None)
        if group.right is None and len(words) > 1:
            above = VoteOutcome.DISPUTED
            (got, agree), (want, _) = sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:2]
            self.findings.append(VoteFinding(Name.DISPUTED, group.at, got, want, agree, len(group.parts)))
        if not group.parts:
            self.said[group.at] = above if group.right is not None else VoteOutcome.NOT_TESTED
        for part in group.parts:
            if group.right is None or part.right is None:
                self.apart(part, above)
            elif part.right != group.right or above is VoteOutcome.NOT_TESTED:
                self.hold(part, group.right, group)
            else:
                self.apart(part, above)

    def _blamable(self, word: str, right: str) -> bool:
        """Return whether this result cannot become the fleet's, against the golden, once the missing ones are known."""
        return self.alone or right != self.golden or self.fleet.right == right or not self.fleet.could_say(word)

    def _word(self, voter: _Group, right: str, otherwise: VoteOutcome) -> VoteOutcome:
        if voter.right is None:
            return VoteOutcome.NOT_TESTED
        if voter.right != right:
            return otherwise
        return VoteOutcome.AGREES if right == self.golden or self.alike[right] > 1 else VoteOutcome.NOT_TESTED
