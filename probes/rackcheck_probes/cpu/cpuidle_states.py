"""Which idle states the CPUs may use."""

from rackcheck import Absent, Facts, Files, Read, Sourced, collection, listing, probe, quantity, read, spell_key, text
from rackcheck.parse.host.cpu import percpu
from rackcheck.parse.host.cpu.cpuidle import DISABLE, NAME, states

# Read for the first CPU only, like the names.
LATENCY = "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency"


@probe(
    Read(NAME, LATENCY, DISABLE, seconds=30, cap=4 << 20),
    gives={
        "cpu.idle.state": collection("Idle states by the driver's name for them: POLL, C1, C1E, C6."),
        "cpu.idle.state/*.latency": quantity("us", "Time to leave the state, on the first CPU."),
        "cpu.idle.state/*.disabled": text(
            "Whether the state is switched off.", words=("on every CPU", "on some CPUs", "on no CPU")
        ),
        "cpu.idle.state/*.disabled_cpus": listing("Logical CPUs on which the state is switched off, as ranges."),
        "cpu.idle.deepest": text("The deepest state that any CPU may use; absent if CPUs only halt."),
        "cpu.idle.deepest_latency": quantity("us", "Time to leave the deepest state that any CPU may use."),
    },
)
def cpuidle_states(files: Files) -> Facts:
    """Read on which CPUs each idle state is disabled; a state without a name on CPU 0 gets the name of its folder."""
    deepest: tuple[str, Sourced] | None = None
    for state in states(files):
        item = f"cpu.idle.state/{spell_key(state.name)}"
        latency = files.read(LATENCY.replace("*", state.number), read.whole)
        yield f"{item}.latency", latency
        some, everywhere = "on some CPUs" if state.off else "on no CPU", state.off == state.cpus
        yield f"{item}.disabled", "on every CPU" if everywhere else some
        yield f"{item}.disabled_cpus", tuple(percpu.ranges(state.off).split(",")) if state.off else ()
        if not everywhere:
            deepest = state.name, latency
    none = Absent("no idle state is enabled on any CPU")
    yield "cpu.idle.deepest", deepest[0] if deepest else none
    yield "cpu.idle.deepest_latency", deepest[1] if deepest else none
