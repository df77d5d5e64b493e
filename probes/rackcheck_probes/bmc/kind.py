"""What kind of machine a BMC manages."""

from rackcheck import Documents, Facts, Redfish, probe, text
from rackcheck.parse.bmc.kind import KINDS, kind


@probe(
    Redfish("", "Systems/*", "Chassis/*", "Fabrics/*/Switches"),
    gives={
        "bmc.kind": text("kind, by the machine's parts and not by its name; unknown if no part decides", words=KINDS)
    },
)
def bmc_kind(docs: Documents) -> Facts:
    """Server, switch tray, power shelf or DPU."""
    yield "bmc.kind", kind(docs)
