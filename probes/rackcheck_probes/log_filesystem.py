"""File systems that found errors, or were made read-only by them.

A file system goes by its device, as the kernel calls it: `nvme0n1p2`, `md0`, `dm-0`.
"""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "read_only",
        "Remounting filesystem read-only",
        r"(?:EXT4-fs|XFS) \((?P<key>[\w!-]{1,40})\): Remounting filesystem read-only",
        "Lines that say that the file system is read-only from now on.",
    ),
    line(
        "read_only",
        "forced readonly",
        r"BTRFS:? (?:error|info) \(device (?P<key>[\w!-]{1,40})(?::? state \w{1,10})?\):? .{0,120}forced readonly",
    ),
    line(
        "shutdowns",
        "Filesystem has been shut down",
        r"XFS \((?P<key>[\w!-]{1,40})\): Filesystem has been shut down",
        "Lines that say that the file system was shut down.",
    ),
    line(
        "shutdowns", "Shutting down filesystem", r"XFS \((?P<key>[\w!-]{1,40})\): .{1,300}? Shutting down filesystem\b"
    ),
    line(
        "errors",
        "EXT4-fs error (device ",
        r"EXT4-fs error \(device (?P<key>[\w!-]{1,40})\)(?:.{1,160}? comm (?P<who>.{1,20}?): )?",
        "Other lines with errors of the file system.",
    ),
    line("errors", "EXT4-fs (", r"EXT4-fs \((?P<key>[\w!-]{1,40})\): I/O error while writing superblock"),
    line(
        "errors", "Aborting journal on device ", r"Aborting journal on device (?P<key>[\w!]{1,40}?)(?:-[0-9]{1,4})?\."
    ),
    line(
        "errors",
        "XFS (",
        r"XFS \((?P<key>[\w!-]{1,40})\): (?:Metadata (?:corruption|CRC error) detected|Corruption "
        r"(?:of in-memory data )?(?:\(0x[0-9a-f]{1,8}\) )?detected|Internal error|log I/O "
        r"error|metadata I/O error)",
    ),
    line("errors", "BTRFS", r"BTRFS:? (?:error|critical) \(device (?P<key>[\w!-]{1,40})(?::? state \w{1,10})?\)"),
)


@probe(
    DMESG,
    gives={
        "log.kernel.filesystem": collection(
            "Devices of file systems that the kernel reported errors of, by name; empty without such a line."
        ),
        **dmesg.promised("log.kernel.filesystem/*", KINDS),
    },
)
def log_filesystem(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.filesystem", answer, KINDS)
