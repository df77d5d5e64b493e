"""/proc/swaps, and what memory a compressed memory disk takes."""

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows, whole

_HEAD = ["Filename", "Type", "Size", "Used", "Priority"]


def areas(content: str) -> tuple[str, ...]:
    """Give the swap partitions and files in use, as the kernel escapes their paths.

    Raises Unreadable on a table with another head.
    """
    head, *below = rows(content) or [""]
    if head.split() != _HEAD:
        raise Unreadable(f"/proc/swaps begins otherwise: {head[:60]!r}")
    return tuple(row.split()[0] for row in below if row.split())


def zram_used(mm_stat: str) -> int:
    """Read the third number of a disk's mm_stat, the bytes that it takes in all; raises Unreadable where it is none."""
    words = mm_stat.split()
    return whole(words[2] if len(words) > 2 else "")
