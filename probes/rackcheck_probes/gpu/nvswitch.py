"""NVSwitches that the node's driver runs: those of Ampere and Hopper; later NVSwitches are not devices of the node."""

from rackcheck import Facts, Files, Read, collection, probe, read, spell_key, version
from rackcheck.model.fact import Absent, Unreadable

PLACE = "/proc/driver/nvidia-nvswitch/devices/*/information"


def bios(content: str) -> str:
    """Read the version from a line such as `BIOS Version: 96.10.4A.00.01`."""
    name, _, text = read.line(content).partition(": ")
    if name != "BIOS Version" or text == "N/A":
        raise Unreadable("the switch has no version" if text == "N/A" else f"not a version: {content.strip()[:80]!r}")
    return text


# Unverified on hardware: in the format that NVIDIA's open kernel modules print.
@probe(
    Read(PLACE),
    gives={
        "nvswitch": collection(
            "NVSwitches by PCI address; none if the switches are not devices of the node.", alike=()
        ),
        "nvswitch/*.bios": version(
            "hex-dotted", "The switch's firmware version; absent if the driver has not read it."
        ),
    },
)
def nvswitch(files: Files) -> Facts:
    """Read each switch's firmware."""
    for (address,) in files.found(PLACE):
        place = PLACE.replace("*", address)
        sourced = files.read(place, bios)
        none = files.contents.get(place, "").strip().endswith(": N/A")
        yield f"nvswitch/{spell_key(address)}.bios", Absent("the driver has not read the version") if none else sourced
