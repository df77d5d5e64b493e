"""Which modules the node is told to load at boot, and which never by themselves."""

from rackcheck import Facts, Files, Read, listing, probe
from rackcheck.parse.host.os import drop_ins, modprobe

LOAD = ("/etc/modules", *(f"{place}/modules-load.d/*.conf" for place in ("/usr/lib", "/run", "/etc")))
PROBE = tuple(f"{place}/modprobe.d/*.conf" for place in ("/usr/lib", "/run", "/etc"))


@probe(
    Read(*LOAD, *PROBE),
    gives={
        "kernel.modules.autoload": listing("Modules that /etc/modules and modules-load.d load at boot."),
        "kernel.modules.blacklisted": listing("Modules that modprobe.d keeps from loading by themselves: nouveau."),
        "kernel.modules.forbidden": listing("Modules for which modprobe.d runs /bin/false or its like instead."),
    },
)
def module_files(files: Files) -> Facts:
    """Read the names; dashes and underscores are one to the kernel, which spells underscores."""
    wanted, orders = drop_ins.lines(files, LOAD), drop_ins.lines(files, PROBE)
    yield "kernel.modules.autoload", modprobe.autoload(wanted)
    yield "kernel.modules.blacklisted", modprobe.blacklisted(orders)
    yield "kernel.modules.forbidden", modprobe.forbidden(orders)
