"""Which init runs, and whether it runs in a container."""

import re

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, probe, text
from rackcheck.core import read

FIRST, MOUNTS = "/proc/1/comm", "/proc/mounts"
HINTS = {"/run/systemd/container": "", "/run/.containerenv": "podman", "/.dockerenv": "docker"}


@probe(
    Read(FIRST, MOUNTS, *HINTS),
    gives={
        "os.init": text("The name of process 1: systemd, init; anything else is rarely a whole machine."),
        "os.container": text(
            "What contains this system (docker, podman, systemd-nspawn); absent on a machine of its own."
        ),
    },
)
def init(files: Files) -> Facts:
    """Read the name of process 1 and the marks that container managers leave."""
    first = files.read(FIRST)
    yield "os.init", Sourced(_hidden(files), FIRST) if isinstance(first.reading, Absent) else first
    hint = next(filter(files.has, HINTS), None)
    if hint is None:
        yield "os.container", Absent(f"none of {', '.join(HINTS)}")
    else:
        yield "os.container", files.read(hint, lambda content: HINTS[hint] or read.line(content))


def _hidden(files: Files) -> Unknown:
    """Say why process 1 has no name: there always is one, but `hidepid` hides it from who is not root."""
    hidden = re.search(r"^\S+ /proc proc \S*\b(hidepid=[a-z0-9]+)", files.contents.get(MOUNTS, ""), re.MULTILINE)
    if hidden is not None:
        return Unknown(Reason.DENIED, f"no {FIRST}: /proc is mounted with {hidden[1]}, which hides it from this user")
    return Unknown(Reason.NOT_COLLECTED, f"no {FIRST}, though every system has a process 1")
