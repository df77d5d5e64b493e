"""The kernel's own counters of its faults since boot."""

from rackcheck import Class, Facts, Files, Read, integer, probe, read

FOLDER = "/sys/kernel"
LEAVES = {
    "oops": "Oopses: illegal operations of a driver or the kernel.",
    "warn": "Warnings with a trace.",
    "softlockup": "CPUs that ran kernel code for too long.",
    "hardlockup": "CPUs that took no interrupts for too long.",
    "rcu_stall": "Stalls of RCU: a CPU that held up all others.",
}


@probe(
    Read(*(f"{FOLDER}/{name}_count" for name in LEAVES)),
    gives={
        f"kernel.faults.{name}": integer(f"{help_} Absent on older kernels.", Class.COUNTER)
        for name, help_ in LEAVES.items()
    },
)
def kernel_faults(files: Files) -> Facts:
    """Read the kernel's counters of faults, which include faults whose log lines are lost; absent on older kernels."""
    for name in LEAVES:
        yield f"kernel.faults.{name}", files.read(f"{FOLDER}/{name}_count", read.whole)
