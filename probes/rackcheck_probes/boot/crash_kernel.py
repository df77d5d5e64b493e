"""Whether a kernel crash would be recorded: memory is reserved and a crash kernel is loaded."""

from rackcheck import Facts, Files, Read, flag, probe, quantity, read

LOADED, SIZE, NEXT = (f"/sys/kernel/kexec_{name}" for name in ("crash_loaded", "crash_size", "loaded"))


@probe(
    Read(LOADED, SIZE, NEXT),
    gives={
        "kernel.crash.loaded": flag("Whether a crash kernel is loaded, so that a panic leaves a dump (kdump)."),
        "kernel.crash.memory": quantity("MiB", "Memory reserved for the crash kernel."),
        "kernel.kexec.loaded": flag("Whether a kernel is loaded for a quick reboot (kexec)."),
    },
)
def crash_kernel(files: Files) -> Facts:
    """Read the three files in /sys/kernel; a kernel built without kexec has none of these files."""
    yield "kernel.crash.loaded", files.read(LOADED, read.bit)
    yield "kernel.crash.memory", files.read(SIZE, lambda content: read.whole(content) / (1 << 20))
    yield "kernel.kexec.loaded", files.read(NEXT, read.bit)
