"""Counts the data received from one BMC: bytes, JSON values, and the memory that the parsed resources take."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.regex import regex
from rackcheck.transport.memory import Allowance
from rackcheck.transport.redfish.answer import values
from rackcheck.transport.redfish.target import Limits

VALUE = 300
"""Maximum memory of one JSON value in bytes, besides its text: an object with one property of a short name."""

WHILE_PARSED = 2
"""Number of times that a resource is in memory in addition while it is parsed: as a text, and before it is scrubbed."""


class VisitUsage:
    """The amount of data received from a BMC so far, with limits; thread-safe."""

    def __init__(self, limits: Limits, allowance: Allowance | None = None) -> None:
        self.limits = limits
        self.allowance = allowance or Allowance()
        self.size = self.values = 0
        self.tried: dict[str, tuple[int, int, int]] = {}
        self.lock = threading.Lock()

    @contextmanager
    def parsing(self, data: bytes, trial: str | None = None) -> Iterator[Unknown | None]:
        """Count one reply, and hold the memory to parse it within the block; yield the reason if there is none."""
        size, counted = len(data), values(data)
        weight = _width(data) * size + VALUE * (1 + counted)
        why = self._add(size, counted, weight, trial) or self.allowance.add((1 + WHILE_PARSED) * weight)
        if why is not None:
            yield why
            return
        try:
            yield None
        finally:
            self.allowance.give(WHILE_PARSED * weight)

    def _add(self, size: int, counted: int, weight: int, trial: str | None) -> Unknown | None:
        """Count one reply; return the reason if a limit is exceeded, else None.

        If `trial` is a URI, `forget` can subtract this reply later.
        """
        with self.lock:
            self.size += size
            self.values += counted
            if trial is not None:
                self.tried[trial] = size, counted, weight
        if self.size > self.limits.total:
            return Unknown(Reason.TOO_LARGE, f"more than {self.limits.total >> 10} KiB from this BMC")
        if self.values > self.limits.values:
            return Unknown(Reason.TOO_LARGE, f"more than {self.limits.values} values from this BMC")
        return None

    def forget(self, trial: str) -> None:
        """Subtract a discarded reply that `add` has counted with this `trial`."""
        with self.lock:
            size, counted, weight = self.tried.pop(trial, (0, 0, 0))
            self.size -= size
            self.values -= counted
        self.allowance.give(weight)


def _width(data: bytes) -> int:
    """Return the maximum number of bytes in memory for each byte of a JSON body.

    One character outside the BMP, also as an escape, makes each character of its text four bytes.
    """
    if data.isascii() and b"\\u" not in data:
        return 1
    return 4 if _ASTRAL.search(data) else 2


_ASTRAL = regex(rb"[\xf0-\xf4]|\\u[dD]")
