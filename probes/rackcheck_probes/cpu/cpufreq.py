"""How each CPU's clock is controlled."""

from rackcheck import Facts, Files, Read, collection, probe, quantity, read, text

FOLDER = "/sys/devices/system/cpu/cpu{}/cpufreq"
TEXTS = {"governor": "scaling_governor", "driver": "scaling_driver", "epp": "energy_performance_preference"}
CLOCKS = {"limit_max": "scaling_max_freq", "limit_min": "scaling_min_freq", "hardware_max": "cpuinfo_max_freq"}


def megahertz(content: str) -> float:
    """Read a clock that the kernel reports in kHz."""
    return read.whole(content) / 1000


@probe(
    Read(*(f"{FOLDER.format('*')}/{name}" for name in (*TEXTS.values(), *CLOCKS.values())), seconds=30, cap=4 << 20),
    gives={
        "cpu.frequency": collection(
            "Logical CPUs whose clock the kernel controls, by number; none in most virtual machines."
        ),
        "cpu.frequency/*.governor": text("The frequency governor: performance, powersave, schedutil."),
        "cpu.frequency/*.driver": text("The frequency driver: intel_pstate, amd-pstate-epp, acpi-cpufreq."),
        "cpu.frequency/*.epp": text("The energy performance preference; absent if the driver has none."),
        "cpu.frequency/*.limit_max": quantity("MHz", "The highest clock that software allows."),
        "cpu.frequency/*.limit_min": quantity("MHz", "The lowest clock that software allows."),
        "cpu.frequency/*.hardware_max": quantity(
            "MHz", "The highest clock of this CPU, boost included where the driver reports it."
        ),
    },
)
def cpufreq(files: Files) -> Facts:
    """Read every logical CPU's frequency policy."""
    found = {n for name in (*TEXTS.values(), *CLOCKS.values()) for (n,) in files.found(f"{FOLDER.format('*')}/{name}")}
    for number in sorted((n for n in found if n.isascii() and n.isdigit()), key=read.natural):
        for leaf, name in TEXTS.items():
            yield f"cpu.frequency/{number}.{leaf}", files.read(f"{FOLDER.format(number)}/{name}")
        for leaf, name in CLOCKS.items():
            yield f"cpu.frequency/{number}.{leaf}", files.read(f"{FOLDER.format(number)}/{name}", megahertz)
