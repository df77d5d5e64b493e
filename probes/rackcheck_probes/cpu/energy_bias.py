"""Whether the CPUs favour saving energy or speed, by the energy bias that firmware or the OS set."""

from rackcheck import Absent, Facts, Files, Read, listing, probe
from rackcheck.parse.host.cpu import percpu

GLOB = "/sys/devices/system/cpu/cpu*/power/energy_perf_bias"


@probe(
    Read(GLOB, seconds=30),
    gives={
        "cpu.energy_bias": listing(
            "The energy bias: 0 performance, 6 normal, 15 power saving; several if CPUs differ."
        ),
        "cpu.energy_bias_odd": listing("CPUs whose energy bias differs from the majority, each with its value: 17: 6."),
    },
)
def cpu_energy_bias(files: Files) -> Facts:
    """Read every CPU's bias; the facts are absent on kernels before 5.3 and on CPUs other than Intel's."""
    values = percpu.by_cpu(files, GLOB)
    yield "cpu.energy_bias", percpu.distinct(values) if values else Absent(f"no {GLOB}")
    yield "cpu.energy_bias_odd", percpu.odd(values) if values else Absent(f"no {GLOB}")
