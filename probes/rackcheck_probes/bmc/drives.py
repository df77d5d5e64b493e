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
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.drive import BAYS, STORAGE, drives, gigabytes, key, share
from rackcheck.parse.bmc.host import CHOICE
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified, label, named_first, revision
from rackcheck.parse.bmc.systems import some

TEXTS = {"manufacturer": "Manufacturer", "model": "Model"}
LABELS = {"serial": "SerialNumber", "part_number": "PartNumber", "sku": "SKU"}
WORDS = {"media": "MediaType", "protocol": "Protocol", "form_factor": "DriveFormFactor"}
WORDS |= {"encryption": "EncryptionStatus", "slot": "PhysicalLocation.PartLocation.ServiceLabel"}
FLAGS = {"failure_predicted": "FailurePredicted", "write_cache": "WriteCacheEnabled"}
AMOUNTS = {"capable_speed": "CapableSpeedGbs", "speed": "NegotiatedSpeedGbs", "rotation": "RotationSpeedRPM"}


@probe(
    Redfish(STORAGE, BAYS, CHASSIS, CHOICE, Walk("or Systems/*/SimpleStorage/*", drives)),
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
        "bmc.drive/*.part_number": text("part number", Class.IDENTITY),
        "bmc.drive/*.sku": text("order number", Class.IDENTITY),
        "bmc.drive/*.form_factor": text("M2, U2, EDSFF_E3_Short, ..."),
        "bmc.drive/*.encryption": text("Unencrypted, Unlocked, Locked, ..."),
        "bmc.drive/*.slot": text("label of the bay"),
        "bmc.drive/*.write_cache": flag("the drive's write cache is on"),
        "bmc.drive/*.block_size": quantity("B", "size of a block"),
        "bmc.drive/*.speed": quantity("Gb/s", "speed of the link to the drive"),
        "bmc.drive/*.capable_speed": quantity("Gb/s", "highest speed of the drive's link"),
        "bmc.drive/*.rotation": quantity("rpm", "nominal speed of a rotating drive"),
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
        for fact, word in LABELS.items():
            yield f"{item}.{fact}", identified(drive, word)
        yield f"{item}.firmware", fitted(drive, named_first(drive, "Revision", "FirmwareVersion"), revision)
        yield f"{item}.capacity", fitted(drive, "CapacityBytes", gigabytes)
        yield f"{item}.block_size", fitted(drive, "BlockSizeBytes", some)
        for fact, word in WORDS.items():
            yield f"{item}.{fact}", fitted(drive, word)
        for fact, word in FLAGS.items():
            yield f"{item}.{fact}", fitted(drive, word, truth)
        for fact, word in AMOUNTS.items():
            yield f"{item}.{fact}", fitted(drive, word, some)
        yield f"{item}.life_left", fitted(drive, "PredictedMediaLifeLeftPercent", share)
    if trouble is not None:
        yield "bmc.drive", trouble
