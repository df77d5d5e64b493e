"""How the kernel watches for hardware errors of the CPUs."""

from rackcheck import Absent, Facts, Files, Read, flag, integer, probe, quantity
from rackcheck.model import text as read

# These switches are one for all CPUs; the first CPU's folder shows them as every other does.
FOLDER = "/sys/devices/system/machinecheck/machinecheck0"
BANKS = f"{FOLDER}/bank*"


@probe(
    Read(*(f"{FOLDER}/{name}" for name in ("check_interval", "ignore_ce", "cmci_disabled", "dont_log_ce")), BANKS),
    gives={
        "cpu.mce.interval": quantity("s", "How often the kernel looks for corrected errors; 0 never."),
        "cpu.mce.ignored": flag("Whether the kernel neither looks for corrected errors nor counts them."),
        "cpu.mce.unlogged": flag("Whether the kernel does not log corrected errors."),
        "cpu.mce.uninterrupted": flag("Whether corrected errors raise no interrupt, and wait to be looked for."),
        "cpu.mce.banks": integer("Machine check banks of the first CPU; absent without machine checks."),
    },
)
def cpu_mce_policy(files: Files) -> Facts:
    """Read the switches; absent in virtual machines and on ARM, which reports errors by firmware."""
    yield "cpu.mce.interval", files.read(f"{FOLDER}/check_interval", read.whole)
    yield "cpu.mce.ignored", files.read(f"{FOLDER}/ignore_ce", read.bit)
    yield "cpu.mce.unlogged", files.read(f"{FOLDER}/dont_log_ce", read.bit)
    yield "cpu.mce.uninterrupted", files.read(f"{FOLDER}/cmci_disabled", read.bit)
    banks = sum(1 for (number,) in files.found(BANKS) if number.isdigit())
    yield "cpu.mce.banks", banks or Absent(f"no {BANKS}")
