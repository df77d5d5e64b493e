"""Ethernet interfaces of hosts and of management controllers, as their BMC lists them."""

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, members, named_ones
from rackcheck.parse.bmc.port import addresses
from rackcheck.parse.bmc.several import several

NAME = "EthernetInterfaces"


def of_systems(docs: Documents) -> Gathered:
    """Return the Ethernet interfaces of every system, and why the list may be incomplete.

    A GPU baseboard has no interfaces and may omit the collection, so a missing collection makes the list incomplete
    only if every system omits it. If the BMC manages several hosts, no interface is returned, because it is unknown
    which of them belong to this node.
    """
    many = several(docs)
    if many is not None:
        return [], many
    systems, trouble = members(docs, "Systems")
    found: list[Resource] = []
    known = False
    for system in systems:
        more, cut = of_one(docs, system)
        silent = NAME not in system.body and system.unread is None
        known = known or not silent
        found += more
        trouble = trouble or (None if silent else cut)
    if not known and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"no system of this BMC has {NAME}")
    return found, trouble


def of_one(docs: Documents, owner: Resource) -> Gathered:
    """Return the Ethernet interfaces of one system or management controller, and why the list may be incomplete."""
    collections, trouble = gather(docs.at(NAME, owner))
    if not collections and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"{owner.uri} has no {NAME}")
    found: list[Resource] = []
    for collection in collections:
        more, cut = gather(docs.at("*", collection))
        found += more
        trouble = trouble or cut
    return named_ones(found, trouble)


def mac(value: object) -> str:
    """Return a hardware address in lower case with colons; raises Unreadable for zeros, which stand for no address."""
    return addresses([value])[0]
