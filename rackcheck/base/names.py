"""Names that are near one another: parts in another order, and the profile that is meant by a fragment's name. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import permutations

PARTS = 6
"""Parts of a name that are put in another order: 720 orders; no name that ships has more."""

FEW = 3
"""Profiles that are named where several may be meant."""

_BETWEEN = re.compile(r"[^a-z0-9]+")


def transposed(word: str, known: Iterable[str]) -> str:
    """Give the first known name of the same parts in another order, however they are joined; empty where none is."""
    wanted = _joined(word)
    return next((each for each in known if wanted and _of_these_parts(wanted, each)), "")


def _of_these_parts(wanted: str, name: str) -> bool:
    """Whether the parts of a name make this word in some order."""
    if sorted(wanted) != sorted(_joined(name)):
        return False
    parts = [part for part in _BETWEEN.split(name.casefold()) if part]
    return len(parts) <= PARTS and any("".join(order) == wanted for order in permutations(parts))


def _joined(word: str) -> str:
    return _BETWEEN.sub("", word.casefold())


def meant(name: str, verdicts: Mapping[str, Collection[str]]) -> str:
    """Name the profile that somebody meant who typed a fragment's name; empty where there is none.

    `verdicts` are the profiles that give a verdict, each with all fragments that are in it: the one of the same parts,
    else the first few that the fragment is in.
    """
    near = transposed(name, sorted(verdicts))
    holders = sorted(each for each, fragments in verdicts.items() if name in fragments)
    return near or " or ".join(filter(None, (", ".join(holders[:FEW][:-1]), *holders[:FEW][-1:])))
