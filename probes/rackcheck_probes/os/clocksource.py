"""The clock source that the kernel uses."""

from rackcheck import Facts, Files, Read, listing, probe, text

FOLDER = "/sys/devices/system/clocksource/clocksource0"


@probe(
    Read(f"{FOLDER}/current_clocksource", f"{FOLDER}/available_clocksource"),
    gives={
        "time.clocksource": text(
            "The clock in use: tsc or arch_sys_counter normally, hpet if the TSC was marked unstable."
        ),
        "time.clocksources": listing("The clocks available to the kernel, best first."),
    },
)
def clocksource(files: Files) -> Facts:
    """Read the clock source in use and its alternatives."""
    yield "time.clocksource", files.read(f"{FOLDER}/current_clocksource")
    yield "time.clocksources", files.read(f"{FOLDER}/available_clocksource", lambda content: tuple(content.split()))
