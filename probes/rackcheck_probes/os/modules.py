"""Which kernel modules are loaded."""

from rackcheck import Facts, Files, Read, Sourced, collection, flag, probe, spell_key, version
from rackcheck.parse.host.os import proc_modules
from rackcheck.parse.host.os.proc_modules import ALWAYS, MODPROBE, PLACE


@probe(
    Read(PLACE, ALWAYS, MODPROBE, "/sys/module/*/version"),
    gives={
        "module": collection(
            "Kernel modules that are loaded, by name with underscores; none if the kernel has no modules."
        ),
        "module/*.loaded": flag("True once the module is live; false while it loads or unloads."),
        "module/*.version": version("opaque", "The version of the loaded module; absent if it has none."),
    },
)
def modules(files: Files) -> Facts:
    """Read the loaded modules; a kernel that was certainly built without modules has none."""
    if not files.has(PLACE):
        proc_modules.built_without(files)
        return
    for name, live in proc_modules.modules(files.text(PLACE)):
        item = f"module/{spell_key(name)}"
        yield f"{item}.loaded", Sourced(live, PLACE)
        yield f"{item}.version", files.read(f"/sys/module/{name}/version")
