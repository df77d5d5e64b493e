"""How the kernel checks for hardware errors of the CPUs."""

from rackcheck import Absent, Facts, Files, Read, flag, integer, probe, quantity, read

# These switches apply to all CPUs: every CPU's folder shows the same values, and the first CPU's is read.
FOLDER = "/sys/devices/system/machinecheck/machinecheck0"
BANKS = f"{FOLDER}/bank*"


@probe(
    Read(*(f"{FOLDER}/{name}" for name in ("check_interval", "ignore_ce", "cmci_disabled", "dont_log_ce")), BANKS),
    gives={
        "cpu.mce.interval": quantity("s", "How often the kernel polls for corrected errors; 0 is never."),
        "cpu.mce.ignored": flag("Whether the kernel neither polls for corrected errors nor counts them."),
        "cpu.mce.unlogged": flag("Whether the kernel does not log corrected errors."),
        "cpu.mce.uninterrupted": flag("Whether corrected errors raise no interrupt, and are found only by polling."),
        "cpu.mce.banks": integer("Machine check banks of the first CPU; absent without machine checks."),
    },
)
def cpu_mce_policy(files: Files) -> Facts:
    """Read the settings of machine checks; absent in virtual machines, and on ARM, where firmware reports errors."""
    yield "cpu.mce.interval", files.read(f"{FOLDER}/check_interval", read.whole)
    yield "cpu.mce.ignored", files.read(f"{FOLDER}/ignore_ce", read.bit)
    yield "cpu.mce.unlogged", files.read(f"{FOLDER}/dont_log_ce", read.bit)
    yield "cpu.mce.uninterrupted", files.read(f"{FOLDER}/cmci_disabled", read.bit)
    banks = sum(1 for (number,) in files.found(BANKS) if number.isdigit())
    yield "cpu.mce.banks", banks or Absent(f"no {BANKS}")
