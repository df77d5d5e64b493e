"""All that came of one BMC, weighed: bytes, and values of JSON, which are what takes memory."""

import threading

from rackcheck.model.fact import Reason, Unknown
from rackcheck.transport.redfish.answer import values
from rackcheck.transport.redfish.target import Limits


class VisitUsage:
    """What is held of a BMC so far, against its limits; from several threads."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size = self.values = 0
        self.tried: dict[str, tuple[int, int]] = {}
        self.lock = threading.Lock()

    def add(self, data: bytes, trial: str | None = None) -> Unknown | None:
        """Count one answer; gives why it is too much. That to a `trial`, named by its URI, may be taken back."""
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
        """Take back what a trial brought, as it is not kept."""
        with self.lock:
            size, counted = self.tried.pop(trial, (0, 0))
            self.size -= size
            self.values -= counted
