"""The driver and governor that control CPU idle states."""

from rackcheck import Facts, Files, Read, probe, text

FOLDER = "/sys/devices/system/cpu/cpuidle"


@probe(
    Read(f"{FOLDER}/current_driver", f"{FOLDER}/current_governor", f"{FOLDER}/current_governor_ro"),
    gives={
        "cpu.idle.driver": text("The idle driver: intel_idle, acpi_idle; `none` if CPUs only halt."),
        "cpu.idle.governor": text("The governor that selects the idle state: menu, teo, haltpoll."),
    },
)
def cpuidle(files: Files) -> Facts:
    """Read the idle driver and governor; before Linux 5.8, the governor's file had a different name."""
    yield "cpu.idle.driver", files.read(f"{FOLDER}/current_driver")
    name = "current_governor" if files.has(f"{FOLDER}/current_governor") else "current_governor_ro"
    yield "cpu.idle.governor", files.read(f"{FOLDER}/{name}")
