"""How long the system has been up, which boot this is, and whether it lets users in."""

import re

from rackcheck import Class, Facts, Files, Read, flag, probe, quantity, text
from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import line, number

UPTIME, ID = "/proc/uptime", "/proc/sys/kernel/random/boot_id"
NOLOGIN = ("/etc/nologin", "/run/nologin")
"""What pam_nologin looks for."""


@probe(
    Read(UPTIME, ID, *NOLOGIN),
    gives={
        "os.boot.uptime": quantity("s", "Seconds since the kernel started.", Class.MEASUREMENT),
        "os.boot.id": text("The kernel's name for this boot: another one means that it rebooted.", Class.MEASUREMENT),
        "os.nologin": flag("Whether only root may log in: somebody, or a shutdown that is near, has said so."),
    },
)
def boot(files: Files) -> Facts:
    """Read the uptime and the boot's id, and look for the marks that keep users out."""
    yield "os.boot.uptime", files.read(UPTIME, uptime)
    yield "os.boot.id", files.read(ID, boot_id)
    yield "os.nologin", any(files.has(place) for place in NOLOGIN)


# What the kernel tells of its boot: /proc/uptime, and the boot's name in /proc/sys/kernel/random/boot_id.


def uptime(content: str) -> float:
    """Read the first of `351735.47 234388.90`, seconds since the kernel started; raises Unreadable on anything else."""
    return number(line(content).partition(" ")[0])


def boot_id(content: str) -> str:
    """Read a UUID as the kernel prints it; raises Unreadable on anything else."""
    message = line(content)
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", message):
        raise Unreadable(f"not a UUID: {message[:80]!r}")
    return message
