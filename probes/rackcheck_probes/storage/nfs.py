"""How NFS is mounted: version, transport, connections, sizes."""

from rackcheck import Facts, Files, flag, integer, probe, quantity, spell_key, text
from rackcheck.parse.host.storage import nfs_options, proc_mounts
from rackcheck_probes.storage.mounts import MOUNTS, PLACE

TYPES = {"nfs", "nfs4"}


@probe(
    MOUNTS,
    gives={
        "mount/*.nfs.version": text("The NFS version in use: 3, 4.1, 4.2."),
        "mount/*.nfs.protocol": text("How the server is reached: tcp, tcp6, rdma."),
        "mount/*.nfs.connections": integer("Connections to the server (nconnect); 1 if not set."),
        "mount/*.nfs.read_size": quantity("KiB", "The largest read request (rsize)."),
        "mount/*.nfs.write_size": quantity("KiB", "The largest write request (wsize)."),
        "mount/*.nfs.hard": flag(
            "Whether requests wait for an unresponsive server; on a soft mount, they fail and data may be lost."
        ),
        "mount/*.nfs.timeout": quantity("s", "How long a request waits before it is sent again (timeo)."),
        "mount/*.nfs.server": text("The server's address; absent if the kernel does not show it."),
    },
)
def nfs(files: Files) -> Facts:
    """Read the options that the kernel shows for each NFS mount, with the negotiated values."""
    for point, mount in proc_mounts.mounts(files.text(PLACE)).items():
        if mount.type in TYPES:
            item = f"mount/{spell_key(point)}.nfs"
            options = nfs_options.options(mount.options)
            yield f"{item}.version", options.text("vers", lacking="the mount shows no version")
            yield f"{item}.protocol", options.text("proto", lacking="the mount shows no protocol")
            yield f"{item}.connections", options.connections()
            yield f"{item}.read_size", options.number("rsize", 1024)
            yield f"{item}.write_size", options.number("wsize", 1024)
            yield f"{item}.hard", "hard" in options.values
            yield f"{item}.timeout", options.number("timeo", 10)
            yield f"{item}.server", options.text("addr", "mountaddr", lacking="no address is shown")
