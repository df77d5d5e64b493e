"""Block devices that failed to read or write."""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "medium_errors",
        "critical medium error, dev ",
        r"(?:\w{1,30}: )?critical medium error, dev (?P<key>[\w!-]{1,40}), sector",
        "Requests that failed because the medium is bad.",
    ),
    line(
        "io_errors",
        " error, dev ",
        r"(?:\w{1,30}: )?(?!operation not supported)[A-Za-z/ ]{2,40} error, dev (?P<key>[\w!-]{1,40}), sector",
        "Requests that failed otherwise.",
    ),
    line(
        "buffer_errors",
        "Buffer I/O error on dev",
        r"Buffer I/O error on dev(?:ice)? (?P<key>[\w!-]{1,40}), logical block",
        "Buffers that could not be read or written.",
    ),
    line(
        "path_lost",
        "no available path - failing I/O",
        r"block (?P<key>[\w!-]{1,40}): no available path - failing I/O",
        "Requests that failed because no path leads to the device.",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.disk": collection(
            "Block devices that the kernel reported errors of, by name; empty without such a line."
        ),
        **dmesg.promised("log.kernel.disk/*", KINDS),
    },
)
def log_disk(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.disk", answer, KINDS)
