"""The newest events that a BMC logged about itself and its systems."""

from rackcheck import Documents, Facts, Redfish, probe
from rackcheck.parse.bmc.log import facts, gives, way

PLACES = ("Managers/*/LogServices/*", "Systems/*/LogServices/*")


@probe(Redfish(*PLACES, way(*PLACES)), gives=gives("bmc.log", "of managers and systems"))
def bmc_logs(docs: Documents) -> Facts:
    """Every event log of the managers and systems."""
    return facts(docs, "bmc.log", *PLACES)
