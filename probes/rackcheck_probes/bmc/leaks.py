"""Leak detectors as the BMC reports them."""

from rackcheck import Documents, Facts, Redfish, collection, probe, spell_key, text
from rackcheck.model.redfish_value import HEALTH, health
from rackcheck.parse.bmc.chassis import CHASSIS, in_chassis
from rackcheck.parse.bmc.item import fitted, health_of, keyed

FORMS = ("ThermalSubsystem/LeakDetection/LeakDetectors", "LeakDetectors")
"""Paths of the leak detectors below a chassis: in the Redfish standard, and in openUBMC (its manual, LeakDetectors)."""


@probe(
    Redfish(*(f"Chassis/*/{form}/*" for form in FORMS), CHASSIS),
    gives={
        "leak": collection("leak detectors; unknown on a BMC without a resource for them"),
        "leak/*.state": text("OK, Warning or Critical, as the detector reports it", words=HEALTH),
        "leak/*.type": text("Moisture, FloatSwitch, ..."),
        "leak/*.health": text("OK, Warning or Critical: the detector's own health, as the BMC reports it"),
        "leak/*.fitted": text("Enabled, Degraded, ..., or Absent if no detector is fitted"),
    },
)
def bmc_leaks(docs: Documents) -> Facts:
    """Every leak detector, and whether it detects a leak."""
    detectors, trouble = in_chassis(docs, *((form, "*") for form in FORMS))
    for key, detector in keyed(detectors):
        item = f"leak/{spell_key(key)}"
        yield f"{item}.state", fitted(detector, "DetectorState", health)
        yield f"{item}.type", fitted(detector, "LeakDetectorType")
        yield f"{item}.health", health_of(detector)
        yield f"{item}.fitted", detector.read("Status.State")
    if trouble is not None:
        yield "leak", trouble
