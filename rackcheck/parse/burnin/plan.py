"""The schedule of a burn-in: its tiers and their stages, and the plan that is sent to the node. Pure.

The load runs on all processors and GPUs of a node, and on all nodes, at the same time: faults of power supplies,
airflow and cross-talk occur under full load. CPU and GPU have separate schedules with a common clock.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rackcheck.model.burn_record import WIRE


class Tier(StrEnum):
    """Length of a burn-in: 15 seconds, a minute, ten minutes."""

    SMOKE = "smoke"
    VALIDATE = "validate"
    SOAK = "soak"

    @property
    def seconds(self) -> float:
        """Length of the load on one node."""
        return {Tier.SMOKE: 15.0, Tier.VALIDATE: 60.0, Tier.SOAK: 600.0}[self]


@dataclass(frozen=True, slots=True)
class StageSlot:
    """A stage that runs on all things of a kind, with start and end in seconds after the load began."""

    of: str
    stage: str
    begin: float
    until: float


_LENGTHS: dict[Tier, dict[str, tuple[tuple[str, float], ...]]] = {
    Tier.SMOKE: {
        "cpu": (("fingerprint", 1), ("crypto", 1), ("fma", 3), ("triad", 3), ("ram", 4), ("fma", 2)),
        "gpu": (("memory", 2), ("tensor", 5), ("scalar", 2), ("links", 3), ("together", 2)),
    },
    Tier.VALIDATE: {
        "cpu": (("fingerprint", 2), ("crypto", 5), ("fma", 13), ("triad", 13), ("ram", 16), ("fma", 10)),
        "gpu": (("memory", 10), ("tensor", 30), ("scalar", 4), ("links", 8), ("together", 7)),
    },
    Tier.SOAK: {  # one minute, repeated ten times: memory and links are tested again while they are hot
        "cpu": (("fingerprint", 2), ("crypto", 4), ("fma", 12), ("triad", 8), ("ram", 16), ("fma", 18)),
        "gpu": (("memory", 6), ("tensor", 30), ("scalar", 6), ("links", 6), ("together", 12)),
    },
}
"""Duration of each stage, in seconds; in the last stages all parts work together.

The remaining time of a tier is used for starting, for reading counters and for returning the results.
"""

STEP = 0.15
"""Time, in seconds, between the starts or ends of two GPUs of a node, so that a rack's load changes in small steps."""

RAMP = 10.0
"""Maximum time, in seconds, over which the starts of the nodes of a run are spread."""

START = 8.0
"""Maximum time, in seconds, until a driver is ready, before the load begins."""

AGAIN = 25.0
"""Time, in seconds, in which a GPU repeats failed work, hot and then cold; not used if nothing failed."""

SCRATCH = 16 << 30
"""Maximum size of a scratch file, in bytes; the node writes no more than it can in half of the tier's time."""

PULSE = 5.0
"""Time, in seconds, without a message to the node after which the node ends the load by itself."""


TOOLS: dict[str, float] = {
    "dcgm-1": 120.0, "dcgm-2": 600.0, "dcgm-3": 2400.0, "nvbandwidth": 300.0, "all_reduce": 180.0, "ib_write_bw": 300.0,
    "fio": 300.0, "stress-ng": 60.0, "cublas": 180.0,
}  # fmt: skip
"""Tools that may be installed on a node, and the time limit of each there, in seconds."""


def slots(tier: Tier) -> Iterator[StageSlot]:
    """Yield every stage of a tier in order, first the stages of the CPU and then those of the GPUs."""
    rounds = 10 if tier is Tier.SOAK else 1
    for of, stages in _LENGTHS[tier].items():
        for number in range(rounds):
            at = number * 60.0
            for stage, seconds in stages:
                yield StageSlot(of, stage, at, at + seconds)
                at += seconds


def starts(nodes: Sequence[str]) -> dict[str, float]:
    """Return the start of each node, in seconds after the first: half a second apart or less, all within the ramp."""
    step = min(0.5, RAMP / max(1, len(nodes) - 1))
    return {name: round(number * step, 3) for number, name in enumerate(nodes)}


def document(
    tier: Tier, *, seed: int, start: float = 0.0, tools: Sequence[str] = (), gpus: bool = True, line: str = "stdin",
    scratch: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return the plan as it is sent; `line` is where the node detects the end of the connection.

    `scratch` is the path of a file that does not exist yet, to test its disk by writing and reading; if `scratch` is
    empty, no disk is tested.
    """
    stages = [
        {"of": slot.of, "stage": slot.stage, "from": slot.begin, "until": slot.until}
        for slot in slots(tier)
        if gpus or slot.of != "gpu"
    ]
    end = start + tier.seconds + START + 5.0 + AGAIN + sum(TOOLS[tool] for tool in tools)
    return {
        "wire": WIRE, "tier": tier.value, "seed": seed, "start": start, "stages": stages, "tools": list(tools),
        "step": STEP, "ready": START, "deadline": end, "line": line, "pulse": PULSE,
        **({"scratch": {"path": scratch, "size": SCRATCH}} if scratch else {}),
    }  # fmt: skip
