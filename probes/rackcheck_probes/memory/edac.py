"""Memory errors that the kernel has counted."""

from rackcheck import Class, Facts, Files, Read, Reason, Unreadable, collection, integer, probe, read, spell_key

GLOBS = {name: f"/sys/devices/system/edac/mc/*/{name}_count" for name in ("ce", "ue")}


@probe(
    Read(*GLOBS.values()),
    gives={
        "memory.controller": collection(
            "Memory controllers whose errors the kernel counts; unknown without an EDAC driver."
        ),
        "memory.controller/*.corrected": integer("Corrected memory errors since boot.", Class.COUNTER),
        "memory.controller/*.uncorrected": integer("Uncorrected memory errors since boot.", Class.COUNTER),
    },
)
def edac(files: Files) -> Facts:
    """Read each memory controller's counters; raises Unreadable without an EDAC driver: then no errors are counted."""
    found = {name for glob in GLOBS.values() for (name,) in files.found(glob)}
    if not found:
        raise Unreadable("no memory controller has an EDAC driver: errors are not counted", Reason.TOOL_MISSING)
    for name in sorted(found, key=read.natural):
        item = f"memory.controller/{spell_key(name)}"
        yield f"{item}.corrected", files.read(GLOBS["ce"].replace("*", name), read.whole)
        yield f"{item}.uncorrected", files.read(GLOBS["ue"].replace("*", name), read.whole)
