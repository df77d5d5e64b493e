"""How hot the CPUs are, by their own sensors."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rackcheck import Absent, Class, Facts, Reason, Shell, Unreadable, collection, probe, quantity, spell_key, text
from rackcheck.model import text as read

# Of all sensors of the machine only the CPUs' are read: others may be slow to answer. /dev/null has grep name files.
COMMAND = """\
for d in /sys/class/hwmon/hwmon*; do
read -r n 2>/dev/null <"$d/name" || continue
case $n in coretemp|k10temp|zenpower) ;; *) continue;; esac
l=$(readlink -f "$d/device") && echo "sensor ${l##*/} $n" || continue
for f in "$d"/temp*_input "$d/temp1_max" "$d/temp1_crit"; do
read -r v 2>/dev/null <"$f" && echo "${f##*/} $v"
done
done
echo end"""


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "cpu.thermal": collection("CPU sensors by the name of their device, one a package; unknown without a driver."),
        "cpu.thermal/*.driver": text("What reads the sensor: coretemp (Intel), k10temp (AMD)."),
        "cpu.thermal/*.temperature": quantity("C", "The package's temperature, or AMD's Tctl.", Class.MEASUREMENT),
        "cpu.thermal/*.hottest": quantity("C", "The hottest of the package's sensors.", Class.MEASUREMENT),
        "cpu.thermal/*.max": quantity("C", "The temperature from which the package is cooled harder; Intel only."),
        "cpu.thermal/*.critical": quantity("C", "The temperature at which the package is slowed; not told by AMD."),
    },
)  # fmt: skip
def cpu_heat(answer: str) -> Facts:
    """Read each package's sensors, in thousandths of a degree; a core's that cannot be read is left out."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "end":
        raise Unreadable("not the whole of the CPU sensors")
    if rows == ["end"]:
        raise Unreadable("no CPU sensor has a driver: nobody reads the CPUs' temperature", Reason.TOOL_MISSING)
    found: dict[str, Package] = {}
    for package in packages(rows[:-1]):
        found[package.device] = package
        yield f"cpu.thermal/{spell_key(package.device)}.driver", package.driver
    for device, package in found.items():
        item, values, hottest = f"cpu.thermal/{spell_key(device)}", package.told, package.hottest()
        for leaf, name in (("temperature", "temp1_input"), ("max", "temp1_max"), ("critical", "temp1_crit")):
            if name in values:
                yield f"{item}.{leaf}", values[name]
            elif leaf != "temperature":
                yield f"{item}.{leaf}", Absent(f"no {name}")
        if hottest is not None:
            yield f"{item}.hottest", hottest


# The temperature sensors of hwmon: rows `sensor DEVICE DRIVER` and, below each, `FILE THOUSANDTHS`.


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
