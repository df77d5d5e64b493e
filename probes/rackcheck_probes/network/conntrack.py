"""How many connections the firewall tracks of those it may."""

from rackcheck import Class, Facts, Files, Read, Sourced, Unreadable, integer, probe, quantity
from rackcheck.model import text as read

COUNT, MOST = (f"/proc/sys/net/netfilter/nf_conntrack_{name}" for name in ("count", "max"))


@probe(
    Read(COUNT, MOST),
    gives={
        "os.conntrack.count": integer("Connections tracked now; absent where nothing tracks any.", Class.MEASUREMENT),
        "os.conntrack.use": quantity("%", "Share of the connections that may be tracked.", Class.MEASUREMENT),
    },
)
def conntrack(files: Files) -> Facts:
    """Read the count and the most; without the module neither is there."""
    count, most = files.read(COUNT, read.whole), files.read(MOST, read.whole)
    yield "os.conntrack.count", count
    if isinstance(count.reading, int) and isinstance(most.reading, int):
        if most.reading <= 0:
            raise Unreadable(f"{most.reading} connections are allowed")
        yield "os.conntrack.use", Sourced(100 * count.reading / most.reading, COUNT)
    else:
        yield "os.conntrack.use", count if not isinstance(count.reading, int) else most
