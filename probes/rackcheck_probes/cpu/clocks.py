"""Clocks that firmware sets for the CPUs, and the CPUs whose clocks differ from the majority."""

from rackcheck import Absent, Facts, Files, Read, listing, probe, quantity
from rackcheck.parse.host.cpu import percpu

FOLDER = "/sys/devices/system/cpu/cpu*/cpufreq"
CLOCKS = {"base_clock": "base_frequency", "bios_limit": "bios_limit"}
# The driver, which is the same for all CPUs, determines the available governors.
GOVERNORS = f"{FOLDER.replace('*', '0')}/scaling_available_governors"
BOOSTS = (f"{FOLDER}/boost", f"{FOLDER}/cpb")


@probe(
    Read(*(f"{FOLDER}/{name}" for name in CLOCKS.values()), GOVERNORS, *BOOSTS, seconds=30, cap=4 << 20),
    gives={
        "cpu.base_clock.least": quantity("MHz", "The lowest guaranteed clock of any CPU; Intel only."),
        "cpu.base_clock.most": quantity("MHz", "The highest guaranteed clock of any CPU; Intel only."),
        "cpu.bios_limit.least": quantity("MHz", "The lowest of the CPUs' clock limits that firmware sets."),
        "cpu.bios_limit.most": quantity("MHz", "The highest of the CPUs' clock limits that firmware sets."),
        "cpu.clocks_odd": listing("CPUs whose base clock or limit differs from the majority, in kHz."),
        "cpu.governors": listing("Frequency governors available to the CPUs."),
        "cpu.boost_off": listing("CPUs whose own boost switch is off, as ranges; absent without such switches."),
    },
)
def cpu_clocks(files: Files) -> Facts:
    """Read every CPU's clocks, and return the lowest and the highest; values that no CPU reports are absent."""
    odd: list[str] = []
    any_value = False
    for path, name in CLOCKS.items():
        values = percpu.by_cpu(files, f"{FOLDER}/{name}")
        clocks = percpu.numbers(values).values()
        yield f"cpu.{path}.least", min(clocks) / 1000 if clocks else Absent(f"no {name}")
        yield f"cpu.{path}.most", max(clocks) / 1000 if clocks else Absent(f"no {name}")
        any_value = any_value or bool(values)
        odd += [f"{name} {entry}" for entry in percpu.odd(values)]
    yield "cpu.clocks_odd", tuple(odd) if any_value else Absent("CPUs report no clocks")
    yield "cpu.governors", files.read(GOVERNORS, lambda content: tuple(sorted(content.split())))
    switches = [(cpu, bit) for glob in BOOSTS for cpu, bit in percpu.numbers(percpu.by_cpu(files, glob)).items()]
    off = percpu.listed([cpu for cpu, bit in switches if bit == 0])
    yield "cpu.boost_off", off if switches else Absent("CPUs have no boost switch")
