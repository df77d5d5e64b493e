"""Which idle states the CPUs may use."""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, collection, listing, probe, quantity, spell_key, text
from rackcheck.core import read
from rackcheck.core.read import percpu

# What a state is called and how long leaving it takes is read of the first CPU alone: the others' files say the same,
# and a node with hundreds of CPUs has too many of them for one command line.
NAME, LATENCY = (f"/sys/devices/system/cpu/cpu0/cpuidle/state*/{name}" for name in ("name", "latency"))
DISABLE = "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable"


@probe(
    Read(NAME, LATENCY, DISABLE, seconds=30, cap=4 << 20),
    gives={
        "cpu.idle.state": collection("Idle states by the driver's name for them: POLL, C1, C1E, C6."),
        "cpu.idle.state/*.latency": quantity("us", "How long leaving the state takes, of the first CPU."),
        "cpu.idle.state/*.disabled": text(
            "Whether the state is switched off.", words=("on every CPU", "on some CPUs", "on no CPU")
        ),
        "cpu.idle.state/*.disabled_cpus": listing("Logical CPUs on which the state is switched off, as ranges."),
        "cpu.idle.deepest": text("The deepest state that any CPU may use; absent where CPUs only halt."),
        "cpu.idle.deepest_latency": quantity("us", "How long leaving that state takes."),
    },
)
def cpuidle_states(files: Files) -> Facts:
    """Read each CPU's switches, folded by the state; one that the first CPU has no name for keeps its folder's."""
    switches: dict[str, dict[int, bool]] = {}
    for cpu, number in files.found(DISABLE):
        if re.fullmatch("[0-9]{1,6} [0-9]{1,3}", f"{cpu} {number}"):
            place = DISABLE.replace("*", cpu, 1).replace("*", number, 1)
            switches.setdefault(number, {})[int(cpu)] = read.bit(files.text(place))
    names: dict[str, str] = {}
    deepest: tuple[str, Sourced] | None = None
    for number in sorted(switches, key=int):
        place, off = NAME.replace("*", number), [cpu for cpu, disabled in switches[number].items() if disabled]
        name = read.line(files.text(place)) if files.has(place) else f"state{number}"
        name = f"{name} state{number}" if name in names.values() else name
        names[number] = name
        item = f"cpu.idle.state/{spell_key(name)}"
        latency = files.read(LATENCY.replace("*", number), read.whole)
        yield f"{item}.latency", latency
        some = "on some CPUs" if off else "on no CPU"
        yield f"{item}.disabled", "on every CPU" if len(off) == len(switches[number]) else some
        yield f"{item}.disabled_cpus", tuple(percpu.ranges(off).split(",")) if off else ()
        if len(off) < len(switches[number]):
            deepest = name, latency
    none = Absent("no CPU has an idle state that it may use")
    yield "cpu.idle.deepest", deepest[0] if deepest else none
    yield "cpu.idle.deepest_latency", deepest[1] if deepest else none
