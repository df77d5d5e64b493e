"""The sizes of the memory windows (BARs) of each PCI function."""

from rackcheck import Absent, Facts, Files, Read, Sourced, Unknown, Unreadable, listing, probe, quantity, spell_key
from rackcheck.parse.host.pcie import pci

DEVICES = "/sys/bus/pci/devices"


def windows(files: Files, place: str) -> tuple[tuple[int, int], ...] | Unknown:
    """Return the size in bytes and the flags of each BAR of a PCI function, or the reason why they are unknown."""
    try:
        return pci.windows(files.text(place))
    except Unreadable as error:
        return Unknown(error.reason, str(error))


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in ("resource", "class")), seconds=30, cap=8 << 20),
    gives={
        **{
            f"pcie/*.bar{number}": quantity("GiB", f"The size of the memory behind BAR {number}; absent if none.")
            for number in range(pci.BARS)
        },
        "pcie/*.bar.largest": quantity(
            "GiB", "The size of the largest memory BAR, which NVIDIA calls BAR1 regardless of its number."
        ),
        "pcie/*.bar.unset": listing("Numbers of the BARs to which the kernel assigned no address."),
    },
)
def pcie_bar(files: Files) -> Facts:
    """Read the size of each function's memory BARs; BARs of I/O ports are left out."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        item, place = f"pcie/{spell_key(address)}", f"{DEVICES}/{address}/resource"
        found = windows(files, place)
        why = found if isinstance(found, Unknown) else Absent("no memory BAR")
        bars = () if isinstance(found, Unknown) else found
        sizes = {n: size / (1 << 30) for n, (size, flags) in enumerate(bars) if flags & pci.IS_MEMORY}
        for number in range(pci.BARS):
            yield f"{item}.bar{number}", Sourced(sizes.get(number, why), place)
        yield f"{item}.bar.largest", Sourced(max(sizes.values()) if sizes else why, place)
        unset = tuple(str(n) for n, (_, flags) in enumerate(bars) if flags & pci.UNSET)
        yield f"{item}.bar.unset", Sourced(unset if bars else why, place)
