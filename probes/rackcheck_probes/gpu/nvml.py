"""The question to the NVIDIA driver, which many probes share: asked once, its answer taken apart once."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from shlex import quote
from typing import Any

from rackcheck import Absent, Facts, Reason, Shell, Sourced, Unknown, Unreadable
from rackcheck.model import text as read
from rackcheck.model.capture import PAYLOAD
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Reading, Value, clean
from rackcheck.parse.host.gpu import smi
from rackcheck_probes.gpu.nvml_pack import payload

NVML, SMI = "NVML", "nvidia-smi -q -x"
"""Who told: NVML itself, or NVIDIA's tool where the node has no Python to ask NVML with."""

MOST = 256
"""GPUs of one node, and NVLinks of one GPU, that are read: more than any machine has."""

NO_DRIVER, NO_DEVICE = "driver not loaded", "no device file"

# Asked of a driver that is not loaded, NVIDIA's library has it loaded, by a helper that may run as root, and has its
# device files made (nvidia-modprobe(1)): it is asked only where both are there. Under Windows, and on the boards that
# NVIDIA builds into other machines, the driver is another one, whose device is there.
GUARD = f"""\
if [ -e /proc/driver/nvidia/version ]; then
[ -e /dev/nvidiactl ] || {{ echo '{NO_DEVICE}'; exit 0; }}
else [ -e /dev/dxg ] || [ -e /dev/nvhost-gpu ] || {{ echo '{NO_DRIVER}'; exit 0; }}
fi
"""
UNASKED = {
    NO_DRIVER: (Reason.TOOL_MISSING, "NVIDIA's driver is not loaded, and asking could load it"),
    NO_DEVICE: (Reason.NOT_READY, "NVIDIA's driver is loaded without /dev/nvidiactl, and asking could make that"),
}
"""Why a driver was not asked, by the last row of the answer."""

# First the bus, which needs no driver: NVIDIA's display and 3D controllers.
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

# Then NVML, through pynvml's own source, which rides along and runs under the node's Python; nothing is written on the
# node. What users run is nobody's business.
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


# What nvidia-smi ends with where it has no GPUs to tell of, from the list of return values in its manual.
ENDED = {
    "4": Reason.DENIED,
    "9": Reason.TOOL_MISSING,
    "12": Reason.TOOL_MISSING,
    "13": Reason.TOOL_MISSING,
    "15": Reason.NOT_READY,
}
NO_GPU = "6"


def reply_of(rows: list[str]) -> Any:
    """Give what was told, in the form of our program's line of JSON, whoever told it."""
    if rows and rows[-1] in UNASKED:
        reason, detail = UNASKED[rows[-1]]
        return {"unknown": reason.value, "detail": detail}
    if "no python3" in rows:
        return {"unknown": Reason.TOOL_MISSING.value, "detail": "no python3 on the node to ask NVML with"}
    if SMI in rows:
        xml, (word, _, status) = rows[rows.index(SMI) + 1 : -1], rows[-1].partition(" ")
        if word != "ended":
            raise Unreadable(f"{SMI} did not come to its end: {rows[-1]!r:.80}")
        if any(row.startswith("<nvidia_smi_log") for row in xml):
            return smi.parse_xml("\n".join(xml) + "\n")
        if status == NO_GPU:
            return {"gpus": []}
        why = next((row for row in xml if row.strip()), f"ended with {status}")
        return {"unknown": ENDED.get(status, Reason.NOT_COLLECTED).value, "detail": f"nvidia-smi: {clean(why)}"}
    try:
        return json.loads(rows[-1])
    except (ValueError, RecursionError, IndexError) as error:
        raise Unreadable(f"the question to NVML gave no answer: {rows[-1:]!r:.80}") from error


@dataclass(frozen=True)
class DriverReply:
    """What the driver told of itself and of each GPU, by its index.

    `none` if the node is known to have no GPU; `lacking` if the bus holds GPUs and the driver could start none.
    """

    by: str
    driver: Mapping[str, Any] = field(default_factory=dict)
    gpus: tuple[Any, ...] = ()
    none: bool = False
    lacking: bool = False

    def reading(self, answer: Any, convert: Callable[[Any], Value]) -> Reading:
        """Give what was said of one thing, or why nothing was."""
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
        missing = "NVML was not asked" if self.by == NVML else f"{self.by} does not tell"
        return Unknown(Reason.NOT_COLLECTED, missing)

    def each(self) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
        """Give each GPU's path and what was told of it; of one that is lost, why nothing was."""
        for index, gpu in enumerate(self.gpus):
            whole = gpu if isinstance(gpu, dict) else {}
            yield f"gpu/{index}", whole, whole if "unknown" in whole else None


WHY = {
    reason.value: reason
    for reason in (Reason.DENIED, Reason.TOOL_MISSING, Reason.NOT_READY, Reason.TIMEOUT, Reason.UNPARSABLE)
}


@lru_cache(maxsize=2)
def answered(text: str) -> DriverReply:
    """Take an answer apart; without NVML there are no GPUs only where the bus was read and holds none."""
    rows = read.rows(text)
    none_on_bus = "bus read" in rows and not any(row.startswith("bus ") and row != "bus read" for row in rows)
    by = SMI if SMI in rows else NVML
    match reply_of(rows):
        case {"unknown": str(reason), "detail": str(detail)}:
            if not none_on_bus or "driver loaded" in rows:
                raise Unreadable(detail, WHY.get(reason, Reason.NOT_COLLECTED))
            return DriverReply(by, none=True)
        case {"gpus": list(gpus)} if len(gpus) > MOST:
            raise Unreadable(f"{len(gpus)} GPUs; {MOST} are the most that are read", Reason.TOO_LARGE)
        case {"gpus": list(gpus)} as told:
            return DriverReply(by, told, tuple(gpus), lacking=not gpus and not none_on_bus)
        case other:
            raise Unreadable(f"not what the question to NVML prints: {other!r:.80}")


@dataclass(frozen=True)
class NvmlFact:
    """One thing that the driver tells: its key, how it is read, and what fact it is."""

    key: str
    convert: Callable[[Any], Value]
    kind: Kind


NvmlTable = Mapping[str, NvmlFact]
"""Facts of one GPU, or of the driver, by their path below it."""


def gives(table: NvmlTable, under: str = "gpu/*") -> dict[str, Kind]:
    """Give what a probe promises with a table."""
    return {f"{under}.{leaf}": fact.kind for leaf, fact in table.items()}


def of_gpus(text: str, table: NvmlTable) -> Facts:
    """Read the same facts of every GPU."""
    answer = answered(text)
    for path, gpu, lost in answer.each():
        for leaf, fact in table.items():
            yield f"{path}.{leaf}", Sourced(answer.reading(lost or gpu.get(fact.key), fact.convert), answer.by)


def of_driver(text: str, table: NvmlTable) -> Facts:
    """Read facts of the driver itself; a node without an NVIDIA GPU has none."""
    answer = answered(text)
    for leaf, fact in table.items():
        one = {"absent": "no NVIDIA GPU on the PCI bus"} if answer.none else answer.driver.get(fact.key)
        yield f"driver.{leaf}", Sourced(answer.reading(one, fact.convert), answer.by)
