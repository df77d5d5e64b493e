"""Temperature of the air that enters and leaves the machine."""

from rackcheck import Class, Documents, Facts, Redfish, Walk, probe, quantity
from rackcheck.parse.bmc.air import air, air_sources
from rackcheck.parse.bmc.chassis import CHASSIS


@probe(
    Redfish(
        "Chassis/*/ThermalSubsystem/ThermalMetrics",
        "Chassis/*/Thermal",
        CHASSIS,
        Walk("Systems/* of several chassis, and the sensors of their air temperatures, by DataSourceUri", air_sources),
    ),
    gives={
        "bmc.thermal.inlet": quantity("C", "intake air; unknown if several sensors report it", Class.MEASUREMENT),
        "bmc.thermal.outlet": quantity("C", "exhaust air; unknown if several sensors report it", Class.MEASUREMENT),
    },
)
def bmc_sensors_air(docs: Documents) -> Facts:
    """Temperature of the air at intake and exhaust."""
    yield "bmc.thermal.inlet", air(docs, "Intake")
    yield "bmc.thermal.outlet", air(docs, "Exhaust")
