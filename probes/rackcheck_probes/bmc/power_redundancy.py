"""Redundancy of power supplies as the BMC declares it."""

from rackcheck import Documents, Facts, Redfish, collection, integer, probe, spell_key, text
from rackcheck.model.redfish_value import text_of
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.item import health_of, keyed
from rackcheck.parse.bmc.power import count, first, groups, listed


@probe(
    Redfish("Chassis/*/PowerSubsystem/PowerSupplies/*", "Chassis/*/Power", CHASSIS),
    gives={
        "psu.redundancy": collection("groups of redundant power supplies"),
        "psu.redundancy/*.type": text("kind of redundancy: Failover, NPlusM, N+m, ..., as the BMC spells it"),
        "psu.redundancy/*.needed": integer("supplies that must work, as the BMC declares; not measured under load"),
        "psu.redundancy/*.supported": integer("maximum number of supplies in the group"),
        "psu.redundancy/*.members": integer("supplies that the group lists"),
        "psu.redundancy/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "psu.redundancy/*.state": text("Enabled, StandbyOffline, UnavailableOffline, ..."),
    },
)
def bmc_power_redundancy(docs: Documents) -> Facts:
    """Kind, size and health of every redundancy group."""
    found, trouble = groups(docs)
    for key, group in keyed(found):
        item = f"psu.redundancy/{spell_key(key)}"
        yield f"{item}.type", first(group, ("RedundancyType", "Mode"), text_of)
        yield f"{item}.needed", first(group, ("MinNeededInGroup", "MinNumNeeded"), count)
        yield f"{item}.supported", first(group, ("MaxSupportedInGroup", "MaxNumSupported"), count)
        yield f"{item}.members", listed(group)
        yield f"{item}.health", health_of(group)
        yield f"{item}.state", group.read("Status.State")
    if trouble is not None:
        yield "psu.redundancy", trouble
