"""Every NVIDIA GPU, as its driver tells."""

import json
from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any

from rackcheck import (
    Absent,
    Class,
    Facts,
    Reason,
    Shell,
    Sourced,
    Unreadable,
    collection,
    flag,
    integer,
    listing,
    probe,
    quantity,
    text,
    version,
)
from rackcheck.core import read
from rackcheck.core.capture import PAYLOAD
from rackcheck.core.fact import Value
from rackcheck_probes.nvml import WHY, address, as_told, counted, one_of, payload, persistence, reading, reasons, scaled

# First the bus, which needs no driver: NVIDIA's display and 3D controllers. Then NVML, through pynvml's own source,
# which rides along and runs under the node's Python; nothing is written on the node.
COMMAND = """\
if cd /sys/bus/pci/devices 2>/dev/null; then
for d in *; do
{ read -r v <"$d/vendor" && read -r c <"$d/class"; } 2>/dev/null || continue
case $v$c in 0x10de0x03*) echo "bus $d";; esac
done
echo 'bus read'
fi
[ -e /proc/driver/nvidia/version ] && echo 'driver loaded'
p=$(command -v python3 || command -v /usr/libexec/platform-python) || { echo 'no python3'; exit 0; }"""


ENABLED = one_of("disabled", "enabled")
FIELDS: Mapping[str, tuple[str, Callable[[Any], Value]]] = {
    "name": ("name", as_told),
    "uuid": ("uuid", as_told),
    "serial": ("serial", as_told),
    "pci": ("pci", address),
    "vbios": ("vbios", as_told),
    "memory.total": ("memory", scaled(1 << 30)),
    "persistence": ("persistence", persistence),
    "ecc.mode": ("ecc", ENABLED),
    "ecc.pending": ("ecc_pending", ENABLED),
    "ecc.uncorrected": ("ecc_uncorrected", counted),
    "mig.mode": ("mig", ENABLED),
    "power.limit": ("power_limit", scaled(1000)),
    "power.enforced": ("power_enforced", scaled(1000)),
    "power.default": ("power_default", scaled(1000)),
    "power.max": ("power_max", scaled(1000)),
    "clock.sm_max": ("sm_max", scaled(1)),
    "clock.event_reasons": ("reasons", reasons),
    "temperature": ("temperature", scaled(1)),
    "link.generation": ("link_generation", counted),
    "link.max_generation": ("link_max_generation", counted),
    "link.width": ("link_width", counted),
    "link.max_width": ("link_max_width", counted),
}


def said(rows: list[str]) -> Any:
    """Give the payload's line of JSON; without a Python there is none, which it would have said itself."""
    if "no python3" in rows:
        return {"unknown": Reason.TOOL_MISSING.value, "detail": "no python3 on the node to ask NVML with"}
    try:
        return json.loads(rows[-1])
    except (ValueError, RecursionError, IndexError) as error:
        raise Unreadable(f"the question to NVML gave no answer: {rows[-1:]!r:.80}") from error


@probe(
    Shell(f'{COMMAND}{PAYLOAD}printf %s {quote(payload())} | "$p" -I -S -', seconds=60),
    gives={
        "gpu": collection("NVIDIA GPUs by the driver's index; known to be none only if the PCI bus holds none either."),
        "gpu/*.name": text("The GPU's product name.", Class.IDENTITY),
        "gpu/*.uuid": text("The GPU's unique id.", Class.IDENTITY),
        "gpu/*.serial": text("The board's serial number; absent on boards that have none to read.", Class.IDENTITY),
        "gpu/*.pci": text("The GPU's PCI address, as the kernel spells it.", Class.IDENTITY),
        "gpu/*.vbios": version("hex-dotted", "The GPU's VBIOS version."),
        "gpu/*.memory.total": quantity("GiB", "The GPU's memory, as the driver counts it."),
        "gpu/*.persistence": flag("Whether the driver stays loaded while nobody uses the GPU."),
        "gpu/*.ecc.mode": text("Memory error correction now: enabled, disabled; absent if the GPU has none."),
        "gpu/*.ecc.pending": text("Memory error correction after the next reset of the GPU."),
        "gpu/*.ecc.uncorrected": integer("Uncorrected memory errors since the driver was loaded.", Class.COUNTER),
        "gpu/*.mig.mode": text("Multi-instance GPU: enabled, disabled; absent if the GPU cannot."),
        "gpu/*.power.limit": quantity("W", "The power limit that is set."),
        "gpu/*.power.enforced": quantity("W", "The lowest of all limits in force now.", Class.MEASUREMENT),
        "gpu/*.power.default": quantity("W", "The power limit that the GPU starts with."),
        "gpu/*.power.max": quantity("W", "The highest power limit that can be set."),
        "gpu/*.clock.sm_max": quantity("MHz", "The highest clock of the multiprocessors."),
        "gpu/*.clock.event_reasons": listing("Why the clocks are not higher now.", Class.MEASUREMENT),
        "gpu/*.temperature": quantity("C", "The GPU's core temperature.", Class.MEASUREMENT),
        "gpu/*.link.generation": integer("The PCIe generation now; idle GPUs lower theirs.", Class.MEASUREMENT),
        "gpu/*.link.max_generation": integer("The highest PCIe generation of GPU and slot together."),
        "gpu/*.link.width": integer("PCIe lanes the GPU trained."),
        "gpu/*.link.max_width": integer("The most PCIe lanes of GPU and slot together."),
        "driver.version": version("dotted", "The NVIDIA driver's version; absent if the node has no NVIDIA GPU."),
    },
)
def gpu(answer: str) -> Facts:
    """Read NVML's GPUs; without NVML there are none only where the bus was read and holds none."""
    rows = read.rows(answer)
    none_on_bus = "bus read" in rows and not any(row.startswith("bus ") and row != "bus read" for row in rows)
    match said(rows):
        case {"unknown": str(reason), "detail": str(detail)}:
            if not none_on_bus or "driver loaded" in rows:
                raise Unreadable(detail, WHY.get(reason, Reason.NOT_COLLECTED))
            yield "driver.version", Absent("no NVIDIA GPU on the PCI bus")
        case {"driver": driver, "gpus": list(gpus)}:
            yield "driver.version", Sourced(reading(driver, as_told), "NVML")
            if not gpus and not none_on_bus:
                raise Unreadable("NVIDIA GPUs on the PCI bus, and none that the driver could start", Reason.NOT_READY)
            for index, told in enumerate(gpus):
                lost = told if isinstance(told, dict) and "unknown" in told else None
                for leaf, (name, convert) in FIELDS.items():
                    one = lost or (told.get(name) if isinstance(told, dict) else None)
                    yield f"gpu/{index}.{leaf}", Sourced(reading(one, convert), "NVML")
        case other:
            raise Unreadable(f"not what the question to NVML prints: {other!r:.80}")
