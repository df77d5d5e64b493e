"""Security modules of the kernel, and whether they enforce their policies."""

from rackcheck import Facts, Files, Read, flag, listing, probe, read, text
from rackcheck.parse.host.os import securityfs
from rackcheck.parse.host.os.securityfs import FOLDER, MOUNTS

MODULES, LOCKDOWN = f"{FOLDER}/lsm", f"{FOLDER}/lockdown"
SELINUX, APPARMOR = "/sys/fs/selinux/enforce", "/sys/module/apparmor/parameters/enabled"


@probe(
    Read(MODULES, LOCKDOWN, SELINUX, APPARMOR, MOUNTS),
    gives={
        "kernel.lsm": listing("The enabled security modules, in the kernel's order: capability, yama, apparmor."),
        "kernel.lockdown": text("Kernel lockdown mode, which restricts root: none, integrity, confidentiality."),
        "os.selinux.enforcing": flag(
            "True if SELinux enforces its policy; false if SELinux only logs; absent if SELinux is off."
        ),
        "os.apparmor.enabled": flag("Whether AppArmor is on; absent on a kernel without AppArmor."),
    },
)
def lsm(files: Files) -> Facts:
    """Read securityfs, and the files of SELinux and AppArmor."""
    yield "os.selinux.enforcing", files.read(SELINUX, read.bit)
    yield "os.apparmor.enabled", files.read(APPARMOR, lambda content: read.flag(content.strip(), yes="Y", no="N"))
    yield "kernel.lsm", securityfs.read(files, MODULES, lambda content: tuple(read.line(content).split(",")))
    yield "kernel.lockdown", securityfs.read(files, LOCKDOWN, read.chosen)
