"""What clocks firmware gives the CPUs, and which CPUs get others."""

from rackcheck import Absent, Facts, Files, Read, listing, probe, quantity
from rackcheck.parse.host.cpu import percpu

FOLDER = "/sys/devices/system/cpu/cpu*/cpufreq"
CLOCKS = {"base_clock": "base_frequency", "bios_limit": "bios_limit"}
# The driver, which is the same for all CPUs, decides which governors there are.
GOVERNORS = f"{FOLDER.replace('*', '0')}/scaling_available_governors"
BOOSTS = (f"{FOLDER}/boost", f"{FOLDER}/cpb")


@probe(
    Read(*(f"{FOLDER}/{name}" for name in CLOCKS.values()), GOVERNORS, *BOOSTS, seconds=30, cap=4 << 20),
    gives={
        "cpu.base_clock.least": quantity("MHz", "The guaranteed clock of the CPU that has the least; Intel only."),
        "cpu.base_clock.most": quantity("MHz", "The guaranteed clock of the CPU that has the most; Intel only."),
        "cpu.bios_limit.least": quantity("MHz", "The highest clock that firmware allows, where it allows least."),
        "cpu.bios_limit.most": quantity("MHz", "The highest clock that firmware allows, where it allows most."),
        "cpu.clocks_odd": listing("CPUs with another base clock or limit than most, in kHz."),
        "cpu.governors": listing("Frequency governors that the CPUs could use."),
        "cpu.boost_off": listing("CPUs whose own boost switch is off, as ranges; absent without such switches."),
    },
)
def cpu_clocks(files: Files) -> Facts:
    """Read every CPU's clocks, folded to the least and the most; absent where the driver does not tell."""
    odd: list[str] = []
    told_any = False
    for path, name in CLOCKS.items():
        values = percpu.by_cpu(files, f"{FOLDER}/{name}")
        clocks = percpu.numbers(values).values()
        yield f"cpu.{path}.least", min(clocks) / 1000 if clocks else Absent(f"no {name}")
        yield f"cpu.{path}.most", max(clocks) / 1000 if clocks else Absent(f"no {name}")
        told_any = told_any or bool(values)
        odd += [f"{name} {entry}" for entry in percpu.odd(values)]
    yield "cpu.clocks_odd", tuple(odd) if told_any else Absent("CPUs tell no clocks")
    yield "cpu.governors", files.read(GOVERNORS, lambda content: tuple(sorted(content.split())))
    switches = [(cpu, bit) for glob in BOOSTS for cpu, bit in percpu.numbers(percpu.by_cpu(files, glob)).items()]
    off = percpu.listed([cpu for cpu, bit in switches if bit == 0])
    yield "cpu.boost_off", off if switches else Absent("CPUs have no boost switch")
