"""/proc/modules: the kernel modules that are loaded; see proc_modules(5)."""

from collections.abc import Iterator

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import rows

PLACE = "/proc/modules"
ALWAYS, MODPROBE = "/proc/sys/kernel/osrelease", "/proc/sys/kernel/modprobe"
"""What every kernel has in /proc/sys, and what only one has that can load modules."""


def modules(content: str) -> Iterator[tuple[str, bool]]:
    """Return each module's name and whether it is live; false while it loads or unloads.

    Raises Unreadable at a row that is no module, after those before it.
    """
    for row in rows(content):
        fields = row.split()
        if len(fields) < 6 or fields[4] not in {"Live", "Loading", "Unloading"}:
            raise Unreadable(f"not a module: {row[:80]!r}")
        yield fields[0], fields[4] == "Live"


def built_without(files: Files) -> None:
    """Raise Unreadable unless the kernel can have no modules: /sys/module lists built-in code too."""
    if not files.has(ALWAYS):
        raise Unreadable(f"neither {PLACE} nor {ALWAYS} is there: somebody hides them", Reason.NOT_COLLECTED)
    if files.has(MODPROBE):
        raise Unreadable(f"{PLACE} is not there, though this kernel can load modules", Reason.NOT_COLLECTED)
