"""Values by key within a budget of memory: the least recently used are dropped first."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")

LARGEST = 8
"""One value may take at most this part of the budget."""


class RecentlyUsed(Generic[V]):
    """The values that were used last; safe for use by several threads. Sizes are in the unit of the budget."""

    def __init__(self, budget: int) -> None:
        self._budget, self._size = budget, 0
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return a value, which is then the last to be dropped; None if it is not kept."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            return kept[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keep a value in place of an earlier one, unless it is too large for the budget."""
        if size > self._budget // LARGEST:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = value, size
            self._size += size - (before[1] if before is not None else 0)
            while self._size > self._budget:
                self._size -= self._kept.popitem(last=False)[1][1]
