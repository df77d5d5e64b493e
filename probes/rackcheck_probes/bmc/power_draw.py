"""What the whole machine draws and may draw."""

from rackcheck import Class, Documents, Facts, Redfish, probe, quantity, text
from rackcheck.model.redfish_value import text_of
from rackcheck.parse.bmc.power import controls, drawn, whole


@probe(
    Redfish("Chassis/*/Power"),
    gives={
        "bmc.power.consumed": quantity("W", "what the machine draws; unknown where the BMC says 0", Class.MEASUREMENT),
        "bmc.power.limit": quantity("W", "its power cap; the BMC may tell one and not enforce it"),
        "bmc.power.limit_exception": text("what happens above the cap: NoAction, LogEventOnly, HardPowerOff, ..."),
        "bmc.power.capacity": quantity("W", "what its supplies can deliver together"),
    },
)
def bmc_power_draw(docs: Documents) -> Facts:
    """Power drawn and capped, of the one chassis that tells it."""
    found, trouble = controls(docs)
    yield "bmc.power.consumed", whole(found, "PowerConsumedWatts", drawn, trouble)
    yield "bmc.power.limit", whole(found, "PowerLimit.LimitInWatts", drawn, trouble)
    yield "bmc.power.limit_exception", whole(found, "PowerLimit.LimitException", text_of, trouble)
    yield "bmc.power.capacity", whole(found, "PowerCapacityWatts", drawn, trouble)
