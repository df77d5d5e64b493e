"""Whether the CPUs may boost."""

from rackcheck import Absent, Facts, Files, Read, flag, probe, read

NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"


@probe(
    Read(NO_TURBO, BOOST),
    gives={
        "cpu.turbo": flag(
            "Whether CPUs may clock above their base frequency (Intel turbo, AMD core performance boost)."
        )
    },
)
def turbo(files: Files) -> Facts:
    """Read Intel's `no_turbo`, where 1 means off; other drivers provide `boost` instead, where 1 means on."""
    if files.has(NO_TURBO):
        yield "cpu.turbo", files.read(NO_TURBO, lambda content: not read.bit(content))
    elif files.has(BOOST):
        yield "cpu.turbo", files.read(BOOST, read.bit)
    else:
        yield "cpu.turbo", Absent("the kernel has no switch for turbo")
