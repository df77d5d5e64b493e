"""What the kernel tells of its boot: /proc/uptime, and the boot's name in /proc/sys/kernel/random/boot_id."""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import line, number


def uptime(content: str) -> float:
    """Read the first of `351735.47 234388.90`, seconds since the kernel started; raises Unreadable on anything else."""
    return number(line(content).partition(" ")[0])


def boot_id(content: str) -> str:
    """Read a UUID as the kernel prints it; raises Unreadable on anything else."""
    told = line(content)
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", told):
        raise Unreadable(f"not a UUID: {told[:80]!r}")
    return told
