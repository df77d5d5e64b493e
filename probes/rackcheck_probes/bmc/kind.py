"""What kind of machine a BMC manages."""

from rackcheck import Documents, Facts, Redfish, probe, text
from rackcheck.parse.bmc.kind import KINDS, kind


@probe(
    Redfish("", "Systems/*", "Chassis/*", "Fabrics/*/Switches"),
    gives={
        "bmc.kind": text(
            "kind of machine, determined by its parts, not by its name; unknown if no part determines it", words=KINDS
        )
    },
)
def bmc_kind(docs: Documents) -> Facts:
    """Whether the machine is a server, a blade, an enclosure, a switch tray, a power shelf, a cooling unit or a DPU."""
    yield "bmc.kind", kind(docs)
