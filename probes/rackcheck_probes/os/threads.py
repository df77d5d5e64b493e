"""How many threads the system has, and their share of the limit."""

import re

from rackcheck import Class, Facts, Files, Read, Unreadable, probe, quantity, read

LOAD, LIMITS = "/proc/loadavg", ("/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max")


@probe(
    Read(LOAD, *LIMITS),
    gives={
        "os.threads.use": quantity(
            "%",
            "Share of the thread limit in use; the limit is the lower of pid_max and threads-max.",
            Class.MEASUREMENT,
        )
    },
)
def threads(files: Files) -> Facts:
    """Read the number of threads, and the lower of two limits: threads, and process ids (each thread uses one id)."""
    text = files.text(LOAD)
    match = re.fullmatch(r"(?:[0-9.]{1,20} ){3}[0-9]{1,9}/([0-9]{1,9}) [0-9]{1,10}", read.line(text))
    most = min(read.whole(files.text(place)) for place in LIMITS)
    if match is None or most <= 0:
        raise Unreadable(f"expected a number of threads and a limit above 0, got: {text[:80]!r}, {most}")
    yield "os.threads.use", 100 * int(match[1]) / most
