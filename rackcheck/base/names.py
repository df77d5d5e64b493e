"""Similar names: names with the same parts in another order, and profiles that a fragment's name may mean. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import permutations

PARTS = 6
"""Names of up to this many parts are tried in every order (6 parts: 720 orders); no shipped name has more parts."""

FEW = 3
"""Maximum number of profiles that are suggested in place of a fragment."""

_BETWEEN = re.compile(r"[^a-z0-9]+")


def transposed(word: str, known: Iterable[str]) -> str:
    """Return the first known name that has the same parts as `word` in any order; empty if there is none."""
    wanted = _joined(word)
    return next((each for each in known if wanted and _of_these_parts(wanted, each)), "")


def _of_these_parts(wanted: str, name: str) -> bool:
    """Whether the parts of `name`, joined in some order, give the word `wanted`."""
    if sorted(wanted) != sorted(_joined(name)):
        return False
    parts = [part for part in _BETWEEN.split(name.casefold()) if part]
    return len(parts) <= PARTS and any("".join(order) == wanted for order in permutations(parts))


def _joined(word: str) -> str:
    return _BETWEEN.sub("", word.casefold())


def meant(name: str, verdicts: Mapping[str, Collection[str]]) -> str:
    """Return the profile that the user meant by the name of a fragment; empty if there is none.

    `verdicts` are the profiles that give a verdict, each with all fragments it includes. The result is the profile
    whose name has the same parts as `name`, else the first few profiles that include the fragment.
    """
    near = transposed(name, sorted(verdicts))
    holders = sorted(each for each, fragments in verdicts.items() if name in fragments)
    return near or " or ".join(filter(None, (", ".join(holders[:FEW][:-1]), *holders[:FEW][-1:])))
