"""Leak detectors as the BMC sees them."""

from rackcheck import Documents, Facts, Redfish, collection, probe, spell_key, text
from rackcheck.model.redfish_value import HEALTH, health
from rackcheck.parse.bmc.item import fitted, in_chassis, keyed

FORMS = ("ThermalSubsystem/LeakDetection/LeakDetectors", "LeakDetectors")
"""Below a chassis: the standard place, and the one where openUBMC lists them (its manual, LeakDetectors)."""


@probe(
    Redfish(*(f"Chassis/*/{form}/*" for form in FORMS)),
    gives={
        "leak": collection("leak detectors; unknown on a BMC that has no place for them"),
        "leak/*.state": text("OK, Warning or Critical, as the detector judges", words=HEALTH),
        "leak/*.type": text("Moisture, FloatSwitch, ..."),
        "leak/*.health": text("OK, Warning or Critical, as the BMC judges the detector itself"),
        "leak/*.fitted": text("Enabled, Degraded, ..., or Absent for a place without a detector"),
    },
)
def bmc_leaks(docs: Documents) -> Facts:
    """Every leak detector, and whether it is wet."""
    detectors, trouble = in_chassis(docs, *((form, "*") for form in FORMS))
    for key, detector in keyed(detectors):
        item = f"leak/{spell_key(key)}"
        yield f"{item}.state", fitted(detector, "DetectorState", health)
        yield f"{item}.type", fitted(detector, "LeakDetectorType")
        yield f"{item}.health", fitted(detector, "Status.Health", health)
        yield f"{item}.fitted", detector.read("Status.State")
    if trouble is not None:
        yield "leak", trouble
