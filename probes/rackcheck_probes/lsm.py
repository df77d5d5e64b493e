"""Which security modules the kernel runs, and whether they enforce."""

from collections.abc import Callable

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, flag, listing, probe, text
from rackcheck.core import read
from rackcheck.core.fact import Value

FOLDER, MOUNTS = "/sys/kernel/security", "/proc/mounts"
MODULES, LOCKDOWN = f"{FOLDER}/lsm", f"{FOLDER}/lockdown"
SELINUX, APPARMOR = "/sys/fs/selinux/enforce", "/sys/module/apparmor/parameters/enabled"


def secured(files: Files, place: str, reader: Callable[[str], Value]) -> Sourced:
    """Read a file of the security file system; where that is not mounted, its folder is there and empty."""
    told = files.read(place, reader)
    if not isinstance(told.reading, Absent):
        return told
    mounted = files.read(MOUNTS, lambda rows: any(r.split(" ")[1:3] == [FOLDER, "securityfs"] for r in read.rows(rows)))
    if mounted.reading is True:
        return told
    lost = Unknown(Reason.NOT_COLLECTED, f"no securityfs is mounted on {FOLDER}")
    return Sourced(mounted.reading if isinstance(mounted.reading, Unknown) else lost, MOUNTS)


@probe(
    Read(MODULES, LOCKDOWN, SELINUX, APPARMOR, MOUNTS),
    gives={
        "kernel.lsm": listing("The security modules that are on, in their order: capability, yama, apparmor."),
        "kernel.lockdown": text("What even root may not do to the kernel: none, integrity, confidentiality."),
        "os.selinux.enforcing": flag("True: SELinux enforces; false: it only logs; absent where it is off."),
        "os.apparmor.enabled": flag("Whether AppArmor is on; absent from a kernel without it."),
    },
)
def lsm(files: Files) -> Facts:
    """Read what the security file system, SELinux's own and AppArmor's module say."""
    yield "os.selinux.enforcing", files.read(SELINUX, read.bit)
    yield "os.apparmor.enabled", files.read(APPARMOR, lambda content: read.flag(content.strip(), yes="Y", no="N"))
    yield "kernel.lsm", secured(files, MODULES, lambda content: tuple(read.line(content).split(",")))
    yield "kernel.lockdown", secured(files, LOCKDOWN, read.chosen)
