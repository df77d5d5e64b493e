"""Lines of the kernel's log about file systems that have errors, or that became read-only because of errors.

The patterns of FILESYSTEMS are tried in their order, so that a line about a remount is not counted as another error.
The name of a file system is that of its device, as the kernel spells it: `nvme0n1p2`, `md0`, `dm-0`.
"""

from rackcheck.parse.host.kernel_log.dmesg import line

FILESYSTEMS = (
    line(
        "read_only",
        "Remounting filesystem read-only",
        r"(?:EXT4-fs|XFS) \((?P<key>[\w!-]{1,40})\): Remounting filesystem read-only",
    ),
    line(
        "read_only",
        "forced readonly",
        r"BTRFS:? (?:error|info) \(device (?P<key>[\w!-]{1,40})(?::? state \w{1,10})?\):? .{0,120}forced readonly",
    ),
    line("shutdowns", "Filesystem has been shut down", r"XFS \((?P<key>[\w!-]{1,40})\): Filesystem has been shut down"),
    line(
        "shutdowns", "Shutting down filesystem", r"XFS \((?P<key>[\w!-]{1,40})\): .{1,300}? Shutting down filesystem\b"
    ),
    line(
        "errors",
        "EXT4-fs error (device ",
        r"EXT4-fs error \(device (?P<key>[\w!-]{1,40})\)(?:.{1,160}? comm (?P<who>.{1,20}?): )?",
    ),
    line(
        "errors",
        "mounting fs with errors",
        r"EXT4-fs \((?P<key>[\w!-]{1,40})\): warning: mounting fs with errors",
    ),
    line(
        "errors",
        "error count since last fsck",
        r"EXT4-fs \((?P<key>[\w!-]{1,40})\): error count since last fsck: [1-9]",
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
"""Patterns of the lines about errors, shutdowns and read-only remounts of EXT4, XFS and BTRFS file systems."""
