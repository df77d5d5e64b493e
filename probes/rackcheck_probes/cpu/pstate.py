"""Settings of the CPU's own frequency driver, and the platform's power profile."""

from rackcheck import Facts, Files, Read, flag, listing, probe, quantity, read, text

INTEL, AMD = "/sys/devices/system/cpu/intel_pstate", "/sys/devices/system/cpu/amd_pstate"
PROFILE = "/sys/firmware/acpi/platform_profile"


@probe(
    Read(*(f"{INTEL}/{name}" for name in ("status", "min_perf_pct", "max_perf_pct", "hwp_dynamic_boost")),
         f"{AMD}/status", f"{AMD}/prefcore", PROFILE, f"{PROFILE}_choices"),
    gives={
        "cpu.pstate.intel": text(
            "Mode of intel_pstate: active (the driver selects clocks), passive (the governor selects clocks), off."
        ),
        "cpu.pstate.amd": text("Mode of amd-pstate: active, passive, guided, disable."),
        "cpu.pstate.min": quantity("%", "Lower limit of intel_pstate's clocks, as a share of the CPU's highest clock."),
        "cpu.pstate.max": quantity("%", "Upper limit of intel_pstate's clocks, as a share of the CPU's highest clock."),
        "cpu.pstate.dynamic_boost": flag("Whether intel_pstate raises the lowest clock while a task waits for I/O."),
        "cpu.pstate.preferred_cores": text("Whether amd-pstate ranks cores by their best clock: enabled, disabled."),
        "os.platform_profile": text("The firmware's power profile: performance, balanced; absent on most servers."),
        "os.platform_profiles": listing("The profiles that the firmware offers."),
    },
)  # fmt: skip
def pstate(files: Files) -> Facts:
    """Read the settings of intel_pstate and amd-pstate; the facts of a driver that the node does not run are absent."""
    yield "cpu.pstate.intel", files.read(f"{INTEL}/status")
    yield "cpu.pstate.amd", files.read(f"{AMD}/status")
    yield "cpu.pstate.min", files.read(f"{INTEL}/min_perf_pct", read.whole)
    yield "cpu.pstate.max", files.read(f"{INTEL}/max_perf_pct", read.whole)
    yield "cpu.pstate.dynamic_boost", files.read(f"{INTEL}/hwp_dynamic_boost", read.bit)
    yield "cpu.pstate.preferred_cores", files.read(f"{AMD}/prefcore")
    yield "os.platform_profile", files.read(PROFILE)
    yield "os.platform_profiles", files.read(f"{PROFILE}_choices", lambda content: tuple(content.split()))
