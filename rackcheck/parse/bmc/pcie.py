"""PCIe devices as a BMC lists them, by chassis or by system, and the words for their links."""

import re

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.item import gather, in_chassis, members, not_there, read_ones
from rackcheck.parse.bmc.systems import Gathered, has_some

SLOTS = ("Slot.Location.PartLocation.ServiceLabel", "Location.PartLocation.ServiceLabel")
"""Where a device tells the label of its slot: the standard's place, and the one that other parts have."""


def devices(docs: Documents) -> Gathered:
    """Gather the PCIe devices of every chassis, else those that the systems list, and why they may not be all.

    Several BMCs list the same devices twice, under URIs of their own: the systems' list stands in where no chassis has
    one. No machine is without such devices: where a BMC lists none, it has not heard of them (yet).
    """
    listed, lost = gather(docs.at("Chassis/*/PCIeDevices/*"))
    if listed or (lost is not None and not not_there(lost)):
        return in_chassis(docs, ("PCIeDevices", "*"))
    systems, trouble = members(docs, "Systems")
    found: list[Resource] = []
    for system in systems:
        more, cut = gather(docs.at("PCIeDevices/*", system))
        found, trouble = found + more, trouble or cut
    return has_some(*read_ones(list({each.uri: each for each in found}.values()), trouble), "PCIe device")


def generation(value: object) -> int:
    """Give the generation of PCIe: 5 of `Gen5`."""
    word = text_of(value)
    match = re.fullmatch(r"(?i)gen ?([1-9])", word)
    if match is None:
        raise Unreadable(f"no generation of PCIe: {clean(word, 60)!r}")
    return int(match[1])
