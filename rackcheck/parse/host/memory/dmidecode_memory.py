"""Values derived from dmidecode's memory devices: their channel, and whether they are made for ECC."""

import re

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.regex import regex
from rackcheck.parse.host.os.dmidecode import Structure, measured

_CHANNEL = regex(r"(.{0,64}?channel[ _-]?[a-z0-9]{1,2})(?![a-z0-9]).{0,64}", re.IGNORECASE)


def channel(device: Structure) -> str | Unknown:
    """Return the channel in the slot's name, such as `ChannelA` of `ChannelA-DIMM0`; Unknown if the name has none."""
    for key in ("Locator", "Bank Locator"):
        match = _CHANNEL.fullmatch(device.first(key) or "")
        if match is not None:
            return match[1].strip()
    shown = f"{device.fields.get('Locator', '')}, {device.fields.get('Bank Locator', '')}"
    return Unknown(Reason.NOT_COLLECTED, f"the slot's name contains no channel: {shown[:80]}")


def corrects(device: Structure) -> bool | Unknown:
    """Return whether a module's total width exceeds its data width (bits for ECC); Unknown if a width is missing."""
    total, data = (device.value(measured("bits"), f"{word} Width") for word in ("Total", "Data"))
    if isinstance(total, Unknown) or isinstance(data, Unknown):
        return total if isinstance(total, Unknown) else device.missing("Data Width")
    return total > data
