"""Every sensor of every chassis, read only if a rule names it: hundreds of sensors on some machines, one GET each."""

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, quantity, spell_key, text
from rackcheck.parse.bmc.item import fitted, health_of, in_chassis, keyed, state_of
from rackcheck.parse.bmc.sensor import above_zero, figure, kind, sorted_by_kind, value

LIMITS = {
    f"{side}_{level}".lower(): f"Thresholds.{side}{level}.Reading"
    for side in ("Upper", "Lower")
    for level in ("Caution", "Critical", "Fatal")
}
READS = {"temperature": "C", "power": "W", "voltage": "V", "current": "A", "speed": "rpm", "humidity": "%"}


@probe(
    Redfish("Chassis/*/Sensors/*", dear=True),
    gives={
        "bmc.sensor": collection("every sensor, by Redfish Id"),
        "bmc.sensor/*.kind": text("what the sensor measures, from its unit or else its type", words=(*READS, "other")),
        "bmc.sensor/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.sensor/*.context": text("location, as the BMC reports it: CPU, GPU, Intake, ..."),
        "bmc.sensor/*.state": text("Enabled, or Absent if what it measures is not there"),
        "bmc.sensor/*.type": text("what the sensor measures, as the BMC reports it: Temperature, Power, Percent, ..."),
        "bmc.sensor/*.unit": text("unit of the reading and of the thresholds, as the BMC spells it"),
        "bmc.sensor/*.reading": text("number that the BMC reports, in the sensor's unit", Class.MEASUREMENT),
        **{f"bmc.sensor/*.{word}": text("threshold that the BMC reports, in the sensor's unit") for word in LIMITS},
        **{
            f"bmc.sensor.{word}": collection(f"sensors of {word}; unknown if the kind of any sensor is unknown")
            for word in READS
        },
        **{f"bmc.sensor.{w}/*.value": quantity(unit, "reading", Class.MEASUREMENT) for w, unit in READS.items()},
        "bmc.sensor.temperature/*.warning": quantity("C", "warning threshold (UpperCaution)"),
        "bmc.sensor.temperature/*.critical": quantity("C", "critical threshold (UpperCritical)"),
    },
)
def bmc_sensors(docs: Documents) -> Facts:
    """Kind, reading, health and location of every sensor."""
    found, trouble = in_chassis(docs, ("Sensors", "*"))
    sensors = list(keyed(found))
    for key, sensor in sensors:
        yield f"bmc.sensor/{spell_key(key)}.kind", kind(sensor)
        yield f"bmc.sensor/{spell_key(key)}.health", health_of(sensor)
        yield f"bmc.sensor/{spell_key(key)}.context", sensor.read("PhysicalContext")
        yield f"bmc.sensor/{spell_key(key)}.state", state_of(sensor)
        yield f"bmc.sensor/{spell_key(key)}.type", sensor.read("ReadingType")
        yield f"bmc.sensor/{spell_key(key)}.unit", sensor.read("ReadingUnits")
        for fact, name in {"reading": "Reading", **LIMITS}.items():
            yield f"bmc.sensor/{spell_key(key)}.{fact}", fitted(sensor, name, figure)
    by_kind, mute = sorted_by_kind(sensors)
    unclear = trouble or mute
    for word, some in by_kind.items():
        for key, sensor in some:
            yield f"bmc.sensor.{word}/{spell_key(key)}.value", value(sensor, word)
        if unclear is not None:
            yield f"bmc.sensor.{word}", unclear
    for key, sensor in by_kind["temperature"]:
        for fact, name in (("warning", "UpperCaution"), ("critical", "UpperCritical")):
            place = f"Thresholds.{name}.Reading"
            yield f"bmc.sensor.temperature/{spell_key(key)}.{fact}", fitted(sensor, place, above_zero)
    if trouble is not None:
        yield "bmc.sensor", trouble
