"""How much power the CPU packages may take."""

import re

from rackcheck import Absent, Facts, Files, Read, Reason, Unreadable, collection, flag, probe, quantity, text
from rackcheck.core import read

ZONE = "/sys/class/powercap/intel-rapl:*"
NAME, ENABLED = f"{ZONE}/name", f"{ZONE}/enabled"
LIMIT_NAME, LIMIT, MOST, WINDOW = (
    f"{ZONE}/constraint_*_{name}" for name in ("name", "power_limit_uw", "max_power_uw", "time_window_us")
)
LIMITS = {"long_term": "long", "short_term": "short", "peak_power": "peak"}


def watts(content: str) -> float:
    """Read the kernel's millionths of a watt."""
    return read.whole(content) / 1e6


@probe(
    # Not energy_uj: since 2020 only root may read it, and one reading of it says nothing.
    Read(NAME, ENABLED, LIMIT_NAME, LIMIT, MOST, WINDOW),
    gives={
        "cpu.power": collection(
            "Power zones of the CPUs (RAPL) by the kernel's name: intel-rapl:0; unknown without a driver."
        ),
        "cpu.power/*.domain": text("What the zone covers: package-0, dram, psys."),
        "cpu.power/*.enabled": flag("Whether the zone's limits are kept."),
        "cpu.power/*.most": quantity("W", "The most that the long-term limit may be: the package's TDP."),
        "cpu.power/*.limit.long": quantity("W", "The limit that holds for long (PL1); absent where there is none."),
        "cpu.power/*.limit.short": quantity("W", "The limit that holds for a short time (PL2)."),
        "cpu.power/*.limit.peak": quantity("W", "The limit that holds at every moment (PL4)."),
        "cpu.power/*.window.long": quantity("s", "The time over which the long-term limit is kept."),
        "cpu.power/*.window.short": quantity("s", "The time over which the short-term limit is kept."),
    },
)
def cpu_power(files: Files) -> Facts:
    """Read each zone's limits by the names that the kernel gives them; AMD's zones have none."""
    zones = [zone for (zone,) in files.found(NAME) if re.fullmatch("[0-9]{1,4}(:[0-9]{1,4})?", zone)]
    if not zones:
        raise Unreadable("no power zone has a driver: nobody tells the CPUs' limits", Reason.TOOL_MISSING)
    numbers: dict[str, dict[str, str]] = {}
    for zone, number in files.found(LIMIT_NAME):
        numbers.setdefault(zone, {})[read.line(files.text(_place(LIMIT_NAME, zone, number)))] = number
    for zone in zones:
        item = f"cpu.power/intel-rapl:{zone}"
        yield f"{item}.domain", files.read(NAME.replace("*", zone))
        yield f"{item}.enabled", files.read(ENABLED.replace("*", zone), read.bit)
        for name, leaf in LIMITS.items():
            none = Absent(f"intel-rapl:{zone} has no {name} limit")
            number = numbers.get(zone, {}).get(name, "")
            yield f"{item}.limit.{leaf}", files.read(_place(LIMIT, zone, number), watts) if number else none
            if leaf != "peak":
                window = files.read(_place(WINDOW, zone, number), watts) if number else none
                yield f"{item}.window.{leaf}", window
        first = numbers.get(zone, {}).get("long_term", "")
        yield f"{item}.most", files.read(_place(MOST, zone, first), watts) if first else Absent("no limit")


def _place(glob: str, zone: str, number: str) -> str:
    return glob.replace("*", zone, 1).replace("*", number, 1)
