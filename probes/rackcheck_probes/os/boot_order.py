"""The firmware's boot order and the entry of this boot, as the operating system reads them."""

from rackcheck import Absent, Facts, Shell, Unreadable, listing, probe, text
from rackcheck.parse.host.os import efivars

NONE = Absent("not booted by UEFI")


@probe(
    Shell(efivars.asking("BootOrder", "BootCurrent")),
    gives={
        "os.boot.order": listing(
            "UEFI's boot entries in the order in which they are tried: Boot0003; absent without UEFI."
        ),
        "os.boot.entry": text("The boot entry this system was started from; absent without UEFI."),
    },
)
def boot_order(answer: str) -> Facts:
    """Read the boot order and the boot entry that this boot used; both facts are absent without UEFI."""
    shown = efivars.variables(answer)
    yield "os.boot.order", NONE if shown is None else efivars.entries("BootOrder", shown)
    current = NONE if shown is None else efivars.entries("BootCurrent", shown)
    if isinstance(current, tuple) and len(current) != 1:
        raise Unreadable(f"BootCurrent lists {len(current)} entries, expected 1")
    yield "os.boot.entry", current[0] if isinstance(current, tuple) else current
