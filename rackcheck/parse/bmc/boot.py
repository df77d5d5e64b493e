"""How a host starts, from the properties Boot and BootProgress of its system."""

import re

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.systems import agreed, entries

ENTRIES = 1000
"""Maximum number of entries read of one boot order; UEFI itself allows 65,536."""

OVERRIDES = ("Disabled", "Once", "Continuous")
"""Values of BootSourceOverrideEnabled (DMTF's ComputerSystem schema)."""

NOT_BOOTING = "None"
"""The value of BootSourceOverrideTarget that means that the override has no target.

In other properties, the same text stands for an unknown value.
"""


def order(value: object) -> tuple[str, ...]:
    """Return the entries of a boot order (`Boot0019`), first to last.

    Raises Unreadable for an empty order: a host that has not booted since its BMC started has not yet sent its boot
    order.
    """
    return tuple(_reference(each) for each in entries(value, ENTRIES))


def _reference(value: object) -> str:
    """Return the reference to a boot entry as `Boot0019`; some BMCs report it as `Boot0019: Ubuntu`."""
    text = text_of(value)
    match = re.match(r"(Boot[0-9A-Fa-f]{4})\s*:", text)
    return match[1] if match else text


def first(reading: Sourced | Unknown) -> Sourced | Unknown:
    """Return the first entry of a boot order."""
    if isinstance(reading, Sourced) and isinstance(reading.reading, tuple):
        return Sourced(reading.reading[0], reading.source)
    return reading


def override(value: object) -> str:
    """Return whether an override of the boot order is set, and how long it lasts: a value of OVERRIDES."""
    text = text_of(value)
    if text not in OVERRIDES:
        raise Unreadable(f"is not one of {', '.join(OVERRIDES)}: {clean(text, 60)!r}")
    return text


def target(hosts: Gathered) -> Sourced | Reading:
    """Return the target of the boot override; absent if no override is set, even if the BMC keeps a target."""
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
    """Read how far the host's start has progressed; if the state is `OEM`, return the vendor's own word."""
    reading = agreed(hosts, "BootProgress.LastState")
    if isinstance(reading, Sourced) and reading.reading == "OEM":
        return agreed(hosts, "BootProgress.OemLastState")
    return reading
