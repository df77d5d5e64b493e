"""Finds wrong results of work that must return the same bits everywhere, by majority vote and a golden result. Pure.

The same work runs on the SMs of a GPU, the GPUs of a node and the nodes of a fleet; each SM, GPU or node is a voter. At
each level (SMs, GPUs, nodes), the result of more than half of the expected voters is taken as right. A voter without a
result counts as if it differed, so missing results can prevent a majority but never create one. If a group has only two
voters and they disagree, their vote blames neither.

The golden result was computed when the kernels were built, and takes precedence over the votes. If most of a fleet
differs from the golden result, this is a separate finding: the kernels, the driver or the golden result is wrong, not
the hardware.

The widest majority decides: if most GPUs of a node return the same wrong result, the fleet's majority blames the node,
not those GPUs of the node whose result is right.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

VotePlace = tuple[str, ...]
"""Names of the node, GPU and SM that computed a result: `("n1",)`, `("n1", "gpu/0")` or `("n1", "gpu/0", "sm/17")`."""


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
    """One finding: a voter differs, voters disagree so none is blamed, or a majority contradicts the golden result.

    `at` is the voter that differs, or the group whose voters disagree; it is empty for the whole fleet. `got` is the
    hash that the voter or the group computed, and `want` is the expected hash. If voters disagree without a majority,
    `got` and `want` are the two most common hashes. `agree` is the number of the `voters` expected voters whose hash is
    that of the majority, or the most common hash if there is no majority. `agree` and `voters` are 0 if the expected
    hash is known only from the golden result.
    """

    name: Name
    at: VotePlace
    got: str
    want: str
    agree: int = 0
    voters: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    """The votes on one piece of work: the right result or None, the outcome of every voter, and the findings."""

    right: str | None
    outcomes: Mapping[VotePlace, VoteOutcome]
    findings: tuple[VoteFinding, ...]


def count(results: Mapping[VotePlace, str | None], golden: str | None = None) -> Count:
    """Count the votes on one piece of work; `results` has the hash of each expected voter, or None if it has no result.

    The order of the voters affects only the order of the result. Raises ValueError if the path of a voter is empty, or
    if voters are on different levels, such as an SM and a GPU.
    """
    depths = {len(place) for place in results}
    if len(depths) > 1 or 0 in depths:
        lengths = ", ".join(map(str, sorted(depths)))
        raise ValueError(f"all voters must be nodes, all GPUs or all SMs: their paths have lengths {lengths}")
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
    return Count(right, {place: counting.outcomes[place] for place in results}, tuple(counting.findings))


def _contradicted(results: Mapping[VotePlace, str | None], fleet: "_Group", golden: str) -> Count:
    """Return the votes of a fleet whose majority differs from the golden result; a result that is neither is `ODD`."""
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
    """A voter, or a group of voters that should have the same result.

    `right` is the result of the voter, or of more than half of the group's members; `agree` is the number of these
    members.
    """

    at: VotePlace
    right: str | None
    agree: int = 1
    parts: Sequence["_Group"] = ()

    def could_be(self, word: str) -> bool:
        """Return whether the hash `word` would be the group's result if every missing result were this hash."""
        if not self.parts:
            return self.right in (None, word)
        return sum(part.could_be(word) for part in self.parts) * 2 > len(self.parts)

    def voters(self) -> Iterator["_Group"]:
        """Yield every voter of the group."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.voters()


def _grown(results: Mapping[VotePlace, str | None], at: VotePlace) -> _Group:
    """Build the tree of voters below `at`; the result of each group is the majority of its members' results."""
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
    """Collects the outcomes and the findings for the voters of a fleet."""

    fleet: _Group
    golden: str | None
    alike: Counter[str]
    alone: bool
    outcomes: dict[VotePlace, VoteOutcome] = field(default_factory=dict)
    findings: list[VoteFinding] = field(default_factory=list)

    def hold(self, group: _Group, right: str, peers: _Group) -> None:
        """Compare a group with the right result, which is known from a wider vote or from the golden result."""
        if group.right not in (None, right):
            blamed = self._blamable(group.right or "", right)
            name = Name.ODD if blamed else Name.DISPUTED
            agree, voters = (peers.agree, len(peers.parts)) if peers.right == right else (0, 0)
            self.findings.append(VoteFinding(name, group.at, group.right or "", right, agree, voters))
            for voter in group.voters():
                self.outcomes[voter.at] = self._word(voter, right, VoteOutcome.ODD if blamed else VoteOutcome.DISPUTED)
        elif not group.parts:
            self.outcomes[group.at] = self._word(group, right, VoteOutcome.ODD)
        for part in group.parts if group.right in (None, right) else ():
            self.hold(part, right, group)

    def apart(self, group: _Group, above: VoteOutcome = VoteOutcome.NOT_TESTED) -> None:
        """Judge a group by its own majority, if it has one, because no wider vote has determined the right result."""
        words = Counter(part.right for part in group.parts if part.right is not None)
        if group.right is None and len(words) > 1:
            above = VoteOutcome.DISPUTED
            (got, agree), (want, _) = sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:2]
            self.findings.append(VoteFinding(Name.DISPUTED, group.at, got, want, agree, len(group.parts)))
        if not group.parts:
            self.outcomes[group.at] = above if group.right is not None else VoteOutcome.NOT_TESTED
        for part in group.parts:
            if group.right is None or part.right is None:
                self.apart(part, above)
            elif part.right != group.right or above is VoteOutcome.NOT_TESTED:
                self.hold(part, group.right, group)
            else:
                self.apart(part, above)

    def _blamable(self, word: str, right: str) -> bool:
        """Return whether a voter can be blamed for its result `word`.

        If the right result is known only from the golden result, a voter is not blamed if missing results could have
        made `word` the result of the fleet's majority.
        """
        return self.alone or right != self.golden or self.fleet.right == right or not self.fleet.could_be(word)

    def _word(self, voter: _Group, right: str, otherwise: VoteOutcome) -> VoteOutcome:
        if voter.right is None:
            return VoteOutcome.NOT_TESTED
        if voter.right != right:
            return otherwise
        return VoteOutcome.AGREES if right == self.golden or self.alike[right] > 1 else VoteOutcome.NOT_TESTED
