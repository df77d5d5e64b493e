"""The deepest idle state that the idle drivers allow."""

from rackcheck import Facts, Files, Read, integer, probe, read

FILES = {
    "cpu.idle.intel_max": "/sys/module/intel_idle/parameters/max_cstate",
    "cpu.idle.acpi_max": "/sys/module/processor/parameters/max_cstate",
}


@probe(
    Read(*FILES.values()),
    gives={
        "cpu.idle.intel_max": integer("The deepest state that intel_idle uses, by number; 0 disables the driver."),
        "cpu.idle.acpi_max": integer("The deepest state that acpi_idle uses, by number."),
    },
)
def cpuidle_limits(files: Files) -> Facts:
    """Read the parameter of each idle driver; the fact of a driver that the kernel lacks is absent."""
    for path, place in FILES.items():
        yield path, files.read(place, read.whole)
