"""Power limits of the CPU packages."""

from rackcheck import (
    Absent,
    Facts,
    Files,
    Read,
    Reason,
    Sourced,
    Unreadable,
    collection,
    flag,
    probe,
    quantity,
    read,
    text,
)
from rackcheck.model.fact import Reading
from rackcheck.parse.host.cpu import rapl
from rackcheck.parse.host.cpu.rapl import LIMIT_NAME, NAME, ZONE

ENABLED = f"{ZONE}/enabled"
LIMIT, MOST, WINDOW = (f"{ZONE}/constraint_*_{name}" for name in ("power_limit_uw", "max_power_uw", "time_window_us"))
LIMITS = (
    ("long_term", "limit.long", LIMIT),
    ("long_term", "window.long", WINDOW),
    ("short_term", "limit.short", LIMIT),
    ("short_term", "window.short", WINDOW),
    ("peak_power", "limit.peak", LIMIT),
)
"""For each fact: the kernel's name of the power limit, the end of the fact's path, and the glob of the fact's files."""


@probe(
    # Not energy_uj: since 2020 only root may read it, and a single reading is meaningless.
    Read(NAME, ENABLED, LIMIT_NAME, LIMIT, MOST, WINDOW),
    gives={
        "cpu.power": collection(
            "Power zones of the CPUs (RAPL) by the kernel's name: intel-rapl:0; unknown without a driver."
        ),
        "cpu.power/*.domain": text("What the zone covers: package-0, dram, psys."),
        "cpu.power/*.enabled": flag("Whether the zone's limits are enforced."),
        "cpu.power/*.most": quantity("W", "The highest possible long-term limit: the package's TDP."),
        "cpu.power/*.lowered": flag("A package's long-term limit is below its TDP; absent if either is not given."),
        "cpu.power/*.limit.long": quantity("W", "The long-term limit (PL1); absent if there is none."),
        "cpu.power/*.limit.short": quantity("W", "The short-term limit (PL2)."),
        "cpu.power/*.limit.peak": quantity("W", "The peak limit, which applies at every moment (PL4)."),
        "cpu.power/*.window.long": quantity("s", "The time window of the long-term limit."),
        "cpu.power/*.window.short": quantity("s", "The time window of the short-term limit."),
    },
)
def cpu_power(files: Files) -> Facts:
    """Read each power zone's limits by their names in the kernel, such as `long_term`; AMD's zones have no limits."""
    zones = rapl.zones(files)
    if not zones:
        raise Unreadable(
            "the kernel lists no power zones (RAPL), so the CPUs' limits are not available", Reason.TOOL_MISSING
        )
    for zone in zones:
        item = f"cpu.power/intel-rapl:{zone.number}"
        domain = files.read(NAME.replace("*", zone.number))
        yield f"{item}.domain", domain
        yield f"{item}.enabled", files.read(ENABLED.replace("*", zone.number), read.bit)
        for name, leaf, file in LIMITS:
            none = Absent(f"intel-rapl:{zone.number} has no {name} limit")
            yield f"{item}.{leaf}", zone.read(files, file, name, none)
        most = zone.read(files, MOST, "long_term", Absent("no limit"))
        yield f"{item}.most", most
        limit = zone.read(files, LIMIT, "long_term", Absent("no limit"))
        yield f"{item}.lowered", _lowered(*map(_reading, (domain, limit, most)))


def _reading(found: Sourced | Absent) -> Reading:
    return found.reading if isinstance(found, Sourced) else found


def _lowered(domain: Reading, limit: Reading, most: Reading) -> Reading:
    """Return whether the limit of a package is below its TDP by a watt or more."""
    if isinstance(domain, str) and not domain.startswith("package"):
        return Absent("not the zone of a package")
    if isinstance(limit, float) and isinstance(most, float):
        return limit <= most - 1 if most > 0 else Absent("no TDP")
    return next(each for each in (domain, limit, most) if not isinstance(each, (str, float)))
