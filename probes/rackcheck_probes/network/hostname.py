"""What the node calls itself."""

from rackcheck import Class, Facts, Files, Read, probe, text

PLACE = "/proc/sys/kernel/hostname"


@probe(
    Read(PLACE),
    gives={"node.hostname": text("The name the node's kernel has for itself.", Class.IDENTITY)},
)
def hostname(files: Files) -> Facts:
    """Read the kernel's host name."""
    yield "node.hostname", files.read(PLACE)
