"""Every sensor of every chassis, read only if a rule names it: hundreds of sensors on some machines, one GET each."""

from collections.abc import Iterator

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Resource,
    by_part,
    collection,
    integer,
    probe,
    quantity,
    spell_key,
    text,
)
from rackcheck.model.catalogue import Kind
from rackcheck.parse.bmc.chassis import CHASSIS, in_chassis
from rackcheck.parse.bmc.item import health_of, keyed, state_of
from rackcheck.parse.bmc.reading_kind import KINDS, LISTED, OTHER, kind
from rackcheck.parse.bmc.sensor import THRESHOLDS, limited, sorted_by_kind, thresholds, value

MEANINGS = {
    "headroom": "distances of a temperature from a limit, which decrease as the part gets hotter",
    "delta": "differences between two temperatures",
    "unitless": "sensors whose unit is empty: flags and counts",
    OTHER: "sensors with another unit, and headrooms and differences that are not in degrees",
}


def measurement(word: str) -> Kind:
    """Return the kind of the fact with the readings of a kind of sensors."""
    if word == OTHER:
        return text("reading with its unit, as the BMC returns them", Class.MEASUREMENT)
    if not KINDS[word]:
        return integer("reading, a whole number without a unit", Class.MEASUREMENT)
    return quantity(KINDS[word], "reading", Class.MEASUREMENT)


def _limits() -> Iterator[tuple[str, Kind]]:
    for word in filter(limited, KINDS):
        for fact, name in THRESHOLDS.items():
            side = fact.removeprefix("lower_").removeprefix("upper_")
            yield f"bmc.sensor.{word}/*.{fact}", quantity(KINDS[word], f"{side} threshold ({name})")


@probe(
    Redfish("Chassis/*/Sensors/*", CHASSIS, dear=True),
    gives={
        "bmc.sensor": collection("every sensor, by Redfish Id"),
        "bmc.sensor/*.kind": text(
            "what the sensor measures, by its unit or else its type, and by ReadingBasis or else the direction of its "
            "thresholds",
            words=(*KINDS, OTHER),
        ),
        "bmc.sensor/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.sensor/*.context": text("location, as the BMC reports it: CPU, GPU, Intake, ..."),
        "bmc.sensor/*.state": text("Enabled, or Absent if what it measures is not there"),
        "bmc.sensor/*.type": text("what the sensor measures, as the BMC reports it: Temperature, Power, Percent, ..."),
        "bmc.sensor/*.unit": text("unit of the reading, as the BMC spells it"),
        **{
            f"bmc.sensor.{word}": collection(
                f"{MEANINGS.get(word, f'sensors of {word}')}; unknown if the kind of any sensor is unknown"
            )
            for word in LISTED
        },
        **{f"bmc.sensor.{word}/*.value": measurement(word) for word in LISTED},
        **dict(_limits()),
    },
)
def bmc_sensors(docs: Documents) -> Facts:
    """Kind, reading, thresholds, health and location of every sensor."""
    found, trouble = in_chassis(docs, ("Sensors", "*"))
    sensors = list(keyed(found))
    for key, sensor in sensors:
        yield _sensor(f"bmc.sensor/{spell_key(key)}", sensor.with_signs("Reading"))
    by_kind, mute = sorted_by_kind(sensors)
    unclear = trouble or mute
    for word, some in by_kind.items():
        for key, sensor in some:
            item = f"bmc.sensor.{word}/{spell_key(key)}"
            yield f"{item}.value", value(sensor, word)
            yield _thresholds(item, sensor.with_signs("Reading"), word)
        if unclear is not None:
            yield f"bmc.sensor.{word}", unclear
    if trouble is not None:
        yield "bmc.sensor", trouble


@by_part
def _sensor(item: str, sensor: Resource) -> Facts:
    yield f"{item}.kind", kind(sensor)
    yield f"{item}.health", health_of(sensor)
    yield f"{item}.context", sensor.read("PhysicalContext")
    yield f"{item}.state", state_of(sensor)
    yield f"{item}.type", sensor.read("ReadingType")
    yield f"{item}.unit", sensor.read("ReadingUnits")


@by_part
def _thresholds(item: str, sensor: Resource, word: str) -> Facts:
    for fact, limit in thresholds(sensor, word):
        yield f"{item}.{fact}", limit
