"""How long doctor waits: a few seconds for everything, or in proportion to what somebody names."""

from dataclasses import dataclass, replace

from rackcheck.doctor import bmc
from rackcheck.transport import redfish, wire

SECONDS = 8.0
"""Seconds that one operating system has after we have connected, unless somebody names others."""


@dataclass(frozen=True)
class VisitLimits:
    """Bounds of a visit, in seconds; `seconds` is how long one plane may take, None for doctor's own few."""

    seconds: float | None = None

    @property
    def system(self) -> wire.ShellLimits:
        """What one operating system may cost."""
        return wire.ShellLimits(connect=self._connect, deadline=self.seconds or SECONDS, cap=1 << 20)

    @property
    def question(self) -> float:
        """How long one question may take on a node: less than the whole, so that the others are still heard."""
        return round((self.seconds or SECONDS) * 5 / 8, 1)

    @property
    def bmc(self) -> redfish.Limits:
        """What one BMC may cost."""
        if self.seconds is None:
            return bmc.LIMITS
        part = self.seconds / bmc.LIMITS.deadline
        read, answer = bmc.LIMITS.read * part, bmc.LIMITS.answer * part
        return replace(bmc.LIMITS, connect=self._connect, read=read, answer=answer, deadline=self.seconds)

    @property
    def patience(self) -> float:
        """When a plane is given up whatever holds it: more than all its own limits."""
        return max(20.0, 12.0 + 1.5 * (self.seconds or 0))

    @property
    def _connect(self) -> float:
        return min(3.0 if self.seconds is None else max(1.0, self.seconds * 3 / 8), wire.ShellLimits().connect)
