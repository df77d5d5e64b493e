"""Which modules the node is told to load at boot, and which never by themselves."""

import re

from rackcheck import Facts, Files, Read, listing, probe

LOAD = ("/etc/modules", *(f"{place}/modules-load.d/*.conf" for place in ("/usr/lib", "/run", "/etc")))
PROBE = tuple(f"{place}/modprobe.d/*.conf" for place in ("/usr/lib", "/run", "/etc"))


def rows(files: Files, globs: tuple[str, ...]) -> list[str]:
    """Give the lines of all files; one in a later folder hides its namesake in an earlier one."""
    drops: dict[str, str] = {}
    for glob in globs:
        if "*" in glob:
            drops |= {name: glob.replace("*", name) for (name,) in files.found(glob)}
        elif files.has(glob):
            drops[glob] = glob
    contents = (files.text(place) for place in drops.values())
    return [row for content in contents for line in content.splitlines() if (row := line.partition("#")[0].strip())]


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
    wanted = {row.split()[0].replace("-", "_") for row in rows(files, LOAD) if not row.startswith(";")}
    orders = [row.split() for row in rows(files, PROBE)]
    banned = {words[1].replace("-", "_") for words in orders if words[0] == "blacklist" and len(words) > 1}
    never = {
        words[1].replace("-", "_")
        for words in orders
        if words[0] == "install" and len(words) > 2 and re.fullmatch(r"(?:/usr)?/bin/(?:false|true)", words[2])
    }
    yield "kernel.modules.autoload", tuple(sorted(wanted))
    yield "kernel.modules.blacklisted", tuple(sorted(banned))
    yield "kernel.modules.forbidden", tuple(sorted(never))
