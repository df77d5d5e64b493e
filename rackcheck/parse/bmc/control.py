"""Power controls of a BMC: what their set points limit, by control name."""

import re
from collections.abc import Callable

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.item import in_chassis

PURPOSES = {
    "TDP": r"TDP",
    "EDPp": r"EDPp",
    "EDPc": r"EDPc",
    "TGP": r"TGP",
    "total": r"(?i)total.?gpu.?power",
    "limit": r"(?i)^power.?limit",
}
"""What a control limits, by a word in its Id, as recorded of GB200 and DGX; PowerLimit is the standard's example."""

DEVICES = frozenset({"TDP", "EDPp", "EDPc", "TGP"})
"""Purposes of a single device's set points; none of them is the power cap of the device's enclosure."""

WATTS = frozenset({"w", "watt", "watts"})
"""Spellings of the unit; Lenovo's XCC returns Watt, the standard W."""


def power(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the power controls of every chassis, and why the list may be incomplete: one without a type may be one."""
    found, trouble = in_chassis(docs, ("Controls", "*"))
    types = [(each, each.read("ControlType").reading) for each in found]
    mute = next((kind for _, kind in types if isinstance(kind, Unknown)), None)
    return [each for each, kind in types if kind == "Power"], trouble or mute


def purpose(value: object) -> str:
    """Derive from a control's name what its set point limits; unknown for a name with none of the known words.

    TDP is sustained and EDPp peak power of one device, TGP that of a graphics card: they are never compared.
    """
    found = {kind for kind, pattern in PURPOSES.items() if re.search(pattern, text_of(value))}
    if len(found) != 1:
        raise Unreadable(f"{clean(str(value), 80)!r} does not say what it bounds", Reason.NOT_COLLECTED)
    return found.pop()


def kept(value: object) -> str:
    """Derive from a control's name whether its set point survives a restart."""
    word = re.search(r"(?i)(non_?)?volatile", text_of(value))
    if word is None:
        raise Unreadable(f"{clean(str(value), 80)!r} does not say whether it is kept", Reason.NOT_COLLECTED)
    return "nonvolatile" if word[1] else "volatile"


def watts(control: Resource, name: str, reader: Callable[[object], float]) -> Sourced:
    """Read a set point or limit of a control in watts; unknown if the unit is different or missing."""
    unit = control.read("SetPointUnits")
    if isinstance(unit.reading, Unknown):
        return unit
    if str(unit.reading).casefold() not in WATTS:
        return Sourced(Unknown(Reason.UNPARSABLE, f"{name} is in {clean(str(unit.reading), 20)}, not W"), unit.source)
    return control.read(name, reader)
