"""How long the system has been up, which boot this is, and whether it lets users in."""

from rackcheck import Class, Facts, Files, Read, flag, probe, quantity, text
from rackcheck.parse.host.os import proc_boot

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
    yield "os.boot.uptime", files.read(UPTIME, proc_boot.uptime)
    yield "os.boot.id", files.read(ID, proc_boot.boot_id)
    yield "os.nologin", any(files.has(place) for place in NOLOGIN)
