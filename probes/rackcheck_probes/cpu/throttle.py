"""How often the CPUs were throttled because of heat."""

from rackcheck import Absent, Class, Facts, Files, Read, integer, listing, probe, quantity
from rackcheck.parse.host.cpu import percpu

FOLDER = "/sys/devices/system/cpu/cpu*"
CORE, PACKAGE, TIME = (
    f"{FOLDER}/thermal_throttle/{name}"
    for name in ("core_throttle_count", "package_throttle_count", "package_throttle_total_time_ms")
)


@probe(
    Read(CORE, PACKAGE, TIME, seconds=30, cap=4 << 20),
    gives={
        "cpu.throttled.core": integer(
            "Times a core got too hot since boot; the highest count of any CPU.", Class.COUNTER
        ),
        "cpu.throttled.package": integer(
            "Times a package got too hot since boot; the highest count of any package.", Class.COUNTER
        ),
        "cpu.throttled.time": quantity(
            "ms", "How long a package was slowed since boot; the longest time of any package.", Class.COUNTER
        ),
        "cpu.throttled.cpus": listing("Logical CPUs whose core got too hot since boot, as ranges.", Class.COUNTER),
    },
)
def cpu_throttle(files: Files) -> Facts:
    """Read every CPU's counts; the facts are absent where the kernel does not count: AMD, ARM, virtual machines."""
    core = percpu.numbers(percpu.by_cpu(files, CORE))
    package = percpu.numbers(percpu.by_cpu(files, PACKAGE))
    time = percpu.numbers(percpu.by_cpu(files, TIME))
    none = Absent(f"no {CORE}")
    hot = percpu.ranges([cpu for cpu, count in core.items() if count])
    yield "cpu.throttled.core", max(core.values()) if core else none
    yield "cpu.throttled.package", max(package.values()) if package else none
    yield "cpu.throttled.time", max(time.values()) if time else Absent("kernels before 5.6 do not report this value")
    yield "cpu.throttled.cpus", (tuple(hot.split(",")) if hot else ()) if core else none
