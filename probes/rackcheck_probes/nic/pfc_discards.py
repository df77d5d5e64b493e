"""Packets that an Ethernet interface discarded although flow control pauses their priority (PFC)."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, integer, join, spell_key
from rackcheck.model.fact import Reading


@join(
    needs=("nic.interface", "nic.interface/*.pfc.priorities", "nic.interface/*.statistic/*.value"),
    gives={
        "nic.interface/*.pfc.discards": integer(
            "Packets received and discarded in the priorities that PFC pauses; absent without PFC.", Class.COUNTER
        )
    },
)
def pfc_discards(inputs: Inputs) -> Facts:
    """Add up the discards of the priorities that each interface pauses."""
    for name in inputs.items("nic.interface")[0]:
        item = f"nic.interface/{spell_key(name)}"
        yield f"{item}.pfc.discards", _discards(inputs, item)


# Unverified on hardware: whether a driver counts per priority, or per receive buffer to which it is mapped.
def _discards(inputs: Inputs, item: str) -> Reading:
    priorities = inputs.reading(f"{item}.pfc.priorities")
    if not isinstance(priorities, tuple):
        return priorities
    counts = [inputs.reading(f"{item}.statistic/rx_prio{priority}_discards.value") for priority in priorities]
    lost = next((count for count in counts if isinstance(count, Unknown)), None)
    known = [count for count in counts if isinstance(count, int)]
    return lost or (sum(known) if known else Absent("PFC is off, or the driver counts no discards per priority"))
