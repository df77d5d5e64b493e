"""Which CPUs are offline, and which run without the kernel's clock tick."""

from rackcheck import Facts, Files, Read, Sourced, listing, probe, read
from rackcheck.parse.host.cpu import percpu

FOLDER = "/sys/devices/system/cpu"


def named(content: str) -> tuple[str, ...]:
    """Read a list of CPUs as ranges; some kernels print `(null)` for none."""
    cpus = read.numbers("" if content.strip() == "(null)" else content)
    return tuple(percpu.ranges(cpus).split(",")) if cpus else ()


@probe(
    Read(f"{FOLDER}/present", f"{FOLDER}/online", f"{FOLDER}/nohz_full"),
    gives={
        "cpu.offline_cpus": listing("Logical CPUs that are present but offline, as ranges."),
        "cpu.nohz_full": listing("Logical CPUs that run without the clock tick, as ranges."),
    },
)
def cpu_kept(files: Files) -> Facts:
    """Read the kernel's lists of CPUs; `cpu.nohz_full` is absent if the kernel was built without `nohz_full`."""
    yield "cpu.nohz_full", files.read(f"{FOLDER}/nohz_full", named)
    present, online = (read.numbers(read.line(files.text(f"{FOLDER}/{name}"))) for name in ("present", "online"))
    left = percpu.ranges(present - online)
    yield "cpu.offline_cpus", Sourced(tuple(left.split(",")) if left else (), f"{FOLDER}/present, {FOLDER}/online")
