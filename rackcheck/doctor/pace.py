"""Doctor's time limits: a few seconds for everything, or in proportion to a given number of seconds."""

from dataclasses import dataclass, replace

from rackcheck.doctor import bmc
from rackcheck.transport import redfish, wire

SECONDS = 8.0
"""Seconds that one operating system has after the connection, unless another number is given."""


@dataclass(frozen=True)
class VisitLimits:
    """Bounds of a visit, in seconds; `seconds` is how long one plane may take, None for the defaults."""

    seconds: float | None = None

    @property
    def system(self) -> wire.ShellLimits:
        """The limits of one operating system."""
        return wire.ShellLimits(connect=self._connect, deadline=self.seconds or SECONDS, cap=1 << 20)

    @property
    def question(self) -> float:
        """Seconds that one command may take on a node: less than the whole, so that the others can still finish."""
        return round((self.seconds or SECONDS) * 5 / 8, 1)

    @property
    def bmc(self) -> redfish.Limits:
        """The limits of one BMC."""
        if self.seconds is None:
            return bmc.LIMITS
        part = self.seconds / bmc.LIMITS.deadline
        read, answer = bmc.LIMITS.read * part, bmc.LIMITS.answer * part
        return replace(bmc.LIMITS, connect=self._connect, read=read, answer=answer, deadline=self.seconds)

    @property
    def patience(self) -> float:
        """Seconds after which a plane is abandoned, whatever blocks it: more than all its own limits."""
        return max(20.0, 12.0 + 1.5 * (self.seconds or 0))

    @property
    def _connect(self) -> float:
        return min(3.0 if self.seconds is None else max(1.0, self.seconds * 3 / 8), wire.ShellLimits().connect)
