"""Input and output of each power supply."""

from rackcheck import Class, Documents, Facts, Redfish, Walk, probe, quantity, spell_key
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.item import keyed
from rackcheck.parse.bmc.power import METRICS, SHELVES, flow, supplies, walked


@probe(
    Redfish(
        "Chassis/*/PowerSubsystem/PowerSupplies/*/Metrics",
        "Chassis/*/Power",
        CHASSIS,
        Walk(f"or {SHELVES}/Metrics", walked),
    ),
    gives={
        "psu/*.input_voltage": quantity("V", "input voltage", Class.MEASUREMENT),
        "psu/*.input_power": quantity("W", "input power; absent for an empty slot", Class.MEASUREMENT),
        "psu/*.output_power": quantity("W", "output power; absent for an empty slot", Class.MEASUREMENT),
    },
)
def bmc_power_supply(docs: Documents) -> Facts:
    """Input and load of every power supply."""
    found, _ = supplies(docs)
    for key, supply in keyed(found):
        for fact, places in METRICS.items():
            yield f"psu/{spell_key(key)}.{fact}", flow(docs, supply, places)
