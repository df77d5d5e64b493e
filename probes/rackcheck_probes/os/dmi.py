"""The machine's manufacturer and its firmware version, as the manufacturer wrote them."""

from rackcheck import Class, Facts, Files, Read, Reason, Unreadable, probe, read, text, version
from rackcheck.model.placeholder import MAKER

FOLDER = "/sys/class/dmi/id"
NAMES = {
    "node.vendor": "sys_vendor",
    "node.product": "product_name",
    "node.board": "board_name",
    "os.bios.vendor": "bios_vendor",
    "os.bios.version": "bios_version",
    "os.bios.date": "bios_date",
}


def filled(content: str) -> str:
    """Return a text of the DMI table as the manufacturer wrote it; raises Unreadable on a placeholder."""
    if content.strip().casefold() in ("", *MAKER):
        raise Unreadable(f"the manufacturer left the placeholder {content.strip()!r}", Reason.NOT_COLLECTED)
    return read.line(content)


@probe(
    Read(*(f"{FOLDER}/{name}" for name in NAMES.values())),
    gives={
        "node.vendor": text("The system's manufacturer, from the DMI table.", Class.IDENTITY),
        "node.product": text("The system's product name, from the DMI table.", Class.IDENTITY),
        "node.board": text("The main board's product name, from the DMI table.", Class.IDENTITY),
        "os.bios.vendor": text("The BIOS vendor, as the OS reads it.", Class.IDENTITY),
        "os.bios.version": version("opaque", "The BIOS version, as the OS reads it."),
        "os.bios.date": version("date", "The BIOS release date, month/day/year by the specification."),
    },
)
def dmi(files: Files) -> Facts:
    """Read the DMI identity that the kernel shows; the facts are absent on machines without DMI."""
    for path, name in NAMES.items():
        yield path, files.read(f"{FOLDER}/{name}", filled)
