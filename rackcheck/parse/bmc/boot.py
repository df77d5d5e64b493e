"""How a host starts, as its BMC tells it in the Boot part of the system."""

import re

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.systems import Gathered, agreed, entries

ENTRIES = 1000
"""Entries of one boot order that are read at most; UEFI itself has room for 65,536."""

OVERRIDES = ("Disabled", "Once", "Continuous")
"""What BootSourceOverrideEnabled can say (DMTF's ComputerSystem schema)."""

NOT_BOOTING = "None"
"""The word for a target that is none; elsewhere the same word is said for a value that is not known."""


def order(value: object) -> tuple[str, ...]:
    """Give the references of a boot order, first to last.

    A host that has not booted since its BMC started has told it nothing: an empty order is none.
    """
    return tuple(_reference(each) for each in entries(value, ENTRIES))


def _reference(value: object) -> str:
    """Give the plain reference of `Boot0019`, and of `Boot0019: Ubuntu`, which some BMCs say."""
    text = text_of(value)
    match = re.match(r"(Boot[0-9A-Fa-f]{4})\s*:", text)
    return match[1] if match else text


def first(reading: Sourced | Unknown) -> Sourced | Unknown:
    """Give the first of a boot order that was read."""
    if isinstance(reading, Sourced) and isinstance(reading.reading, tuple):
        return Sourced(reading.reading[0], reading.source)
    return reading


def override(value: object) -> str:
    """Give whether another source than the order's is set for the next start, or for all."""
    text = text_of(value)
    if text not in OVERRIDES:
        raise Unreadable(f"none of {', '.join(OVERRIDES)}: {clean(text, 60)!r}")
    return text


def target(hosts: Gathered) -> Sourced | Reading:
    """Read from where the next start is; absent where it follows the order, whatever the BMC keeps as a target."""
    enabled = agreed(hosts, "Boot.BootSourceOverrideEnabled", override)
    if isinstance(enabled, Unknown) or isinstance(enabled.reading, Unknown):
        return enabled
    if enabled.reading == "Disabled":
        return Sourced(Absent("no override is set"), enabled.source)
    reading = agreed(hosts, "Boot.BootSourceOverrideTarget", _word)
    if isinstance(reading, Sourced) and reading.reading == NOT_BOOTING:
        return Sourced(Absent("the override names no target"), reading.source)
    return reading


def _word(value: object) -> str:
    return NOT_BOOTING if value == NOT_BOOTING else text_of(value)


def progress(hosts: Gathered) -> Sourced | Unknown:
    """Read how far the host came; a vendor's own word stands beside `OEM`."""
    reading = agreed(hosts, "BootProgress.LastState")
    if isinstance(reading, Sourced) and reading.reading == "OEM":
        return agreed(hosts, "BootProgress.OemLastState")
    return reading
