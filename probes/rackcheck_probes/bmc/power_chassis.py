"""What each chassis draws, where the BMC tells it chassis by chassis."""

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, quantity, spell_key
from rackcheck.parse.bmc.item import keyed
from rackcheck.parse.bmc.power import cap, drawn, metrics


@probe(
    Redfish("Chassis/*/EnvironmentMetrics"),
    gives={
        "bmc.power.chassis": collection("chassis, parts of the machine too; GPU modules are chassis on NVIDIA boards"),
        "bmc.power.chassis/*.consumed": quantity("W", "what it draws", Class.MEASUREMENT),
        "bmc.power.chassis/*.limit": quantity(
            "W", "its power cap; set points of one processor (TDP, EDPp) are power controls"
        ),
    },
)
def bmc_power_chassis(docs: Documents) -> Facts:
    """Power of every chassis that has a place to tell it."""
    found, trouble = metrics(docs)
    places = {chassis.uri: environment for chassis, environment in found}
    for key, chassis in keyed([chassis for chassis, _ in found]):
        item = f"bmc.power.chassis/{spell_key(key)}"
        yield f"{item}.consumed", places[chassis.uri].read("PowerWatts.Reading", drawn)
        yield f"{item}.limit", cap(places[chassis.uri])
    if trouble is not None:
        yield "bmc.power.chassis", trouble
