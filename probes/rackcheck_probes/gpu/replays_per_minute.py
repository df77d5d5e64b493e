"""How often each GPU's PCIe link replayed a packet since boot."""

from rackcheck import Absent, Class, Facts, Inputs, integer, join, spell_key
from rackcheck.probe.join import mean_since_boot

MINUTE, HOUR = 60.0, 60
"""Seconds in a minute, and minutes in an hour. A link replays packets while it trains: recorded healthy H100s had up to
174 replays in all."""

NEWEST = 5
"""The newest PCIe generation whose rate of replays has a published bound; Gen6 corrects errors in another way."""


@join(
    needs=("os.boot.uptime", "gpu", "gpu/*.link.replays", "gpu/*.link.max_generation"),
    gives={
        "gpu/*.link.replays_per_minute": integer(
            "Replays since the driver was loaded, divided by the minutes since boot, at least an hour; absent on PCIe "
            "Gen6.",
            Class.MEASUREMENT,
        ),
    },
)
def replays_per_minute(inputs: Inputs) -> Facts:
    """Divide the replays of each GPU by the minutes since boot; a part of a minute counts as one."""
    uptime, generations = inputs.reading("os.boot.uptime"), inputs.table("gpu", "link.max_generation")
    for gpu, replays in inputs.table("gpu", "link.replays").items():
        mean = mean_since_boot(replays, uptime, MINUTE, HOUR)
        generation = generations[gpu]
        if isinstance(generation, int) and generation > NEWEST:
            mean = Absent("no bound is published for PCIe Gen6")
        elif not isinstance(generation, int | Absent):
            mean = generation
        yield f"gpu/{spell_key(gpu)}.link.replays_per_minute", mean
