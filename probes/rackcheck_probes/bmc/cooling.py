"""Fans and temperature sensors as the BMC reports them."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Unreadable,
    by_part,
    collection,
    probe,
    quantity,
    spell_key,
    text,
)
from rackcheck.model.redfish_value import amount, health, measured
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.chassis import CHASSIS, in_chassis
from rackcheck.parse.bmc.item import fitted, health_of, keyed, named, state_of
from rackcheck.parse.bmc.older import either, with_older
from rackcheck.parse.bmc.reading_kind import quantity as quantity_of
from rackcheck.parse.bmc.sensor import TEMPERATURES, above_zero

OLDER = ("Thermal", "Fans")


def share(value: object) -> float:
    """Return a fan's speed in percent; raises Unreadable outside 0 to 100, as on BMCs that report rpm as percent."""
    number = measured(value)
    if not 0 <= number <= 100:
        raise Unreadable(f"is not between 0 and 100 % of full speed: {number:g} %")
    return number


@probe(
    Redfish(
        "Chassis/*/ThermalSubsystem/Fans/*", "Chassis/*/ThermalSubsystem/ThermalMetrics", "Chassis/*/Thermal", CHASSIS
    ),
    gives={
        "fan": collection("fans, including empty slots"),
        "fan/*.state": text("Enabled, or Absent for an empty slot"),
        "fan/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "fan/*.speed": quantity("rpm", "speed, if the BMC reports rpm", Class.MEASUREMENT),
        "fan/*.duty": quantity("%", "percentage of full speed, if the BMC reports it", Class.MEASUREMENT),
        "sensor": collection("sensors of temperature, and of headroom, by name"),
        "sensor/*.warning": quantity("C", "warning threshold; only the older Thermal resource reports it"),
        "sensor/*.critical": quantity("C", "critical threshold; only the older Thermal resource reports it"),
        "sensor/*.health": text("OK, Warning or Critical; only the older Thermal resource reports it"),
    },
)
def bmc_cooling(docs: Documents) -> Facts:
    """State and speed of every fan; health and thresholds of every temperature sensor."""
    fans, trouble = in_chassis(docs, ("ThermalSubsystem/Fans", "*"), OLDER)
    fans, cut = with_older(docs, fans, OLDER)
    for key, fan in keyed(fans):
        yield _fan(f"fan/{spell_key(key)}", fan)
    trouble = trouble or cut
    if trouble is not None:
        yield "fan", trouble
    sensors, trouble = in_chassis(docs, *TEMPERATURES)
    for key, sensor in keyed(sensors, named):
        yield _sensor(f"sensor/{spell_key(key)}", sensor.with_signs("ReadingCelsius", "Reading"))
    if trouble is not None:
        yield "sensor", trouble


@by_part
def _fan(item: str, fan: Resource) -> Facts:
    yield f"{item}.state", state_of(fan)
    yield f"{item}.health", health_of(fan)
    yield f"{item}.speed", either(fan, lambda f: fitted(f, _place(f, "speed", "SpeedPercent.SpeedRPM"), amount))
    yield f"{item}.duty", either(fan, lambda f: fitted(f, _place(f, "percent", "SpeedPercent.Reading"), share))


@by_part
def _sensor(item: str, sensor: Resource) -> Facts:
    yield f"{item}.warning", fitted(sensor, "UpperThresholdNonCritical", above_zero)
    yield f"{item}.critical", fitted(sensor, "UpperThresholdCritical", above_zero)
    yield f"{item}.health", fitted(sensor, "Status.Health", health)


def _place(fan: Resource, word: str, newer: str) -> str:
    """Return the name of the property with a fan's speed: `Reading` if its unit is of the kind `word`, else `newer`."""
    return "Reading" if quantity_of(fan).word.reading == word else newer
