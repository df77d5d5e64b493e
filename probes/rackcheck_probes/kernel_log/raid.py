"""Software RAID arrays that lost a disk."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line(
        "failures",
        "Disk failure on ",
        r"md/raid[0-9]{0,2}:?(?P<key>md[\w-]{1,40}): Disk failure on ",
        "Disks removed from the array because they failed.",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.raid": collection("Software RAID arrays that lost a disk, by name; empty without such a line."),
        **dmesg.promised("log.kernel.raid/*", KINDS),
    },
)
def log_raid(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.raid", answer, KINDS)
