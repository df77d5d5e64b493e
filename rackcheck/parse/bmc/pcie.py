"""PCIe devices as a BMC lists them, by chassis or by system; the labels of their slots, and their PCIe generation."""

import re

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.chassis import at_own, in_chassis, others
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, gone, members, named_ones, not_there
from rackcheck.parse.bmc.systems import has_some

SLOTS = ("Slot.Location.PartLocation.ServiceLabel", "Location.PartLocation.ServiceLabel")
"""Properties that may hold the label of a PCIe device's slot.

The first is the standard's property for the slot of a PCIe device, the second the property that resources of other
parts have.
"""


def devices(docs: Documents) -> Gathered:
    """Return the PCIe devices of every chassis, else of the systems, and why the list may be incomplete.

    Several BMCs list the same devices twice, under different URIs, so the systems' lists are used only if no chassis
    lists devices. Every machine has PCIe devices, so an empty list means that the BMC has not detected them (yet).
    """
    listed, lost = at_own(docs, "Chassis/*/PCIeDevices/*", others(docs)[0])
    if listed or (lost is not None and not not_there(lost)):
        return in_chassis(docs, ("PCIeDevices", "*"))
    systems, trouble = members(docs, "Systems")
    trouble = trouble or gone(members(docs, "Chassis")[0]) or others(docs)[1]
    found: list[Resource] = []
    for system in systems:
        more, cut = gather(docs.at("PCIeDevices/*", system))
        found += more
        trouble = trouble or cut
    return has_some(*named_ones(list({each.uri: each for each in found}.values()), trouble), "PCIe device")


def generation(value: object) -> int:
    """Return the PCIe generation: 5 for `Gen5`."""
    word = text_of(value)
    match = re.fullmatch(r"(?i)gen ?([1-9])", word)
    if match is None:
        raise Unreadable(f"is not a PCIe generation: {clean(word, 60)!r}")
    return int(match[1])
