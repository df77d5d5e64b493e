"""The init program that runs, and whether the system runs in a container."""

from rackcheck import Absent, Facts, Files, Read, Sourced, probe, read, text
from rackcheck.parse.host.storage import proc_mounts

FIRST, MOUNTS = "/proc/1/comm", "/proc/mounts"
HINTS = {"/run/systemd/container": "", "/run/.containerenv": "podman", "/.dockerenv": "docker"}


@probe(
    Read(FIRST, MOUNTS, *HINTS),
    gives={
        "os.init": text("The name of process 1: systemd, init; anything else usually means a container."),
        "os.container": text(
            "The container manager that runs this system (docker, podman, systemd-nspawn); absent otherwise."
        ),
    },
)
def init(files: Files) -> Facts:
    """Read the name of process 1, and the files by which container managers identify themselves."""
    first = files.read(FIRST)
    hidden = proc_mounts.why_hidden(files.contents.get(MOUNTS, ""), FIRST)
    yield "os.init", Sourced(hidden, FIRST) if isinstance(first.reading, Absent) else first
    hint = next(filter(files.has, HINTS), None)
    if hint is None:
        yield "os.container", Absent(f"no {' or '.join(HINTS)}")
    else:
        yield "os.container", files.read(hint, lambda content: HINTS[hint] or read.line(content))
