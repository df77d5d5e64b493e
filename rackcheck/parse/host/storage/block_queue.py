"""The kernel's files of a block device and its queue, below /sys/block: how requests are queued."""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import chosen, line, whole

_NO_DISK = regex(r"(loop|ram|zram|sr|fd|nbd)[0-9]+")
"""Matches block devices that are not disks: files, memory, devices on a network, and removable drives."""


_SECTOR = 512
"""Size in bytes of the sectors in which the kernel counts a block device's size, whatever the device's block size."""


def is_disk(name: str) -> bool:
    """Return whether a block device is a disk (nvme0n1, sda, md0, dm-1), not a loop device, RAM disk or the like."""
    return _NO_DISK.fullmatch(name) is None


def gibibytes(content: str) -> float:
    """Convert a size in the kernel's sectors to GiB; raises Unreadable on anything but a whole number."""
    return whole(content) * _SECTOR / (1 << 30)


def amount(content: str) -> float:
    """Read a whole number in the file's unit (KiB, microseconds, milliseconds); raises Unreadable on anything else."""
    return float(whole(content))


def scheduler(content: str) -> str:
    """Return the I/O scheduler in use: the word in brackets, as in `[none] mq-deadline`, or the only word of the file.

    Raises Unreadable on an empty file, on several lines, and on several words of which none or several are in brackets.
    """
    word = line(content)
    return word if re.fullmatch(r"[a-z-]{1,30}", word) else chosen(content)


def requests(content: str) -> int:
    """Read how many requests a queue may hold; raises Unreadable if this is 0 or not a whole number."""
    number = whole(content)
    if number < 1:
        raise Unreadable(f"not a number of requests: {number}")
    return number
