"""Which CPUs are offline or isolated."""

from rackcheck import Facts, Files, Read, Sourced, Unreadable, integer, listing, probe, read

FOLDER = "/sys/devices/system/cpu"


@probe(
    Read(f"{FOLDER}/present", f"{FOLDER}/online", f"{FOLDER}/isolated"),
    gives={
        "cpu.offline": integer("Logical CPUs that are present but offline."),
        "cpu.isolated": listing("Logical CPUs that are isolated from the scheduler, by number."),
    },
)
def cpu_online(files: Files) -> Facts:
    """Compare the CPUs present with those online; the kernel's own offline list also counts empty sockets."""
    yield (
        "cpu.isolated",
        files.read(f"{FOLDER}/isolated", lambda content: tuple(map(str, sorted(read.numbers(content))))),
    )
    present, online = (read.numbers(read.line(files.text(f"{FOLDER}/{name}"))) for name in ("present", "online"))
    if not online <= present:
        raise Unreadable(f"online but not present: {', '.join(map(str, sorted(online - present)[:8]))}")
    yield "cpu.offline", Sourced(len(present - online), f"{FOLDER}/present, {FOLDER}/online")
