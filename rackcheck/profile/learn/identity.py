"""Finds texts that identify a single machine, whatever fact they are in: no rule is learned from them."""

import re
from collections.abc import Callable, Iterable
from functools import cache

from rackcheck.anonymise.identities import is_loose, is_name, of_facts, together
from rackcheck.model.regex import regex
from rackcheck.model.tree import Tree


def telling(trees: Iterable[Tree]) -> Callable[[str], bool]:
    """Return a function that decides whether a text identifies a single machine."""
    identities = together(map(of_facts, trees))
    whole = identities.words | identities.names
    inside = {word for word in identities.words if not is_loose(word)} | {
        name for name in identities.names if is_name(name)
    }
    lengths = sorted({len(word) for word in inside})

    @cache
    def identifies(text: str) -> bool:
        low = text.strip().casefold()
        if low in whole or re.sub("[:.-]", "", low) in identities.digits or _ADDRESS.search(low) is not None:
            return True
        # Thousands of machines have thousands of serial numbers, but these have few distinct lengths.
        return any(low[at : at + size] in inside for size in lengths for at in range(len(low) - size + 1))

    return identifies


_ADDRESS = regex(r"\b(?:[0-9a-f]{2}[:-]){5,31}[0-9a-f]{2}\b|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
"""Matches a hardware address, a GUID or a UUID in lower case."""
