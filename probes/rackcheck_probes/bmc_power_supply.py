"""What flows into and out of each power supply."""

from rackcheck import Class, Documents, Facts, Redfish, probe, quantity, spell_key
from rackcheck.core.item import in_chassis, keyed
from rackcheck.core.redfish_power import METRICS, SUPPLIES, flow


@probe(
    Redfish("Chassis/*/PowerSubsystem/PowerSupplies/*/Metrics", "Chassis/*/Power"),
    gives={
        "psu/*.input_voltage": quantity("V", "voltage of its feed", Class.MEASUREMENT),
        "psu/*.input_power": quantity("W", "power it takes; absent of an empty slot", Class.MEASUREMENT),
        "psu/*.output_power": quantity("W", "power it delivers; absent of an empty slot", Class.MEASUREMENT),
    },
)
def bmc_power_supply(docs: Documents) -> Facts:
    """Feed and load of every power supply."""
    supplies, _ = in_chassis(docs, *SUPPLIES)
    for key, supply in keyed(supplies):
        for fact, places in METRICS.items():
            yield f"psu/{spell_key(key)}.{fact}", flow(docs, supply, places)
