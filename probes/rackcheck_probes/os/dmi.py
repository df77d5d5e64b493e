"""Who made the machine, and which firmware its maker says it has."""

from rackcheck import Class, Facts, Files, Read, Reason, Unreadable, probe, text, version
from rackcheck.model import text as read
from rackcheck.model.identity import BLANKS

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
    """Give what the maker wrote; a placeholder is not it."""
    if content.strip().casefold() in ("", *BLANKS):
        raise Unreadable(f"the maker left it as {content.strip()!r}", Reason.NOT_COLLECTED)
    return read.line(content)


@probe(
    Read(*(f"{FOLDER}/{name}" for name in NAMES.values())),
    gives={
        "node.vendor": text("Who made the system, as its DMI table says.", Class.IDENTITY),
        "node.product": text("The system's product name, as its DMI table says.", Class.IDENTITY),
        "node.board": text("The main board's product name, as its DMI table says.", Class.IDENTITY),
        "os.bios.vendor": text("Who made the BIOS, as the OS sees it.", Class.IDENTITY),
        "os.bios.version": version("opaque", "The BIOS version, as the OS sees it."),
        "os.bios.date": version("date", "The BIOS release date, by the specification month/day/year."),
    },
)
def dmi(files: Files) -> Facts:
    """Read the DMI identity that the kernel shows; absent on machines without DMI."""
    for path, name in NAMES.items():
        yield path, files.read(f"{FOLDER}/{name}", filled)
