"""What kind of machine a BMC manages."""

from rackcheck import Documents, Facts, Redfish, probe, text
from rackcheck.parse.bmc.kind import KINDS, kind


@probe(
    Redfish("", "Systems/*", "Chassis/*", "Fabrics/*/Switches"),
    gives={"bmc.kind": text("by what it is made of, not by its name; unknown where nothing decides", words=KINDS)},
)
def bmc_kind(docs: Documents) -> Facts:
    """Server, switch tray, power shelf or DPU."""
    yield "bmc.kind", kind(docs)
