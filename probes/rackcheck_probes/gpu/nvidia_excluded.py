"""GPUs that NVIDIA's driver was told to leave alone: they stand on the bus, and NVML does not tell of them."""

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, listing, probe
from rackcheck.model import text as read

PLACE = "/proc/driver/nvidia/gpus/*/information"
LOADED = "/proc/driver/nvidia/version"


@probe(
    Read(PLACE, LOADED),
    gives={
        "driver.excluded": listing("GPUs that the driver was told to leave alone, by PCI address; absent without it.")
    },
)
def nvidia_excluded(files: Files) -> Facts:
    """Read the line `GPU Excluded:` of each GPU that the driver knows."""
    if not files.has(LOADED):
        yield "driver.excluded", Sourced(Absent("NVIDIA's module is not loaded"), LOADED)
        return
    excluded = []
    for (address,) in files.found(PLACE):
        text = read.key_values(files.text(PLACE.replace("*", address))).get("GPU Excluded")
        if text is None:
            raise Unreadable(f"{address} does not say whether it is excluded")
        if read.flag(text, yes="Yes", no="No"):
            excluded.append(address)
    yield "driver.excluded", Sourced(tuple(excluded), PLACE)
