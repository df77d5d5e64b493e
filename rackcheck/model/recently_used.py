"""Values by key within a budget of memory: those that were not used lately are dropped first."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")

LARGEST = 8
"""One value may take at most this part of the budget."""


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V
    size: int
    is_used: bool = False


class RecentlyUsed(Generic[V]):
    """The values that were used lately; safe for use by several threads. Sizes are in the unit of the budget.

    A value that was used since it was last considered is kept for another round (the second-chance algorithm), and so
    is a new one. To move a value to the end at each use would compute the hash of its key once more, and some keys are
    long.
    """

    def __init__(self, budget: int) -> None:
        self._budget, self._size = budget, 0
        self._kept: OrderedDict[Hashable, _Entry[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return a value, and note that it is used; None if it is not kept."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            kept.is_used = True
            return kept.value

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keep a value in place of an earlier one, unless it is too large for the budget."""
        if size > self._budget // LARGEST:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            fresh = self._kept[key] = _Entry(value, size)
            self._size += size - (before.size if before is not None else 0)
            while self._size > self._budget and len(self._kept) > 1:  # ends also if an interrupt miscounted
                oldest, entry = self._kept.popitem(last=False)
                if entry.is_used or entry is fresh:
                    entry.is_used = False
                    self._kept[oldest] = entry
                else:
                    self._size -= entry.size

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._kept.clear()
            self._size = 0
