"""What kind of machine a BMC manages."""

from rackcheck import Documents, Facts, Redfish, probe, text
from rackcheck.parse.bmc.kind import KINDS, POWER, kind


@probe(
    Redfish("", "Systems/*", "Chassis/*", "Fabrics/*/Switches", *(f"PowerEquipment/{name}" for name in POWER)),
    gives={
        "bmc.kind": text(
            "kind of machine, determined by its parts, not by its name; unknown if no part determines it", words=KINDS
        )
    },
)
def bmc_kind(docs: Documents) -> Facts:
    """Whether the machine is a server, blade, enclosure, switch tray, power shelf, PDU, cooling unit or DPU."""
    yield "bmc.kind", kind(docs)
