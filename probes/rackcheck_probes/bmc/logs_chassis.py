"""The newest events that a BMC logged about single parts, such as Xids of each GPU and NVSwitch."""

from rackcheck import Documents, Facts, Redfish, probe
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.log import facts, gives, way

PLACE = "Chassis/*/LogServices/*"


@probe(Redfish(PLACE, CHASSIS, way(PLACE), dear=True), gives=gives("bmc.part_log", "of chassis"))
def bmc_logs_chassis(docs: Documents) -> Facts:
    """Every event log of every chassis; on some machines, each GPU and each NVSwitch is a chassis with a log."""
    return facts(docs, "bmc.part_log", PLACE)
