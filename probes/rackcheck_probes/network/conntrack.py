"""How many connections the firewall tracks, and their share of the limit."""

from rackcheck import Class, Facts, Files, Read, Sourced, Unreadable, integer, probe, quantity, read

COUNT, MOST = (f"/proc/sys/net/netfilter/nf_conntrack_{name}" for name in ("count", "max"))


@probe(
    Read(COUNT, MOST),
    gives={
        "os.conntrack.count": integer(
            "Connections tracked now; absent without the module nf_conntrack.", Class.MEASUREMENT
        ),
        "os.conntrack.use": quantity("%", "Share of the connection limit in use.", Class.MEASUREMENT),
    },
)
def conntrack(files: Files) -> Facts:
    """Read the count and the limit; without the kernel's module nf_conntrack, both are absent."""
    count, most = files.read(COUNT, read.whole), files.read(MOST, read.whole)
    yield "os.conntrack.count", count
    if isinstance(count.reading, int) and isinstance(most.reading, int):
        if most.reading <= 0:
            raise Unreadable(f"nf_conntrack_max is {most.reading}, expected more than 0")
        yield "os.conntrack.use", Sourced(100 * count.reading / most.reading, COUNT)
    else:
        yield "os.conntrack.use", count if not isinstance(count.reading, int) else most
