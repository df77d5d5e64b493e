"""CPU temperatures from the CPUs' own sensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rackcheck import (
    Absent,
    Class,
    Facts,
    Reason,
    Shell,
    Unreadable,
    collection,
    probe,
    quantity,
    read,
    spell_key,
    text,
)
from rackcheck.model.regex import regex

# Only the CPUs' sensors are read: other sensors may be slow to answer. With /dev/null, grep prints file names.
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
        "cpu.thermal": collection("CPU sensors by their device's name, one per package; unknown without a driver."),
        "cpu.thermal/*.driver": text("The sensor's driver: coretemp (Intel), k10temp (AMD)."),
        "cpu.thermal/*.temperature": quantity("C", "The package's temperature, or AMD's Tctl.", Class.MEASUREMENT),
        "cpu.thermal/*.hottest": quantity("C", "The hottest of the package's sensors.", Class.MEASUREMENT),
        "cpu.thermal/*.max": quantity("C", "The temperature from which cooling is increased; Intel only."),
        "cpu.thermal/*.critical": quantity("C", "The temperature at which the package is slowed; AMD reports none."),
    },
)  # fmt: skip
def cpu_heat(answer: str) -> Facts:
    """Read the sensors of each CPU package; a core's sensor that cannot be read is left out."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "end":
        raise Unreadable("the list of CPU sensors is incomplete")
    if rows == ["end"]:
        raise Unreadable(
            "the kernel lists no CPU sensors, so the CPUs' temperature is not available", Reason.TOOL_MISSING
        )
    found: dict[str, Package] = {}
    for package in packages(rows[:-1]):
        found[package.device] = package
        yield f"cpu.thermal/{spell_key(package.device)}.driver", package.driver
    for device, package in found.items():
        item, values, hottest = f"cpu.thermal/{spell_key(device)}", package.files, package.hottest()
        for leaf, name in (("temperature", "temp1_input"), ("max", "temp1_max"), ("critical", "temp1_crit")):
            if name in values:
                yield f"{item}.{leaf}", values[name]
            elif leaf != "temperature":
                yield f"{item}.{leaf}", Absent(f"no {name}")
        if hottest is not None:
            yield f"{item}.hottest", hottest


# The temperature sensors of hwmon: rows `sensor DEVICE DRIVER` and, below each, `FILE THOUSANDTHS`.


_SENSOR = regex(r"sensor (\S{1,60}) (coretemp|k10temp|zenpower)")
_FILE = regex(r"(temp[0-9]{1,4}_(?:input|max|crit)) (-?[0-9]{1,9})")


@dataclass(frozen=True)
class Package:
    """One CPU package: the device and driver of its sensors, and values and limits in degrees Celsius by file name."""

    device: str
    driver: str
    files: dict[str, float] = field(default_factory=dict)

    def hottest(self) -> float | None:
        """Return the highest temperature of the package's sensors; None if no temperature was read."""
        return max((value for name, value in self.files.items() if name.endswith("_input")), default=None)


def packages(rows: Sequence[str]) -> Iterator[Package]:
    """Yield each CPU package at its first row; the package's `files` are complete once the next package is requested.

    Raises Unreadable at a row that is neither a sensor nor a temperature, and at a temperature before any sensor.
    """
    last: Package | None = None
    for row in rows:
        if match := _SENSOR.fullmatch(row):
            last = Package(match[1], match[2])
            yield last
        elif (match := _FILE.fullmatch(row)) and last is not None:
            last.files[match[1]] = int(match[2]) / 1000
        else:
            raise Unreadable(f"neither a sensor nor a temperature: {row[:60]!r}")
