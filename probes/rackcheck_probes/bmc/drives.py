"""Drives as the BMC reports them: identity, health and wear."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Walk,
    collection,
    flag,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc.drive import CHASSIS, STORAGE, drives, gigabytes, key, share
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified, label, named_first, revision

TEXTS = {"manufacturer": "Manufacturer", "model": "Model"}


@probe(
    Redfish(STORAGE, CHASSIS, Walk("or Systems/*/SimpleStorage/*", drives)),
    gives={
        "bmc.drive": collection(
            "drives and empty bays, each listed once, including virtual drives of the BMC",
            alike=("bmc.drive/*.model",),
            vacant="bmc.drive/*.state",
        ),
        "bmc.drive/*.state": text("Enabled, Absent, ..."),
        "bmc.drive/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.drive/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.drive/*.model": text("model", Class.IDENTITY),
        "bmc.drive/*.serial": text("serial number", Class.IDENTITY),
        "bmc.drive/*.firmware": version("opaque", "firmware"),
        "bmc.drive/*.capacity": quantity("GB", "size of the drive; unknown if the BMC reports 0"),
        "bmc.drive/*.media": text("SSD, HDD, ..."),
        "bmc.drive/*.protocol": text("NVMe, SATA, SAS, PCIe, ..."),
        "bmc.drive/*.failure_predicted": flag("the drive predicts its failure"),
        "bmc.drive/*.life_left": quantity("%", "remaining write endurance; a reported 0 is unknown", Class.MEASUREMENT),
    },
)
def bmc_drives(docs: Documents) -> Facts:
    """Every drive, its identity, health and wear."""
    found, trouble = drives(docs)
    for name, drive in keyed(found, key):
        item = f"bmc.drive/{spell_key(name)}"
        yield f"{item}.state", state_of(drive)
        yield f"{item}.health", health_of(drive)
        for fact, word in TEXTS.items():
            yield f"{item}.{fact}", fitted(drive, word, label)
        yield f"{item}.serial", identified(drive, "SerialNumber")
        yield f"{item}.firmware", fitted(drive, named_first(drive, "Revision", "FirmwareVersion"), revision)
        yield f"{item}.capacity", fitted(drive, "CapacityBytes", gigabytes)
        yield f"{item}.media", fitted(drive, "MediaType")
        yield f"{item}.protocol", fitted(drive, "Protocol")
        yield f"{item}.failure_predicted", fitted(drive, "FailurePredicted", truth)
        yield f"{item}.life_left", fitted(drive, "PredictedMediaLifeLeftPercent", share)
    if trouble is not None:
        yield "bmc.drive", trouble
