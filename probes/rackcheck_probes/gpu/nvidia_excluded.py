"""GPUs excluded from NVIDIA's driver: they are on the bus, and NVML does not list them."""

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, listing, probe, read

PLACE = "/proc/driver/nvidia/gpus/*/information"
LOADED = "/proc/driver/nvidia/version"


@probe(
    Read(PLACE, LOADED),
    gives={"driver.excluded": listing("GPUs excluded from the driver, by PCI address; absent without the driver.")},
)
def nvidia_excluded(files: Files) -> Facts:
    """Read the line `GPU Excluded:` of each GPU that the driver lists."""
    if not files.has(LOADED):
        yield "driver.excluded", Sourced(Absent("NVIDIA's module is not loaded"), LOADED)
        return
    excluded = []
    for (address,) in files.found(PLACE):
        text = read.key_values(files.text(PLACE.replace("*", address))).get("GPU Excluded")
        if text is None:
            raise Unreadable(f"{address} has no line `GPU Excluded`")
        if read.flag(text, yes="Yes", no="No"):
            excluded.append(address)
    yield "driver.excluded", Sourced(tuple(excluded), PLACE)
