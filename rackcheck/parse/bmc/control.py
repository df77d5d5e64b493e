"""Power controls of a BMC, and the kind of power that each control limits, as derived from the control's name."""

import re
from collections.abc import Callable

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import in_chassis

PURPOSES = {
    "TDP": r"TDP",
    "EDPp": r"EDPp",
    "EDPc": r"EDPc",
    "TGP": r"TGP",
    "total": r"(?i)total.?gpu.?power",
    "limit": r"(?i)^power.?limit",
}
"""For each purpose of a set point, a pattern that matches the control's Id, as recorded on GB200 and DGX.

The pattern of `limit` matches PowerLimit, the Id in the standard's example.
"""

DEVICES = frozenset({"TDP", "EDPp", "EDPc", "TGP"})
"""Purposes of set points that limit a single device, not the enclosure that contains the device."""

WATTS = frozenset({"w", "watt", "watts"})
"""Spellings of the unit W; Lenovo's XCC returns Watt, the standard has W."""


def power(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the power controls of every chassis, and why the list may be incomplete.

    A control without a type makes the list incomplete, as it may be a power control.
    """
    found, trouble = in_chassis(docs, ("Controls", "*"))
    types = [(each, each.read("ControlType").reading) for each in found]
    mute = next((kind for _, kind in types if isinstance(kind, Unknown)), None)
    return [each for each, kind in types if kind == "Power"], trouble or mute


def purpose(value: object) -> str:
    """Derive from a control's name the kind of power that it limits; raises Unreadable if the name does not show it.

    TDP is the sustained and EDPp the peak power of one device, TGP the power of a graphics card: the three are never
    compared.
    """
    found = {kind for kind, pattern in PURPOSES.items() if re.search(pattern, text_of(value))}
    if len(found) != 1:
        raise Unreadable(f"{clean(str(value), 80)!r} does not show what it limits", Reason.NOT_COLLECTED)
    return found.pop()


def kept(value: object) -> str:
    """Derive from a control's name whether its set point survives a restart (`nonvolatile`) or not (`volatile`)."""
    word = re.search(r"(?i)(non_?)?volatile", text_of(value))
    if word is None:
        raise Unreadable(f"{clean(str(value), 80)!r} contains neither volatile nor nonvolatile", Reason.NOT_COLLECTED)
    return "nonvolatile" if word[1] else "volatile"


def watts(control: Resource, name: str, reader: Callable[[object], float]) -> Sourced:
    """Read a set point or limit of a control in watts; unknown if the unit is different or missing."""
    unit = control.read("SetPointUnits")
    if isinstance(unit.reading, Unknown):
        return unit
    if str(unit.reading).casefold() not in WATTS:
        return Sourced(Unknown(Reason.UNPARSABLE, f"{name} is in {clean(str(unit.reading), 20)}, not W"), unit.source)
    return control.read(name, reader)
