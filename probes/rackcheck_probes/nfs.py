"""How NFS is mounted: version, transport, connections, sizes."""

from rackcheck import Absent, Facts, Files, Unreadable, flag, integer, probe, quantity, spell_key, text
from rackcheck.core import read
from rackcheck.core.fact import Reading, Unknown
from rackcheck_probes.mounts import MOUNTS, PLACE, table

TYPES = {"nfs", "nfs4"}


def number(options: dict[str, str], name: str, unit: float) -> Reading:
    """Read a number of an option; the kernel always shows those that are asked for here."""
    if name not in options:
        return Absent(f"the mount shows no {name}")
    try:
        return read.whole(options[name]) / unit
    except Unreadable as error:
        return Unknown(error.reason, str(error))


def connections(options: dict[str, str]) -> Reading:
    """Read nconnect, which the kernel shows only where more than one was asked for."""
    many = number(options, "nconnect", 1)
    return 1 if isinstance(many, Absent) else int(many) if isinstance(many, float) else many


@probe(
    MOUNTS,
    gives={
        "mount/*.nfs.version": text("The NFS version in use: 3, 4.1, 4.2."),
        "mount/*.nfs.protocol": text("How the server is reached: tcp, tcp6, rdma."),
        "mount/*.nfs.connections": integer("Connections to the server (nconnect); 1 where none was asked for."),
        "mount/*.nfs.read_size": quantity("KiB", "The largest read request (rsize)."),
        "mount/*.nfs.write_size": quantity("KiB", "The largest write request (wsize)."),
        "mount/*.nfs.hard": flag("Whether requests wait for a silent server; soft ones fail, and lose data."),
        "mount/*.nfs.timeout": quantity("s", "How long a request waits before it is sent again (timeo)."),
        "mount/*.nfs.server": text("The server's address; absent if the kernel does not show it."),
    },
)
def nfs(files: Files) -> Facts:
    """Read the options that the kernel shows of each NFS mount, with the values that were agreed on."""
    for point, (_, _, kind, shown, *_) in table(files.text(PLACE)).items():
        if kind in TYPES:
            item = f"mount/{spell_key(point)}.nfs"
            options = dict(option.partition("=")[::2] for option in shown.split(","))
            yield f"{item}.version", options.get("vers") or Absent("the mount shows no version")
            yield f"{item}.protocol", options.get("proto") or Absent("the mount shows no protocol")
            yield f"{item}.connections", connections(options)
            yield f"{item}.read_size", number(options, "rsize", 1024)
            yield f"{item}.write_size", number(options, "wsize", 1024)
            yield f"{item}.hard", "hard" in options
            yield f"{item}.timeout", number(options, "timeo", 10)
            yield f"{item}.server", options.get("addr") or options.get("mountaddr") or Absent("no address is shown")
