"""Temperatures, by the meaning of the sensor that each reading is copied from."""

from rackcheck import Class, Documents, Facts, Redfish, Walk, probe, quantity, spell_key, text
from rackcheck.parse.bmc.chassis import CHASSIS, in_chassis
from rackcheck.parse.bmc.item import keyed, named
from rackcheck.parse.bmc.sensor import TEMPERATURES, degrees, meanings


@probe(
    Redfish(
        "Chassis/*/ThermalSubsystem/ThermalMetrics",
        "Chassis/*/Thermal",
        CHASSIS,
        named=(Walk("the sensors that these list, by DataSourceUri", meanings),),
        whole=("Chassis/*/Sensors/*",),
    ),
    gives={
        "sensor/*.kind": text("what the sensor measures", words=("temperature", "headroom", "delta", "other")),
        "sensor/*.temperature": quantity("C", "reading; absent for a headroom", Class.MEASUREMENT),
        "sensor/*.headroom": quantity(
            "C", "how far a chip is below a temperature limit; absent for a temperature", Class.MEASUREMENT
        ),
    },
)
def bmc_cooling_temperatures(docs: Documents) -> Facts:
    """Every temperature, and every distance of a temperature from a limit."""
    sensors, _ = in_chassis(docs, *TEMPERATURES)  # the probe that lists the sensors reports what is missing
    for key, sensor in keyed(sensors, named):
        for fact, sourced in degrees(docs, sensor):
            yield f"sensor/{spell_key(key)}.{fact}", sourced
