"""Power that each chassis draws, if the BMC reports it per chassis."""

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, quantity, spell_key
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.item import keyed
from rackcheck.parse.bmc.power import cap, drawn, metrics


@probe(
    Redfish("Chassis/*/EnvironmentMetrics", CHASSIS),
    gives={
        "bmc.power.chassis": collection(
            "chassis, including parts of the machine: on NVIDIA boards, GPU modules are chassis"
        ),
        "bmc.power.chassis/*.consumed": quantity("W", "power that the chassis draws", Class.MEASUREMENT),
        "bmc.power.chassis/*.limit": quantity(
            "W", "power cap; set points of single processors (TDP, EDPp) are power controls"
        ),
    },
)
def bmc_power_chassis(docs: Documents) -> Facts:
    """Power draw of every chassis that has a power resource."""
    found, trouble = metrics(docs)
    places = {chassis.uri: environment for chassis, environment in found}
    for key, chassis in keyed([chassis for chassis, _ in found]):
        item = f"bmc.power.chassis/{spell_key(key)}"
        yield f"{item}.consumed", places[chassis.uri].read("PowerWatts.Reading", drawn)
        yield f"{item}.limit", cap(places[chassis.uri])
    if trouble is not None:
        yield "bmc.power.chassis", trouble
