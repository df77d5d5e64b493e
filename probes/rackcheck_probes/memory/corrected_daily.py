"""How often each memory module had a corrected error since boot."""

import math

from rackcheck import Class, Facts, Inputs, integer, join, spell_key
from rackcheck.model.fact import Reading

DAY = 86_400.0


@join(
    needs=(
        "os.boot.uptime", "memory.controller", "memory.controller/*.module", "memory.controller/*.module/*.corrected",
    ),
    gives={
        "memory.controller/*.module/*.corrected_daily": integer(
            "Corrected errors since boot, divided by the days that began since then: on at least one day there were as "
            "many.",
            Class.MEASUREMENT,
        ),
    },
)  # fmt: skip
def corrected_daily(inputs: Inputs) -> Facts:
    """Divide the corrected errors of each module by the days since boot; a part of a day counts as one."""
    uptime = inputs.reading("os.boot.uptime")
    for controller in inputs.items("memory.controller")[0]:
        item = f"memory.controller/{spell_key(controller)}"
        for module in inputs.items(f"{item}.module")[0]:
            part = f"{item}.module/{spell_key(module)}"
            yield f"{part}.corrected_daily", per(inputs.reading(f"{part}.corrected"), uptime, DAY)


def per(count: Reading, uptime: Reading, period: float) -> Reading:
    """Return a count since boot, divided by the periods of this many seconds that began since boot, rounded down."""
    if isinstance(count, int) and count == 0:
        return 0
    for reading in (count, uptime):
        if not isinstance(reading, int | float):
            return reading
    assert isinstance(count, int | float)
    assert isinstance(uptime, int | float)
    return int(count / max(1, math.ceil(uptime / period)))
