"""Doctor's time limits: a few seconds in total, or limits in proportion to the seconds that the user sets."""

from dataclasses import dataclass, replace

from rackcheck.doctor import bmc
from rackcheck.transport import redfish, wire

SECONDS = 8.0
"""Default time limit, in seconds, of the visit to one operating system after the connection is open."""


@dataclass(frozen=True)
class VisitLimits:
    """Time limits of a visit, in seconds; `seconds` is how long one plane may take, None for the defaults."""

    seconds: float | None = None

    @property
    def system(self) -> wire.ShellLimits:
        """Return the limits for the checks of one operating system: times in seconds, and output in bytes."""
        return wire.ShellLimits(connect=self._connect, deadline=self.seconds or SECONDS, cap=1 << 20)

    @property
    def question(self) -> float:
        """Return the time limit of one command on a node: shorter than the total, so that other commands can finish."""
        return round((self.seconds or SECONDS) * 5 / 8, 1)

    @property
    def bmc(self) -> redfish.Limits:
        """Return the time limits of the visit to one BMC, adapted to the seconds that the user sets for one plane."""
        if self.seconds is None:
            return bmc.LIMITS
        part = self.seconds / bmc.LIMITS.deadline
        read, answer = bmc.LIMITS.read * part, bmc.LIMITS.answer * part
        return replace(bmc.LIMITS, connect=self._connect, read=read, answer=answer, deadline=self.seconds)

    @property
    def patience(self) -> float:
        """Return the seconds after which a blocked plane is abandoned: more than the sum of its own limits."""
        return max(20.0, 12.0 + 1.5 * (self.seconds or 0))

    @property
    def _connect(self) -> float:
        return min(3.0 if self.seconds is None else max(1.0, self.seconds * 3 / 8), wire.ShellLimits().connect)
