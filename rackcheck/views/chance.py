"""How likely a number of failing nodes with a trait is by chance, and which of many such numbers are not. Pure."""

from collections.abc import Iterable
from math import comb

FALSE = 0.01
"""The share of the associations of a run that may be due to chance (Benjamini and Hochberg 1995)."""


def tail(found: int, trait: int, failing: int, nodes: int) -> float:
    """Return the probability that at least `found` of `trait` nodes are among `failing` of all `nodes` by chance.

    It is the upper tail of the hypergeometric distribution, as in Fisher's exact test.
    """
    most = min(trait, failing)
    ways = sum(comb(trait, each) * comb(nodes - trait, failing - each) for each in range(found, most + 1))
    return ways / comb(nodes, failing)


def cut(chances: Iterable[float], tests: int) -> float:
    """Return the largest probability that counts as no chance among so many tests; 0 if there is none.

    `chances` may leave out tests whose probability is near 1.
    """
    best = 0.0
    for rank, chance in enumerate(sorted(chances), start=1):
        if chance <= FALSE * rank / max(tests, 1):
            best = chance
    return best
