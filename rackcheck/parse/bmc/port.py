"""Ports of network adapters: the older NetworkPort and the newer Port, which differ in words and units."""

import re

from rackcheck.model.fact import Reason, Unreadable, clean
from rackcheck.model.redfish_value import amount, text_of
from rackcheck.parse.bmc.part import listed

LINKS = {"linkup": "up", "up": "up", "linkdown": "down", "down": "down", "nolink": "down"}
LINKS |= {"starting": "starting", "training": "training"}
"""State of a link by the value of LinkStatus, in lower case, in the DMTF's Port and NetworkPort schemas."""

_ADDRESS = re.compile(r"[0-9a-f]{12}|[0-9a-f]{16}")


def link(value: object) -> str:
    """Return the state of a link, in the same words for both schemas."""
    word = text_of(value)
    if word.casefold() not in LINKS:
        raise Unreadable(f"is not a link state: {clean(word, 60)!r}")
    return LINKS[word.casefold()]


def gbps(value: object) -> float:
    """Return a speed in Gb/s; zero is unknown: BMCs return it without a link, and if they cannot read the speed."""
    number = amount(value)
    if not number:
        raise Unreadable("is 0", Reason.NOT_COLLECTED)
    return number


def mbps(value: object) -> float:
    """Convert a speed in Mb/s to Gb/s."""
    return gbps(value) / 1000


def addresses(value: object) -> tuple[str, ...]:
    """Return hardware addresses as Linux spells them: MACs `aa:bb:cc:dd:ee:ff`, GUIDs `aabb:ccdd:eeff:0011`.

    An address of zeros marks an unused entry.
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
