"""The machine's serial number."""

from rackcheck import Class, Facts, Shell, probe, read, text
from rackcheck_probes.os.dmi import filled


# The kernel shows it to root only (mode 0400), and the rest of the DMI table to every user.
@probe(
    Shell("cat /sys/class/dmi/id/product_serial", root=True, lane="root"),
    gives={"node.serial": text("The system's serial number; only root may read it.", Class.IDENTITY)},
)
def serial(answer: str) -> Facts:
    """Read the serial number as the manufacturer wrote it."""
    yield "node.serial", filled("\n".join(read.rows(answer)))
