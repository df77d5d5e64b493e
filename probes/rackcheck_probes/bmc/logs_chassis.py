"""The newest events that a BMC logged of single parts: the Xids of each GPU and NVSwitch, where it keeps them."""

from rackcheck import Documents, Facts, Redfish, probe
from rackcheck.parse.bmc.log import facts, gives, way

PLACE = "Chassis/*/LogServices/*"


@probe(Redfish(PLACE, way(PLACE), dear=True), gives=gives("bmc.part_log", "of chassis"))
def bmc_logs_chassis(docs: Documents) -> Facts:
    """Every log of events of the chassis, which is one for each part on some machines."""
    return facts(docs, "bmc.part_log", PLACE)
