"""The NVLink fabric as each NVIDIA GPU reports it: whether the GPU joined, its cluster and clique, and its health."""

from rackcheck import Class, Facts, Sourced, flag, integer, probe, text
from rackcheck.parse.host.gpu import fabric_health
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, answered, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import counted, mask, one_of, unchanged

FACTS = NvmlTable(
    {
        "fabric.state": NvmlFact(
            "fabric_state",
            one_of("not supported", "not started", "in progress", "completed"),
            text("State of joining the NVLink fabric; absent if the GPU belongs to none."),
        ),
        "fabric.status": NvmlFact(
            "fabric_status", unchanged, text("The result of joining the fabric, as the driver reports it: Success.")
        ),
        "fabric.clique": NvmlFact(
            "fabric_clique",
            counted,
            integer("The GPU's clique; GPUs of one clique of the cluster reach each other.", Class.IDENTITY),
        ),
        "fabric.cluster": NvmlFact(
            "fabric_cluster",
            unchanged,
            text("The cluster's id; zeros if the cluster is a single node.", Class.IDENTITY),
        ),
    }
)


@probe(
    QUESTION,
    gives={
        **gives(FACTS),
        "gpu/*.fabric.health.summary": text("Overall health of the fabric: healthy.", Class.MEASUREMENT),
        "gpu/*.fabric.health.degraded_bandwidth": flag(
            "Whether the fabric's bandwidth is degraded.", Class.MEASUREMENT
        ),
        "gpu/*.fabric.health.route_recovery": flag("Whether routes are being recovered now.", Class.MEASUREMENT),
        "gpu/*.fabric.health.route_unhealthy": flag("Whether a route is broken.", Class.MEASUREMENT),
        "gpu/*.fabric.health.access_timeout_recovery": flag(
            "Whether the fabric is recovering from an access that timed out.", Class.MEASUREMENT
        ),
        "gpu/*.fabric.health.configuration": text(
            "The misconfiguration of the fabric; good if there is none.", Class.MEASUREMENT
        ),
    },
)
def gpu_fabric(answer: str) -> Facts:
    """Read the fabric's state as each GPU reports it."""
    yield from of_gpus(answer, FACTS)
    reply = answered(answer)
    for path, gpu, lost in reply.each():
        bits, word = (reply.reading(lost or gpu.get(key), mask) for key in ("fabric_health", "fabric_summary"))
        yield f"{path}.fabric.health.summary", Sourced(fabric_health.summary(word), reply.by)
        for leaf, reading in fabric_health.parts(bits).items():
            yield f"{path}.fabric.health.{leaf}", Sourced(reading, reply.by)
