"""The NVLink fabric as each NVIDIA GPU sees it: whether it has joined, which part of it, how it fares."""

from collections.abc import Callable
from typing import Any

from rackcheck import Absent, Class, Facts, Sourced, flag, integer, probe, text
from rackcheck.core.fact import Reading, Value
from rackcheck_probes.nvml import QUESTION, Told, answered, gives, of_gpus
from rackcheck_probes.nvml_values import as_told, counted, mask, one_of

FACTS = {
    "fabric.state": Told(
        "fabric_state",
        one_of("not supported", "not started", "in progress", "completed"),
        text("How far the GPU came with joining the NVLink fabric; absent if it belongs to none."),
    ),
    "fabric.status": Told("fabric_status", as_told, text("How the joining ended, in NVIDIA's word: Success.")),
    "fabric.clique": Told(
        "fabric_clique", counted, integer("GPUs of one clique of a cluster can reach each other.", Class.IDENTITY)
    ),
    "fabric.cluster": Told(
        "fabric_cluster", as_told, text("The cluster's id; zeros where one node is all of it.", Class.IDENTITY)
    ),
}

# Bits of the health mask: where each part begins, how many bits it has, and its words after 0, which is `not told`.
HEALTH: dict[str, tuple[int, int, tuple[Value, ...]]] = {
    "degraded_bandwidth": (0, 2, (True, False)),
    "route_recovery": (2, 2, (True, False)),
    "route_unhealthy": (4, 2, (True, False)),
    "access_timeout_recovery": (6, 2, (True, False)),
    "configuration": (
        8,
        4,
        (
            "good",
            "incorrect system guid",
            "incorrect chassis serial number",
            "no partition",
            "insufficient nvlinks",
            "incompatible gpu firmware",
            "invalid location",
            "invalid gpu state",
        ),
    ),
}
SUMMARY = ("healthy", "unhealthy", "limited capacity")
NOT_TOLD = Absent("the fabric does not tell")


def part(start: int, bits: int, words: tuple[Value, ...]) -> Callable[[int], Reading]:
    """Read one part of the health mask; a number without a word is shown."""

    def converted(value: int) -> Reading:
        number = value >> start & (1 << bits) - 1
        if not number:
            return NOT_TOLD
        return words[number - 1] if number <= len(words) else f"number {number}"

    return converted


def _told(reading: Reading, convert: Callable[[int], Reading]) -> Reading:
    return convert(reading) if isinstance(reading, int) else reading


@probe(
    QUESTION,
    gives={
        **gives(FACTS),
        "gpu/*.fabric.health.summary": text("The fabric's health in a word: healthy.", Class.MEASUREMENT),
        "gpu/*.fabric.health.degraded_bandwidth": flag("Whether it lacks bandwidth.", Class.MEASUREMENT),
        "gpu/*.fabric.health.route_recovery": flag("Whether routes are being recovered now.", Class.MEASUREMENT),
        "gpu/*.fabric.health.route_unhealthy": flag("Whether a route is broken.", Class.MEASUREMENT),
        "gpu/*.fabric.health.access_timeout_recovery": flag(
            "Whether it recovers from an access that timed out.", Class.MEASUREMENT
        ),
        "gpu/*.fabric.health.configuration": text("What is configured wrongly, or good.", Class.MEASUREMENT),
    },
)
def gpu_fabric(answer: str) -> Facts:
    """Read each GPU's view of the fabric."""
    yield from of_gpus(answer, FACTS)
    told = answered(answer)
    summary = part(0, 8, SUMMARY)
    for path, gpu, lost in told.each():
        bits, word = (told.reading(_one(gpu, lost, key), mask) for key in ("fabric_health", "fabric_summary"))
        yield f"{path}.fabric.health.summary", Sourced(_told(word, summary), told.by)
        for leaf, place in HEALTH.items():
            yield f"{path}.fabric.health.{leaf}", Sourced(_told(bits, part(*place)), told.by)


def _one(gpu: Any, lost: Any, key: str) -> Any:
    return lost or gpu.get(key)
