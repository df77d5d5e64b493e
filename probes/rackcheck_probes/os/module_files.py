"""Modules that the node loads at boot, and modules that are blocked."""

from rackcheck import Facts, Files, Read, listing, probe
from rackcheck.parse.host.os import drop_ins, modprobe

LOAD = ("/etc/modules", *(f"{place}/modules-load.d/*.conf" for place in ("/usr/lib", "/run", "/etc")))
PROBE = tuple(f"{place}/modprobe.d/*.conf" for place in ("/usr/lib", "/run", "/etc"))


@probe(
    Read(*LOAD, *PROBE),
    gives={
        "kernel.modules.autoload": listing("Modules that /etc/modules and modules-load.d load at boot."),
        "kernel.modules.blacklisted": listing("Modules that modprobe.d excludes from automatic loading: nouveau."),
        "kernel.modules.forbidden": listing("Modules for which modprobe.d runs /bin/false or similar instead."),
    },
)
def module_files(files: Files) -> Facts:
    """Read the names of modules, spelled with underscores; the kernel treats dashes and underscores as equal."""
    wanted, orders = drop_ins.lines(files, LOAD), drop_ins.lines(files, PROBE)
    yield "kernel.modules.autoload", modprobe.autoload(wanted)
    yield "kernel.modules.blacklisted", modprobe.blacklisted(orders)
    yield "kernel.modules.forbidden", modprobe.forbidden(orders)
