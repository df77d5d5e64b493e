"""How long the system has been up, which boot this is, and whether users may log in."""

import re

from rackcheck import Class, Facts, Files, Read, flag, probe, quantity, text
from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import line, number

UPTIME, ID = "/proc/uptime", "/proc/sys/kernel/random/boot_id"
NOLOGIN = ("/etc/nologin", "/run/nologin")
"""Files that pam_nologin checks."""


@probe(
    Read(UPTIME, ID, *NOLOGIN),
    gives={
        "os.boot.uptime": quantity("s", "Seconds since the kernel started.", Class.MEASUREMENT),
        "os.boot.id": text("The kernel's id of this boot; every reboot changes it.", Class.MEASUREMENT),
        "os.nologin": flag(
            "Whether only root may log in: an administrator or a scheduled shutdown created a nologin file."
        ),
    },
)
def boot(files: Files) -> Facts:
    """Read the uptime and the boot's id, and check for the files that block logins."""
    yield "os.boot.uptime", files.read(UPTIME, uptime)
    yield "os.boot.id", files.read(ID, boot_id)
    yield "os.nologin", any(files.has(place) for place in NOLOGIN)


# What the kernel reports about its boot: /proc/uptime, and the boot's id in /proc/sys/kernel/random/boot_id.


def uptime(content: str) -> float:
    """Read the seconds since the kernel started: the first number in a line such as `351735.47 234388.90`."""
    return number(line(content).partition(" ")[0])


def boot_id(content: str) -> str:
    """Read a UUID as the kernel prints it; raises Unreadable on anything else."""
    message = line(content)
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", message):
        raise Unreadable(f"not a UUID: {message[:80]!r}")
    return message
