"""File systems that found errors, or were made read-only by them.

A file system goes by its device, as the kernel calls it: `nvme0n1p2`, `md0`, `dm-0`.
"""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_filesystem import FILESYSTEMS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.filesystem": collection(
            "Devices of file systems that the kernel reported errors of, by name; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.filesystem/*",
            {
                "read_only": "Lines that say that the file system is read-only from now on.",
                "shutdowns": "Lines that say that the file system was shut down.",
                "errors": "Other lines with errors of the file system.",
            },
        ),
    },
)
def log_filesystem(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.filesystem", answer, FILESYSTEMS)
