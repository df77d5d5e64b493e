"""Similar names: which known names the user meant by a mistyped one, or by the name of a fragment. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations, product

PARTS = 6
"""Names of up to this many parts are tried in every order (6 parts: 720 orders); no shipped name has more parts."""

FEW = 3
"""Maximum number of names that are suggested."""

BEGUN = 3
"""Minimum length of a word or of a part of it that is compared with the beginnings of names."""

LONGEST = 80
"""Maximum length of a word that is compared letter by letter."""

SYNONYMS = (
    ("smt", "hyperthreading", "ht"), ("turbo", "boost"), ("virtualization", "vt", "svm"),
    ("memory", "mem", "ram", "vm"), ("nic", "hca", "net", "ethernet"), ("infiniband", "ib"), ("roce", "rocev2"),
    ("psu", "ps", "supply"), ("nvme", "ssd", "disk", "drive"), ("rate", "speed", "bandwidth", "busbw"),
    ("clock", "freq", "frequency"), ("firmware", "fw"), ("temperature", "temp", "thermal"), ("kubernetes", "k8s"),
    ("epyc", "amd"), ("xeon", "intel"), ("hopper", "h100", "h200"), ("xid", "sxid"), ("pci", "pcie"),
    ("markdown", "md"), ("sim", "simulate", "simulation", "simulator"),
)  # fmt: skip
"""Words of the field for the same thing, or for a part of it, as they are used in names."""

_BETWEEN = re.compile(r"[^a-z0-9]+")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")


def similar(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names, at most `FEW`, that the user may have meant by `word`; case is ignored.

    The first of these that finds any name decides: the word with other zeros before numbers, names that begin with the
    word, the same parts in another order, the same with a synonym, names with all parts of the word, and the names with
    the fewest differences in spelling.
    """
    small, names = word.casefold(), {each.casefold(): each for each in known}
    begun = [each for each in names if len(small) >= BEGUN and each.startswith(small)]
    found = _with_other_zeros(small, names) or sorted(begun, key=lambda each: (len(each), each))
    for candidates in (_reordered, _renamed, _with_parts, _nearest):
        found = found or candidates(small, names)
    return tuple(names[each] for each in found[:FEW])


def _with_other_zeros(word: str, known: Iterable[str]) -> list[str]:
    """Return the names with the same numbers, whatever zeros are before them: `dgx03` for `dgx3`."""
    return [each for each in known if _ZEROS.sub("", each) == _ZEROS.sub("", word)]


def transposed(word: str, known: Iterable[str]) -> str:
    """Return the first known name that has the same parts as `word` in any order; empty if there is none."""
    return next(iter(_reordered(word, known)), "")


def _reordered(word: str, known: Iterable[str]) -> list[str]:
    wanted = _joined(word)
    return [each for each in known if wanted and _of_these_parts(wanted, each)]


def _of_these_parts(wanted: str, name: str) -> bool:
    """Whether the parts of `name`, joined in some order, give the word `wanted`."""
    if sorted(wanted) != sorted(_joined(name)):
        return False
    parts = [part for part in _BETWEEN.split(name.casefold()) if part]
    return len(parts) <= PARTS and any("".join(order) == wanted for order in permutations(parts))


def _joined(word: str) -> str:
    return _BETWEEN.sub("", word.casefold())


def _renamed(word: str, known: Collection[str]) -> list[str]:
    """Return the names that have the parts of the word, or a synonym of each."""
    parts = _parts(word)
    if len(parts) > PARTS:
        return []
    choices = [(part, *_same(part)) for part in parts]
    words = [other for other in product(*choices) if list(other) != parts]
    return _shortest(each for each in known if any(_has_parts(each, other) for other in words))


def _same(part: str) -> list[str]:
    return [each for group in SYNONYMS if part in group for each in group if each != part]


def _with_parts(word: str, known: Collection[str]) -> list[str]:
    """Return the names that have all parts of the word, each of them whole or its beginning."""
    parts = _parts(word)
    if not parts or any(len(part) < BEGUN for part in parts):
        return []
    return _shortest(each for each in known if _has_parts(each, parts))


def _shortest(names: Iterable[str]) -> list[str]:
    """Return the names with the fewest parts first; equal ones keep their order."""
    return sorted(names, key=lambda each: len(_parts(each)))


def _has_parts(name: str, parts: Sequence[str]) -> bool:
    left = _parts(name)
    for part in parts:
        at = next((i for i, each in enumerate(left) if each.startswith(part)), None)
        if at is None:
            return False
        left.pop(at)
    return True


def _parts(word: str) -> list[str]:
    return [part for part in _BETWEEN.split(word) if part]


def _nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the names with the fewest differences, at most one in three letters; empty if more than `FEW` tie.

    One more is allowed in a word without digits, because one digit more or less names another model.
    """
    if len(word) > LONGEST:
        return []
    letters = not any(letter.isdigit() for letter in word)
    most = (len(word) + letters) // 3
    found = [(differences(word, each, most), each) for each in known if abs(len(each) - len(word)) <= most]
    least = min((count for count, _ in found), default=most + 1)
    closest = [each for count, each in found if count == least <= most]
    return closest if len(closest) <= FEW else []


def differences(one: str, other: str, most: int) -> int:
    """Return the number of letters to add, remove, replace or exchange with their neighbour; `most` + 1 if above.

    The optimal string alignment distance: https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, its in enumerate(other, start=1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return min(last[-1], most + 1)


def meant(name: str, verdicts: Mapping[str, Collection[str]]) -> str:
    """Return the profile that the user meant by the name of a fragment; empty if there is none.

    `verdicts` are the profiles that give a verdict, each with all fragments it includes. The result is the profile
    whose name has the same parts as `name`, else the first few profiles that include the fragment.
    """
    near = transposed(name, sorted(verdicts))
    holders = sorted(each for each, fragments in verdicts.items() if name in fragments)
    return near or either(holders[:FEW])


def either(names: Sequence[str]) -> str:
    """Format names as a choice: `A`, `A or B`, `A, B or C`; empty if there are none."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
