"""Which kernel modules are loaded."""

from rackcheck import Facts, Files, Read, Reason, Sourced, Unreadable, collection, flag, probe, spell_key, version
from rackcheck.core import read

PLACE = "/proc/modules"
ALWAYS, MODPROBE = "/proc/sys/kernel/osrelease", "/proc/sys/kernel/modprobe"
"""What every kernel has in /proc/sys, and what only one has that can load modules."""


@probe(
    Read(PLACE, ALWAYS, MODPROBE, "/sys/module/*/version"),
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
    """Read the loaded modules; a kernel that shows that it was built without them has no list, and so none."""
    if not files.has(PLACE):
        built_without(files)
        return
    for row in read.rows(files.text(PLACE)):
        fields = row.split()
        if len(fields) < 6 or fields[4] not in {"Live", "Loading", "Unloading"}:
            raise Unreadable(f"not a module: {row[:80]!r}")
        item = f"module/{spell_key(fields[0])}"
        yield f"{item}.loaded", Sourced(fields[4] == "Live", PLACE)
        yield f"{item}.version", files.read(f"/sys/module/{fields[0]}/version")


def built_without(files: Files) -> None:
    """Raise Unreadable unless the kernel can have no modules: /sys/module tells nothing, built-in code is there too."""
    if not files.has(ALWAYS):
        raise Unreadable(f"neither {PLACE} nor {ALWAYS} is there: somebody hides them", Reason.NOT_COLLECTED)
    if files.has(MODPROBE):
        raise Unreadable(f"{PLACE} is not there, though this kernel can load modules", Reason.NOT_COLLECTED)
