"""The air that goes into the machine and out of it."""

from rackcheck import Class, Documents, Facts, Redfish, probe, quantity
from rackcheck.parse.bmc.sensor import air


@probe(
    Redfish("Chassis/*/ThermalSubsystem/ThermalMetrics", "Chassis/*/Thermal"),
    gives={
        "bmc.thermal.inlet": quantity("C", "air at the intake; unknown where several say so", Class.MEASUREMENT),
        "bmc.thermal.outlet": quantity("C", "air at the exhaust; unknown where several say so", Class.MEASUREMENT),
    },
)
def bmc_sensors_air(docs: Documents) -> Facts:
    """Temperature of the air at intake and exhaust."""
    yield "bmc.thermal.inlet", air(docs, "Intake")
    yield "bmc.thermal.outlet", air(docs, "Exhaust")
