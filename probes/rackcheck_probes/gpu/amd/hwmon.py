"""Sensors of AMD GPUs: each GPU has one folder of sensor files, whose number the kernel assigns."""

from collections.abc import Iterable, Iterator

from rackcheck import Absent, Files, Read, Reason, Unknown
from rackcheck_probes.gpu.amd.amd import DEVICE, GPUS, NOT_RUN, gpus

SENSORS = DEVICE.format("*") + "/hwmon/hwmon*/{}"


def question(names: Iterable[str]) -> Read:
    """Request the sensor files with these names of every AMD GPU."""
    return Read(*GPUS, *(SENSORS.format(name) for name in names))


def folders(files: Files, names: Iterable[str]) -> Iterator[tuple[str, str | Absent | Unknown]]:
    """Yield the fact path of each GPU, and the folder of its sensors or the reason why it has none."""
    found: dict[str, set[str]] = {}
    for name in names:
        for address, number in files.found(SENSORS.format(name)):
            device = DEVICE.format(address)
            found.setdefault(device, set()).add(f"{device}/hwmon/hwmon{number}")
    for item, device, running in gpus(files):
        places = found.get(device, set())
        if not running:
            yield item, NOT_RUN
        elif len(places) > 1:
            yield item, Unknown(Reason.NOT_COLLECTED, f"the GPU has {len(places)} sensor folders, expected 1")
        else:
            yield item, next(iter(places), Absent("the driver provides no sensors"))
