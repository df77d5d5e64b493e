"""The size of all data from one BMC: bytes, and JSON values, which determine the memory."""

import threading

from rackcheck.model.fact import Reason, Unknown
from rackcheck.transport.redfish.answer import values
from rackcheck.transport.redfish.target import Limits


class VisitUsage:
    """The data held of a BMC so far, against its limits; thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size = self.values = 0
        self.tried: dict[str, tuple[int, int]] = {}
        self.lock = threading.Lock()

    def add(self, data: bytes, trial: str | None = None) -> Unknown | None:
        """Count one reply; returns why it is too much, if so. That of a `trial`, named by its URI, can be undone."""
        size, counted = len(data), values(data)
        with self.lock:
            self.size += size
            self.values += counted
            if trial is not None:
                self.tried[trial] = size, counted
        if self.size > self.limits.total:
            return Unknown(Reason.TOO_LARGE, f"more than {self.limits.total >> 10} KiB of this BMC")
        if self.values > self.limits.values:
            return Unknown(Reason.TOO_LARGE, f"more than {self.limits.values} values of this BMC")
        return None

    def forget(self, trial: str) -> None:
        """Subtract the data of a trial, which is not kept."""
        with self.lock:
            size, counted = self.tried.pop(trial, (0, 0))
            self.size -= size
            self.values -= counted
