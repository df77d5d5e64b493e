"""The query of the NVIDIA driver, which many probes share: it runs once, and its output is parsed once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from shlex import quote
from typing import Any

from rackcheck import Absent, Facts, Reason, Shell, Sourced, Unknown, Unreadable, by_part, read
from rackcheck.model.by_part import Fixed
from rackcheck.model.capture import PAYLOAD
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Reading, Value, clean
from rackcheck.model.path import spell_key
from rackcheck.model.text import json_text
from rackcheck.parse.host.gpu import smi
from rackcheck_probes.gpu.nvml_pack import payload
from rackcheck_probes.gpu.nvml_values import address, counted

NVML, SMI = "NVML", "nvidia-smi -q -x"
"""Sources of the facts: NVML itself, or nvidia-smi if the node has no Python or the NVML program fails there."""

MOST = 256
"""Maximum number of GPUs of one node, and of NVLinks of one GPU, that are read: more than any machine has."""

NO_DRIVER, NO_DEVICE = "driver not loaded", "no device file"

# If the driver is not loaded, a query makes NVIDIA's library load it, through a helper that may run as root, and create
# its device files (nvidia-modprobe(1)): so a query is only sent if both exist before. Under Windows, and on NVIDIA's
# embedded boards, another driver is used, and the device of that driver must exist.
GUARD = f"""\
if [ -e /proc/driver/nvidia/version ]; then
[ -e /dev/nvidiactl ] || {{ echo '{NO_DEVICE}'; exit 0; }}
else [ -e /dev/dxg ] || [ -e /dev/nvhost-gpu ] || {{ echo '{NO_DRIVER}'; exit 0; }}
fi
"""
UNASKED = {
    NO_DRIVER: (Reason.TOOL_MISSING, "NVIDIA's driver is not loaded, and a query could load it"),
    NO_DEVICE: (Reason.NOT_READY, "NVIDIA's driver is loaded without /dev/nvidiactl, and a query could create it"),
}
"""Maps each row that GUARD prints if the driver must not be queried to the reason and detail of the unknown facts."""

# First, NVIDIA's display and 3D controllers are read from the bus, which needs no driver.
BUS = """\
if cd /sys/bus/pci/devices 2>/dev/null; then
for d in *; do
{ read -r v <"$d/vendor" && read -r c <"$d/class"; } 2>/dev/null || continue
case $v$c in 0x10de0x03*) echo "bus $d";; esac
done
echo 'bus read'
fi
[ -e /proc/driver/nvidia/version ] && echo 'driver loaded'
"""

# Then NVML is queried through pynvml's source, which is sent along and runs under the node's Python; nothing is written
# on the node. Names of users' processes are removed.
ASK = """\
smi() {
command -v nvidia-smi >/dev/null || return 1
{ echo 'nvidia-smi -q -x'; nvidia-smi -q -x; echo "ended $?"; } |
sed -e '/<process_name>/{:a' -e '/<\\/process_name>/!{N;ba' -e '}' -e 's/<process_name>.*<\\/process_name>//;}'
}
p=$(command -v python3 || command -v /usr/libexec/platform-python) || { smi || echo 'no python3'; exit 0; }"""


QUESTION = Shell(
    f'{BUS}{GUARD}{ASK}{PAYLOAD}printf %s {quote(payload())} | "$p" -I -S - || smi', seconds=60, cap=4 << 20
)


# Exit statuses of nvidia-smi without GPUs to report, from the list of return values in its manual.
ENDED = {
    "4": Reason.DENIED,
    "9": Reason.TOOL_MISSING,
    "12": Reason.TOOL_MISSING,
    "13": Reason.TOOL_MISSING,
    "15": Reason.NOT_READY,
}
NO_GPU = "6"


def reply_of(rows: list[str]) -> Any:
    """Return what the NVML program printed; nvidia-smi's XML, or the lack of an answer, is converted to that format."""
    if rows and rows[-1] in UNASKED:
        reason, detail = UNASKED[rows[-1]]
        return {"unknown": reason.value, "detail": detail}
    if "no python3" in rows:
        return {
            "unknown": Reason.TOOL_MISSING.value,
            "detail": "neither python3 (to call NVML) nor nvidia-smi is on the node",
        }
    if SMI in rows:
        xml, (word, _, status) = rows[rows.index(SMI) + 1 : -1], rows[-1].partition(" ")
        if word != "ended":
            raise Unreadable(f"{SMI} did not complete: {rows[-1]!r:.80}")
        if any(row.startswith("<nvidia_smi_log") for row in xml):
            return smi.parse_xml("\n".join(xml) + "\n")
        if status == NO_GPU:
            return {"gpus": []}
        why = next((row for row in xml if row.strip()), f"ended with {status}")
        return {"unknown": ENDED.get(status, Reason.NOT_COLLECTED).value, "detail": f"nvidia-smi: {clean(why)}"}
    try:
        return json_text.loaded(rows[-1])
    except (ValueError, RecursionError, IndexError) as error:
        raise Unreadable(f"the NVML query returned no answer: {rows[-1:]!r:.80}") from error


@dataclass(frozen=True)
class DriverReply:
    """What the driver reports about itself and about each GPU; the GPUs are in the driver's order.

    `bus` contains the addresses of the NVIDIA GPUs on the PCI bus. `none` is true if no driver is loaded and the PCI
    bus has no NVIDIA GPU. `lacking` is true if the driver lists no GPU, although the PCI bus has NVIDIA GPUs or was not
    read.
    """

    by: str
    driver: Mapping[str, Any] = field(default_factory=dict)
    gpus: tuple[Any, ...] = ()
    bus: tuple[str, ...] = ()
    none: bool = False
    lacking: bool = False

    def reading(self, answer: Any, convert: Callable[[Any], Value]) -> Reading:
        """Convert one value of the driver's answer, or return why the value is absent or unknown."""
        return reading(self.by, answer, convert)

    def each(self) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
        """Yield each GPU in the driver's order: fact path, values, and the reason if the GPU is lost, else None."""
        for gpu, key in zip(self.gpus, part_keys(self.gpus, self.bus), strict=True):
            whole = gpu if isinstance(gpu, dict) else {}
            yield f"gpu/{spell_key(key)}", whole, whole if "unknown" in whole else None


def reading(by: str, answer: Any, convert: Callable[[Any], Value]) -> Reading:
    """Convert one value that a driver's answer contains, or return why the value is absent or unknown."""
    match answer:
        case {"value": value}:
            try:
                return convert(value)
            except Unreadable as error:
                return Unknown(error.reason, str(error))
        case {"absent": str(detail)}:
            return Absent(detail)
        case {"unknown": str(reason), "detail": str(detail)}:
            return Unknown(WHY.get(reason, Reason.NOT_COLLECTED), detail)
    missing = "NVML was not queried for this value" if by == NVML else f"{by} does not report it"
    return Unknown(Reason.NOT_COLLECTED, missing)


def part_keys(gpus: Sequence[Any], bus: Sequence[str]) -> tuple[str, ...]:
    """Return a key for each GPU; unlike the driver's index, the key does not change when another GPU is gone.

    On a baseboard of several GPUs, the key contains the GPU's module number (`module-3`) if all reported module numbers
    differ. On a node with single cards, the key is the PCI address, because all single cards report module 1. On a
    baseboard, the key of a GPU that does not report its module number is its PCI address. If exactly one GPU reports no
    PCI address, and exactly one address on the PCI bus is reported by no GPU, that address is the GPU's key. A GPU
    without module number and PCI address, or with the same key as another GPU, has a key with the driver's index
    (`index-3`).
    """
    modules = [_value(gpu, "module_id", counted) for gpu in gpus]
    places = [_value(gpu, "pci", address) for gpu in gpus]
    known = [module for module in modules if module is not None]
    answering = sum(place is not None or module is not None for place, module in zip(places, modules, strict=True))
    several = len(known) > 1 or (answering == 1 and max(len(gpus), len(bus)) > 1)
    by_module = several and len(known) == len(set(known))
    free = [place for place in bus if place not in places]
    lost = free[0] if len(free) == 1 == places.count(None) else None
    keys = [
        f"module-{module}" if by_module and module is not None else str(place or lost or f"index-{index}")
        for index, (module, place) in enumerate(zip(modules, places, strict=True))
    ]
    return tuple(f"index-{index}" if keys.count(key) > 1 else key for index, key in enumerate(keys))


def _value(gpu: Any, key: str, convert: Callable[[Any], Value]) -> Value | None:
    """Return one value that the driver reports about a GPU, or None if the value is missing or cannot be converted."""
    match gpu:
        case {"unknown": _}:
            return None
        case Mapping() if isinstance(answer := gpu.get(key), Mapping) and "value" in answer:
            try:
                return convert(answer["value"])
            except Unreadable:
                return None
    return None


WHY = {
    reason.value: reason
    for reason in (Reason.DENIED, Reason.TOOL_MISSING, Reason.NOT_READY, Reason.TIMEOUT, Reason.UNPARSABLE)
}


@lru_cache(maxsize=2)
def answered(text: str) -> DriverReply:
    """Parse the output of the query; raises Unreadable if the driver was not queried or did not answer.

    Returns a DriverReply whose `none` is true if no driver is loaded and the PCI bus has no NVIDIA GPU.
    """
    rows = read.rows(text)
    bus = tuple(row.removeprefix("bus ") for row in rows if row.startswith("bus ") and row != "bus read")
    none_on_bus = "bus read" in rows and not bus
    by = SMI if SMI in rows else NVML
    match reply_of(rows):
        case {"unknown": str(reason), "detail": str(detail)}:
            if not none_on_bus or "driver loaded" in rows:
                raise Unreadable(detail, WHY.get(reason, Reason.NOT_COLLECTED))
            return DriverReply(by, none=True)
        case {"gpus": list(gpus)} if len(gpus) > MOST:
            raise Unreadable(f"the driver lists {len(gpus)} GPUs; the maximum is {MOST}", Reason.TOO_LARGE)
        case {"gpus": list(gpus)} as values:
            return DriverReply(by, values, tuple(gpus), bus, lacking=not gpus and not none_on_bus)
        case other:
            raise Unreadable(f"unexpected answer of the NVML query: {other!r:.80}")


@dataclass(frozen=True)
class NvmlFact:
    """One value that the driver reports: its key in the answer, the function that converts it, and the fact's kind."""

    key: str
    convert: Callable[[Any], Value]
    kind: Kind


class NvmlTable(Fixed, dict[str, NvmlFact]):
    """Maps the end of each fact's path, after `gpu/KEY.`, to the value that the fact is read from."""


def gives(table: Mapping[str, NvmlFact], under: str = "gpu/*") -> dict[str, Kind]:
    """Return the facts that a probe provides with `table`: each fact's path, and its kind."""
    return {f"{under}.{leaf}": fact.kind for leaf, fact in table.items()}


def of_gpus(text: str, table: NvmlTable) -> Facts:
    """Read the facts in `table` of every GPU."""
    answer = answered(text)
    for path, gpu, lost in answer.each():
        yield _of_gpu(answer.by, path, {fact.key: lost or gpu.get(fact.key) for fact in table.values()}, table)


@by_part
def _of_gpu(by: str, path: str, values: Mapping[str, Any], table: NvmlTable) -> Facts:
    for leaf, fact in table.items():
        yield f"{path}.{leaf}", Sourced(reading(by, values[fact.key], fact.convert), by)


def of_driver(text: str, table: Mapping[str, NvmlFact]) -> Facts:
    """Read the facts in `table` of the driver itself; the facts are absent on a node without an NVIDIA GPU."""
    answer = answered(text)
    for leaf, fact in table.items():
        one = {"absent": "no NVIDIA GPU on the PCI bus"} if answer.none else answer.driver.get(fact.key)
        yield f"driver.{leaf}", Sourced(answer.reading(one, fact.convert), answer.by)
