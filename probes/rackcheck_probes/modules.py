"""Which kernel modules are loaded."""

from rackcheck import Facts, Files, Read, Sourced, Unreadable, collection, flag, probe, spell_key, version
from rackcheck.core import read

PLACE = "/proc/modules"


@probe(
    Read(PLACE, "/sys/module/*/version"),
    gives={
        "module": collection(
            "Kernel modules that are loaded, by name with underscores; none if the kernel has no modules."
        ),
        "module/*.loaded": flag("True once the module is live; false while it loads or unloads."),
        "module/*.version": version(
            "opaque", "The version that the loaded module gives itself; absent if it gives none."
        ),
    },
)
def modules(files: Files) -> Facts:
    """Read the loaded modules; a kernel built without them has no list, and so none."""
    for row in read.rows(files.text(PLACE)) if files.has(PLACE) else ():
        fields = row.split()
        if len(fields) < 6 or fields[4] not in {"Live", "Loading", "Unloading"}:
            raise Unreadable(f"not a module: {row[:80]!r}")
        item = f"module/{spell_key(fields[0])}"
        yield f"{item}.loaded", Sourced(fields[4] == "Live", PLACE)
        yield f"{item}.version", files.read(f"/sys/module/{fields[0]}/version")
