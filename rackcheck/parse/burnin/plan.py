"""The schedule of a burn-in: its tiers and their stages, and the plan that is sent to the node. Pure.

All processors and GPUs of a node, and all nodes, are under load at the same time, because faults of power supplies,
airflow and cross-talk occur under full load. CPU and GPU stages have separate schedules on a common clock.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rackcheck.model.burn_record import WIRE


class Tier(StrEnum):
    """Length of a burn-in: `smoke` takes 15 seconds, `validate` one minute, `soak` ten minutes."""

    SMOKE = "smoke"
    VALIDATE = "validate"
    SOAK = "soak"

    @property
    def seconds(self) -> float:
        """Length of the load on one node, in seconds."""
        return {Tier.SMOKE: 15.0, Tier.VALIDATE: 60.0, Tier.SOAK: 600.0}[self]


@dataclass(frozen=True, slots=True)
class StageSlot:
    """The time of one stage, on all GPUs or all processors (`of`), in seconds after the load began.

    `hold` is how long a pattern is kept in memory before it is compared, in seconds.
    """

    of: str
    stage: str
    begin: float
    until: float
    hold: float = 0.0


_LENGTHS: dict[Tier, dict[str, tuple[tuple[str, float], ...]]] = {
    Tier.SMOKE: {
        "cpu": (("fingerprint", 1), ("crypto", 1), ("triad", 3), ("ram", 4), ("fma", 3), ("fma", 2)),
        "gpu": (("memory", 2), ("tensor", 5), ("scalar", 2), ("links", 3), ("together", 2)),
    },
    Tier.VALIDATE: {
        "cpu": (("fingerprint", 2), ("crypto", 5), ("triad", 13), ("ram", 16), ("fma", 13), ("fma", 10)),
        "gpu": (("memory", 10), ("tensor", 30), ("scalar", 4), ("links", 8), ("together", 7)),
    },
    Tier.SOAK: {  # one minute, repeated ten times: memory and links are tested again while they are hot
        "cpu": (("fingerprint", 2), ("crypto", 4), ("fma", 12), ("triad", 8), ("ram", 16), ("fma", 18)),
        "gpu": (("memory", 6), ("tensor", 30), ("scalar", 6), ("links", 6), ("together", 12)),
    },
}
"""The stages of each tier and their durations in seconds, separately for `cpu` and `gpu`.

The CPU's stages `triad` and `ram` end before the GPUs' stage `links` begins, because load on the host's memory slows
copies from and to the host. In the GPU stage `together`, several kinds of work run in parallel. A tier is longer than
its stages: the remaining time is for starting, reading counters and returning the results.
"""

HOLD = 2.0
"""Seconds for which each memory stage of the tier `soak` keeps a pattern in a GPU's memory, and then its complement.

The length is our choice; the test 10 of Memtest86+ (bit fade test, 2 patterns) pauses in the same way.
"""

STEP = 0.15
"""Seconds by which each GPU of a node starts and ends after the previous GPU, so that a rack's load changes slowly."""

RAMP = 10.0
"""Time, in seconds, over which the starts of up to 100 nodes are spread."""

CLOSEST, WIDEST = 0.1, 0.5
"""The least and the greatest time, in seconds, between the starts of two nodes; ten nodes start in a second."""

START = 8.0
"""Seconds in which a node's driver must list the GPUs before the load, without the time for each GPU (START_GPU)."""

START_GPU, START_GPUS = 5.0, 16
"""Seconds that are added to START for each NVIDIA GPU on the node's PCI bus, and the maximum number of GPUs that count.

Without persistence mode the driver initialises each GPU when it is opened, which takes 1 to 3 seconds (NVIDIA, Driver
Persistence, Overview). 5 seconds is our choice: NVIDIA's upper figure and a reserve. If the GPUs are not listed by
then, they are not tested (`slow start`). A slow start is not a fault.
"""

START_MOST = START + START_GPU * START_GPUS
"""Maximum number of seconds in which a node's driver must list the GPUs."""

AGAIN = 25.0
"""Seconds in the plan's deadline for repeating failed work, first while the part is hot, then after it has cooled."""

AGAIN_HELD = 6
"""Number of repetitions of a failed memory stage, each of which keeps two patterns for the stage's `hold` seconds."""

PEERS = 6.0
"""Seconds in the plan's deadline for each stage `links`: 16 GPUs need 15 rounds of copies, which take 9 seconds."""

QUIET, QUIET_REPEATED = 10.0, ("triad", "ram")
"""Maximum number of seconds for which a GPU waits until the host's memory is quiet (GPU_QUIET of the node), and the
stages of the CPU that are repeated in full after the copies that stopped them; both for each stage `links`.

The two waits are at the same time: the part of the deadline is the longer one of the GPU's wait, and of the copies for
which a stage of the CPU waits together with its repetition.
"""

SCRATCH = 16 << 30
"""Maximum size of the scratch file, in bytes; the node stops writing earlier if half of the load's time is over."""

PULSE = 5.0
"""Seconds without a message from the controller after which the node ends the load by itself."""


TOOLS: dict[str, float] = {
    "dcgm-1": 120.0, "dcgm-2": 600.0, "dcgm-3": 2400.0, "nvbandwidth": 300.0, "all_reduce": 180.0, "ib_write_bw": 300.0,
    "fio": 300.0, "stress-ng": 60.0, "cublas": 320.0, "rvs": 5400.0, "transferbench": 900.0, "rocblas-bench": 900.0,
    "amd-smi": 120.0, "hl_qual": 900.0,
}  # fmt: skip
"""Tools that a burn-in can run if a node has them, each with the seconds that it adds to the plan's deadline."""


def slots(tier: Tier) -> Iterator[StageSlot]:
    """Yield every stage of a tier in order, first the stages of the CPU and then those of the GPUs."""
    rounds = 10 if tier is Tier.SOAK else 1
    for of, stages in _LENGTHS[tier].items():
        for number in range(rounds):
            at = number * 60.0
            for stage, seconds in stages:
                hold = HOLD if tier is Tier.SOAK and (of, stage) == ("gpu", "memory") else 0.0
                yield StageSlot(of, stage, at, at + seconds, hold)
                at += seconds


def apart(nodes: int) -> float:
    """Return the minimum time (s) between the starts of two of `nodes` nodes, and so between their changes of stage."""
    return max(CLOSEST, min(WIDEST, RAMP / max(1, nodes - 1)))


def starts(nodes: Sequence[str]) -> dict[str, float]:
    """Return the earliest start of each node in seconds after the first node, if power and connections allow it."""
    step = apart(len(nodes))
    return {name: round(number * step, 3) for number, name in enumerate(nodes)}


def document(
    tier: Tier, *, seed: int, start: float = 0.0, tools: Sequence[str] = (), gpus: bool = True, line: str = "stdin",
    scratch: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return the plan that is sent to a node, as a JSON object.

    If `line` is `stdin`, the node ends the load when the controller closes the standard input of the node's program, or
    sends nothing for `PULSE` seconds. `scratch` is the path of a file, which must not exist yet, with which the node
    tests a disk by writing and reading. If `scratch` is empty, no disk is tested. If the GPUs are listed later than
    START, the node adds the delay to `deadline`.
    """
    given = [slot for slot in slots(tier) if gpus or slot.of != "gpu"]
    stages = [
        {"of": slot.of, "stage": slot.stage, "from": slot.begin, "until": slot.until}
        | ({"hold": slot.hold} if slot.hold else {})
        for slot in given
    ]
    copies = [slot.until - slot.begin for slot in given if slot.of == "gpu" and slot.stage == "links"]
    repeated = max(slot.until - slot.begin for slot in given if slot.of == "cpu" and slot.stage in QUIET_REPEATED)
    links = sum(PEERS + max(QUIET, length + repeated) for length in copies)
    again = links + AGAIN + AGAIN_HELD * 2 * max(slot.hold for slot in given)
    end = start + tier.seconds + START + 5.0 + again + sum(TOOLS[tool] for tool in tools)
    return {
        "wire": WIRE, "tier": tier.value, "seed": seed, "start": start, "stages": stages, "tools": list(tools),
        "step": STEP, "ready": START, "ready_gpu": START_GPU, "ready_most": START_MOST, "deadline": end, "line": line,
        "pulse": PULSE,
        **({"scratch": {"path": scratch, "size": SCRATCH}} if scratch else {}),
    }  # fmt: skip
