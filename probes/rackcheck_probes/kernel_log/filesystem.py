"""File systems with errors, or made read-only because of errors.

A file system is identified by its device, under the kernel's name: `nvme0n1p2`, `md0`, `dm-0`.
"""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_filesystem import FILESYSTEMS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.filesystem": collection(
            "Devices of file systems with errors in the kernel's log, by name; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.filesystem/*",
            {
                "read_only": "Lines about the file system turning read-only.",
                "shutdowns": "Lines about the file system being shut down.",
                "errors": "Other lines with errors of the file system.",
            },
        ),
    },
)
def log_filesystem(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.filesystem", answer, FILESYSTEMS)
