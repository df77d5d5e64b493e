"""The power zones of CPUs, /sys/class/powercap/intel-rapl:*, and the power limits of each zone by name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Sourced
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import line, whole

ZONE = "/sys/class/powercap/intel-rapl:*"
NAME = f"{ZONE}/name"
LIMIT_NAME = f"{ZONE}/constraint_*_name"


@dataclass(frozen=True)
class Zone:
    """One power zone: its number in the kernel (`0` or `0:1`), and the number of each limit by name (`long_term`)."""

    number: str
    limits: Mapping[str, str]

    def read(self, files: Files, glob: str, limit: str, none: Absent) -> Sourced | Absent:
        """Read one file of a power limit and convert it to W or s; returns `none` if the zone has no such limit."""
        if limit not in self.limits:
            return none
        return files.read(glob.replace("*", self.number, 1).replace("*", self.limits[limit], 1), _millionths)


def zones(files: Files) -> list[Zone]:
    """Return the power zones in the order of their numbers; raises Unreadable if a limit's name cannot be read."""
    found = [zone for (zone,) in files.found(NAME) if re.fullmatch("[0-9]{1,4}(:[0-9]{1,4})?", zone)]
    if not found:
        return []
    limits: dict[str, dict[str, str]] = {}
    for zone, number in files.found(LIMIT_NAME):
        name = LIMIT_NAME.replace("*", zone, 1).replace("*", number, 1)
        limits.setdefault(zone, {})[line(files.text(name))] = number
    return [Zone(zone, {name: n for name, n in limits.get(zone, {}).items() if n}) for zone in found]


def _millionths(content: str) -> float:
    return whole(content) / 1e6
