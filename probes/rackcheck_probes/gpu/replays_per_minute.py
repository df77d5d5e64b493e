"""How often each GPU's PCIe link replayed a packet since boot."""

from rackcheck import Class, Facts, Inputs, integer, join, spell_key
from rackcheck_probes.memory.corrected_daily import per

MINUTE = 60.0


@join(
    needs=("os.boot.uptime", "gpu", "gpu/*.link.replays"),
    gives={
        "gpu/*.link.replays_per_minute": integer(
            "Replays divided by the minutes since boot: the mean rate since the driver was loaded is at least this.",
            Class.MEASUREMENT,
        ),
    },
)
def replays_per_minute(inputs: Inputs) -> Facts:
    """Divide the replays of each GPU by the minutes since boot; a part of a minute counts as one."""
    uptime = inputs.reading("os.boot.uptime")
    for gpu, replays in inputs.table("gpu", "link.replays").items():
        yield f"gpu/{spell_key(gpu)}.link.replays_per_minute", per(replays, uptime, MINUTE)
