"""How often each memory module had a corrected error since boot."""

from rackcheck import Class, Facts, Inputs, integer, join, spell_key
from rackcheck.probe.join import mean_since_boot

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
            yield f"{part}.corrected_daily", mean_since_boot(inputs.reading(f"{part}.corrected"), uptime, DAY)
