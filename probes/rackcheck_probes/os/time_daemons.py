"""Running programs that synchronize the clock."""

from rackcheck import Facts, Shell, Unreadable, listing, probe, read

NAMES = {"chronyd", "ntpd", "openntpd", "systemd-timesyn", "ptp4l", "phc2sys", "ts2phc", "timemaster"}
"""Process names of the programs as the kernel shows them, cut after 15 characters."""

COMMAND = (
    "cat /proc/1/comm >/dev/null && { "
    f"grep -hsxE '{'|'.join(sorted(NAMES))}' /proc/[0-9]*/comm | sort -u; echo end; }}"
)


# If other users' processes are hidden, so is init, and the result is unknown.
@probe(
    Shell(COMMAND, quick=True),
    gives={
        "time.daemons": listing(
            "Running programs that synchronize the clock: chronyd, ntpd, systemd-timesyncd, ptp4l, phc2sys. "
            "Two programs that set the same clock work against each other."
        )
    },
)
def time_daemons(answer: str) -> Facts:
    """Read the process names of the running time services."""
    *names, end = read.rows(answer) or [""]
    if end != "end" or not set(names) <= NAMES:
        raise Unreadable(f"not names of time services: {answer[:80]!r}")
    yield "time.daemons", tuple("systemd-timesyncd" if name == "systemd-timesyn" else name for name in names)
