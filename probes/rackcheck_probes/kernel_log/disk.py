"""Block devices that failed to read or write."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_storage import DISKS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.disk": collection(
            "Block devices with errors in the kernel's log, by name; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.disk/*",
            {
                "medium_errors": "Requests that failed because the medium is bad.",
                "io_errors": "Requests that failed for another reason.",
                "buffer_errors": "Buffers that could not be read or written.",
                "path_lost": "Requests that failed because no path leads to the device.",
            },
        ),
    },
)
def log_disk(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.disk", answer, DISKS)
