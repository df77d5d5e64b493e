"""Which init runs, and whether it runs in a container."""

from rackcheck import Absent, Facts, Files, Read, probe, text

HINTS = {"/run/systemd/container": "", "/run/.containerenv": "podman", "/.dockerenv": "docker"}


@probe(
    Read("/proc/1/comm", *HINTS),
    gives={
        "os.init": text("The name of process 1: systemd, init; anything else is rarely a whole machine."),
        "os.container": text(
            "What contains this system (docker, podman, systemd-nspawn); absent on a machine of its own."
        ),
    },
)
def init(files: Files) -> Facts:
    """Read the name of process 1 and the marks that container managers leave."""
    yield "os.init", files.read("/proc/1/comm")
    hint = next(filter(files.has, HINTS), None)
    if hint is None:
        yield "os.container", Absent(f"none of {', '.join(HINTS)}")
    else:
        yield "os.container", HINTS[hint] or files.read(hint)
