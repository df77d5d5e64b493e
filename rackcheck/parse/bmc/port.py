"""Ports of network adapters in the older schema NetworkPort and the newer Port, whose values and units differ."""

import re
from collections.abc import Mapping

from rackcheck.model.fact import Reason, Unreadable, clean
from rackcheck.model.redfish_value import amount, text_of
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.part import listed

LINKS = {"linkup": "up", "up": "up", "linkdown": "down", "down": "down", "nolink": "down"}
LINKS |= {"starting": "starting", "training": "training"}
"""The state of a link for each value of LinkStatus (in lower case) in the DMTF's Port and NetworkPort schemas."""

_ADDRESS = regex(r"[0-9a-f]{12}|[0-9a-f]{16}")


def link(value: object) -> str:
    """Return the state of a port's link (up, down, starting, training) in the same words for both schemas of ports."""
    word = text_of(value)
    if word.casefold() not in LINKS:
        raise Unreadable(f"is not a link state: {clean(word, 60)!r}")
    return LINKS[word.casefold()]


def gbps(value: object) -> float:
    """Return a speed in Gb/s; raises Unreadable for 0, which BMCs return without a link or for an unknown speed."""
    number = amount(value)
    if not number:
        raise Unreadable("is 0", Reason.NOT_COLLECTED)
    return number


def mbps(value: object) -> float:
    """Convert a speed in Mb/s to Gb/s."""
    return gbps(value) / 1000


def addresses(value: object) -> tuple[str, ...]:
    """Return hardware addresses as Linux spells them: MACs `aa:bb:cc:dd:ee:ff`, GUIDs `aabb:ccdd:eeff:0011`.

    An address of zeros marks an unused entry of the list, and is left out.
    """
    found = [_address(each) for each in listed(value)]
    kept = tuple(dict.fromkeys(each for each in found if each.strip("0:")))
    if not kept:
        raise Unreadable("lists none", Reason.NOT_COLLECTED)
    return kept


def _address(value: object) -> str:
    word = text_of(value)
    digits = re.sub(r"[:.-]", "", word).casefold()
    if not _ADDRESS.fullmatch(digits):
        raise Unreadable(f"has an invalid hardware address: {clean(word, 60)!r}")
    step = 2 if len(digits) == 12 else 4
    return ":".join(digits[at : at + step] for at in range(0, len(digits), step))


MODULES = ("SFP", "Oem.Dell.DellNetworkTransceiver")
"""Properties of a port that describe its transceiver or cable: that of the schema Port, and that of Dell's iDRAC."""

DELL = {"vendor": "VendorName", "type": "IdentifierType"}
SCHEMA = {"vendor": "Manufacturer", "type": "Type"}


def module(port: Resource) -> Mapping[str, str]:
    """Return the names of the properties with vendor, type, part number and serial number of a port's transceiver.

    The result is empty if the BMC returns nothing about transceivers.
    """
    known = port.trouble is None
    place = next((name for name in MODULES if known and isinstance(port.value(name), Mapping)), "")
    texts = SCHEMA if place == MODULES[0] else DELL
    names = {**texts, "part_number": "PartNumber", "serial": "SerialNumber"}
    return {fact: f"{place}.{name}" for fact, name in names.items()} if place else {}
