"""/proc/modules: the kernel modules that are loaded; see proc_modules(5)."""

from collections.abc import Iterator

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import rows

PLACE = "/proc/modules"
ALWAYS, MODPROBE = "/proc/sys/kernel/osrelease", "/proc/sys/kernel/modprobe"
"""A file in /proc/sys that every kernel has, and a file that exists only if the kernel can load modules."""


def modules(content: str) -> Iterator[tuple[str, bool]]:
    """Yield each module's name and whether the module is live, that is, neither loading nor unloading.

    At a row that is not a module, raises Unreadable after yielding the modules before it.
    """
    for row in rows(content):
        fields = row.split()
        if len(fields) < 6 or fields[4] not in {"Live", "Loading", "Unloading"}:
            raise Unreadable(f"not a module: {row[:80]!r}")
        yield fields[0], fields[4] == "Live"


def built_without(files: Files) -> None:
    """Check that /proc/modules is missing because the kernel cannot load modules; otherwise, raises Unreadable."""
    if not files.has(ALWAYS):
        raise Unreadable(f"neither {PLACE} nor {ALWAYS} exists: they are hidden", Reason.NOT_COLLECTED)
    if files.has(MODPROBE):
        raise Unreadable(f"{PLACE} does not exist, though this kernel can load modules", Reason.NOT_COLLECTED)
