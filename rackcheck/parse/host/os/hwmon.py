"""The temperature sensors of hwmon: rows `sensor DEVICE DRIVER` and, below each, `FILE THOUSANDTHS`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rackcheck.model.fact import Unreadable

_SENSOR = re.compile(r"sensor (\S{1,60}) (coretemp|k10temp|zenpower)")
_FILE = re.compile(r"(temp[0-9]{1,4}_(?:input|max|crit)) (-?[0-9]{1,9})")


@dataclass(frozen=True)
class Package:
    """A CPU package's sensors: their device and driver, and by file the temperature in degrees Celsius."""

    device: str
    driver: str
    told: dict[str, float] = field(default_factory=dict)

    def hottest(self) -> float | None:
        """Give the highest temperature of all its sensors, None where none was read."""
        return max((value for name, value in self.told.items() if name.endswith("_input")), default=None)


def packages(rows: Sequence[str]) -> Iterator[Package]:
    """Give each package as its row comes; what it told is whole once the next was asked for.

    Raises Unreadable at a row that is neither a sensor nor a temperature, and at a temperature before any sensor.
    """
    last: Package | None = None
    for row in rows:
        if match := _SENSOR.fullmatch(row):
            last = Package(match[1], match[2])
            yield last
        elif (match := _FILE.fullmatch(row)) and last is not None:
            last.told[match[1]] = int(match[2]) / 1000
        else:
            raise Unreadable(f"neither a sensor nor a temperature: {row[:60]!r}")
