"""How many cases the long searches try: a tenth of them or a few in a usual run, all of them with RACKCHECK_DEEP=1.

`make full` sets it. With all cases these searches took a third of the time of all tests.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")

DEEP = os.environ.get("RACKCHECK_DEEP", "") not in ("", "0")
SHARE = 10
REASON = "a long search: make full"


def first(usual: int, everything: Iterable[Case]) -> list[Case]:
    """Return the cases that are tried in this run: the first `usual` ones, or all of them."""
    return list(everything)[: None if DEEP else usual]


def cases(everything: int) -> int:
    """Return how many of these cases are tried in this run, at least one."""
    return everything if DEEP else max(1, everything // SHARE)


def examples(usual: int, everything: int) -> int:
    """Return how many random examples are tried in this run: the `usual` number, or all of them."""
    return everything if DEEP else usual
