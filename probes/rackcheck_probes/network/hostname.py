"""The node's host name."""

from rackcheck import Class, Facts, Files, Read, probe, text

PLACE = "/proc/sys/kernel/hostname"


@probe(
    Read(PLACE),
    gives={"node.hostname": text("The kernel's host name.", Class.IDENTITY)},
)
def hostname(files: Files) -> Facts:
    """Read the node's host name from the kernel."""
    yield "node.hostname", files.read(PLACE)
