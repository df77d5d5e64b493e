"""Counts the data received from one BMC: bytes, and JSON values, whose number determines the memory used."""

import threading

from rackcheck.model.fact import Reason, Unknown
from rackcheck.transport.redfish.answer import values
from rackcheck.transport.redfish.target import Limits


class VisitUsage:
    """The amount of data received from a BMC so far, with limits; thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size = self.values = 0
        self.tried: dict[str, tuple[int, int]] = {}
        self.lock = threading.Lock()

    def add(self, data: bytes, trial: str | None = None) -> Unknown | None:
        """Count one reply; return the reason if a limit is exceeded, else None.

        If `trial` is a URI, `forget` can subtract this reply later.
        """
        size, counted = len(data), values(data)
        with self.lock:
            self.size += size
            self.values += counted
            if trial is not None:
                self.tried[trial] = size, counted
        if self.size > self.limits.total:
            return Unknown(Reason.TOO_LARGE, f"more than {self.limits.total >> 10} KiB from this BMC")
        if self.values > self.limits.values:
            return Unknown(Reason.TOO_LARGE, f"more than {self.limits.values} values from this BMC")
        return None

    def forget(self, trial: str) -> None:
        """Subtract a discarded reply that `add` has counted with this `trial`."""
        with self.lock:
            size, counted = self.tried.pop(trial, (0, 0))
            self.size -= size
            self.values -= counted
