"""Lines of the kernel's log about block devices that failed to read or write, and NVMe drives that did not respond.

The patterns in DISKS and in NVME are tried in their order; the first that matches a line counts it. A line about a
block device contains the kernel's name for it; a line about an NVMe drive contains the name of its controller.
"""

from rackcheck.parse.host.kernel_log.dmesg import line

DISKS = (
    line(
        "medium_errors",
        "critical medium error, dev ",
        r"(?:\w{1,30}: )?critical medium error, dev (?P<key>[\w!-]{1,40}), sector",
    ),
    line(
        "io_errors",
        " error, dev ",
        r"(?:\w{1,30}: )?(?!operation not supported)[A-Za-z/ ]{2,40} error, dev (?P<key>[\w!-]{1,40}), sector",
    ),
    line(
        "buffer_errors",
        "Buffer I/O error on dev",
        r"Buffer I/O error on dev(?:ice)? (?P<key>[\w!-]{1,40}), logical block",
    ),
    line(
        "path_lost", "no available path - failing I/O", r"block (?P<key>[\w!-]{1,40}): no available path - failing I/O"
    ),
)
"""Patterns of failed I/O requests, failed buffers and lost paths of block devices."""

NVME = (
    line("timeouts", " timeout, ", r"nvme (?P<key>nvme[0-9]{1,4}): (?:I/O|Abort|Admin) .{0,100}\btimeout, "),
    line(
        "disabled",
        "Disabling device after reset failure",
        r"nvme (?P<key>nvme[0-9]{1,4}): Disabling device after reset failure",
    ),
    line("disabled", "Removing after probe failure", r"nvme (?P<key>nvme[0-9]{1,4}): Removing after probe failure"),
    line("not_ready", "Device not ready; aborting", r"nvme (?P<key>nvme[0-9]{1,4}): Device not ready; aborting"),
    line(
        "not_ready", "controller is down; will reset", r"nvme (?P<key>nvme[0-9]{1,4}): controller is down; will reset"
    ),
)
"""Patterns of the lines about NVMe controllers that timed out, were not ready, or were disabled."""
