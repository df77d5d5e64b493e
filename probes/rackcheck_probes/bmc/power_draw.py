"""Power that the whole machine draws, and its cap."""

from rackcheck import Class, Documents, Facts, Redfish, probe, quantity, text
from rackcheck.model.redfish_value import text_of
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.power import controls, drawn, whole


@probe(
    Redfish("Chassis/*/Power", CHASSIS),
    gives={
        "bmc.power.consumed": quantity(
            "W", "power draw of the machine; unknown if the BMC reports 0", Class.MEASUREMENT
        ),
        "bmc.power.limit": quantity("W", "power cap; some BMCs report a power cap but do not enforce it"),
        "bmc.power.limit_exception": text("action above the cap: NoAction, LogEventOnly, HardPowerOff, ..."),
        "bmc.power.capacity": quantity("W", "power that all supplies of the machine can deliver together"),
    },
)
def bmc_power_draw(docs: Documents) -> Facts:
    """Power draw and power cap, from the one chassis that reports them."""
    found, trouble = controls(docs)
    yield "bmc.power.consumed", whole(found, "PowerConsumedWatts", drawn, trouble)
    yield "bmc.power.limit", whole(found, "PowerLimit.LimitInWatts", drawn, trouble)
    yield "bmc.power.limit_exception", whole(found, "PowerLimit.LimitException", text_of, trouble)
    yield "bmc.power.capacity", whole(found, "PowerCapacityWatts", drawn, trouble)
