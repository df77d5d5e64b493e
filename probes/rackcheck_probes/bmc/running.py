"""The versions of the BIOS and of the BMC that run."""

from rackcheck import Documents, Facts, Redfish, Walk, probe, version
from rackcheck.parse.bmc.host import CHOICE
from rackcheck.parse.bmc.running import bios, bmc
from rackcheck_probes.bmc.firmware import TABLE


def listed(docs: Documents) -> None:
    """Fetch the firmware inventory if no system or manager reports a version."""
    bios(docs, TABLE)
    bmc(docs, TABLE)


@probe(
    Redfish(
        "Systems/*",
        "Managers/*",
        "Systems/*/Links/ManagedBy/*",
        CHOICE,
        Walk("UpdateService/FirmwareInventory/* if no system or manager reports a version", listed),
    ),
    gives={
        "firmware.bios": version("opaque", "BIOS of the host"),
        "firmware.bmc": version("opaque", "firmware of the BMC that manages the host"),
    },
)
def bmc_running(docs: Documents) -> Facts:
    """Versions of BIOS and BMC."""
    yield "firmware.bios", bios(docs, TABLE)
    yield "firmware.bmc", bmc(docs, TABLE)
