"""Combines results of many nodes: writes names as node sets, groups identical results, names the nodes that differ."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from rackcheck.model.text import natural

K = TypeVar("K", bound=Hashable)


def fold(names: Iterable[str]) -> str:
    """Write node names as a node set: `dgx[01-03,07],sw1`."""
    series: dict[tuple[str, str, int], list[int]] = {}
    parts: list[str] = []
    for name in sorted(set(names), key=natural):
        match = re.fullmatch(r"(.*?)([0-9]{1,18})([^0-9]*)", name)
        if match is None:
            parts.append(name)
            continue
        head, digits, tail = match.groups()
        # 1 and 10 are folded into one range; 01 keeps its width, so that the set unfolds to exactly the same names.
        width = len(digits) if digits.startswith("0") else 0
        series.setdefault(_home((head, tail, width), len(digits), series), []).append(int(digits))
    parts += [_series(key, numbers) for key, numbers in series.items()]
    return ",".join(sorted(parts, key=lambda part: natural(part.replace("[", ""))))


def _home(
    key: tuple[str, str, int], digits: int, series: Mapping[tuple[str, str, int], list[int]]
) -> tuple[str, str, int]:
    """Return the series of a number; without a leading zero, it joins a padded series of its length: 10 joins 01-09."""
    padded = (key[0], key[1], digits)
    return padded if key[2] == 0 and padded in series else key


def _series(key: tuple[str, str, int], numbers: Sequence[int]) -> str:
    head, tail, width = key
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    spelt = [f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}" for a, b in runs]
    if len(runs) == 1 and runs[0][0] == runs[0][1]:
        return f"{head}{spelt[0]}{tail}"
    return f"{head}[{','.join(spelt)}]{tail}"


def groups(nodes: Iterable[str], key: Callable[[str], K]) -> list[tuple[K, list[str]]]:
    """Group nodes with identical results, the largest group first."""
    found: dict[K, list[str]] = {}
    for node in sorted(nodes, key=natural):
        found.setdefault(key(node), []).append(node)
    return sorted(found.items(), key=lambda group: -len(group[1]))


FEW = 3
"""Maximum number of similar texts that are shown separately."""

_NUMBERED = re.compile(r"\S*[0-9]\S*")


def general(text: str) -> str:
    """Return a text without what differs from node to node: words with a digit (addresses, names, fingerprints)."""
    return _NUMBERED.sub("…", text)


def similar(texts: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Merge similar texts, each with the names of its nodes, if there are more than `FEW` of them.

    In the merged text, `…` replaces each word that is not the same in all of them.
    """
    kinds: dict[str, list[str]] = {}
    for text in texts:
        kinds.setdefault(general(text), []).append(text)
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        kind = kinds[general(text)]
        merged = kind if len(kind) > FEW else [text]
        if text is merged[0]:
            found[_common(merged)] = tuple(name for each in merged for name in texts[each])
    return found


def _common(texts: Sequence[str]) -> str:
    words = zip(*(text.split(" ") for text in texts), strict=True)
    return " ".join(each[0] if len(set(each)) == 1 else "…" for each in words)


def alike(answers: Mapping[str, Hashable]) -> str:
    """Format how many nodes are alike and which differ: `62 of 72 alike; dgx05 differs`."""
    gathered = groups(answers, answers.__getitem__)
    if len(gathered) <= 1:
        return f"all {len(answers)} alike" if len(answers) > 1 else "one node"
    if len(gathered[0][1]) == 1:
        return f"all {len(answers)} differ"
    odd = [node for _, nodes in gathered[1:] for node in nodes]
    return f"{len(gathered[0][1])} of {len(answers)} alike; {fold(odd)} {'differs' if len(odd) == 1 else 'differ'}"
