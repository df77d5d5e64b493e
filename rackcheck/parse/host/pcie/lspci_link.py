"""A PCI Express link in the registers that lspci shows: its width and speed, state, errors and sleep states."""

import re

from rackcheck.model.fact import Absent, Reading, Unreadable, clean
from rackcheck.parse.host.pcie.lspci import EXPRESS, L1_SUBSTATES, SECONDARY, PciFunction

_SPEED, _WIDTH = r"\bSpeed ([0-9]{1,3}(?:\.5)?)GT/s", r"\bWidth x([0-9]{1,2})\b"
_TARGET = r"Target Link Speed: ([0-9]{1,3}(?:\.5)?)GT/s"

TRAINED = ("ok", "downgraded", "overdriven")
"""The words for a link's width or speed: equal to, below, or above the maximum of this end of the link."""

_ENABLED = r"^ASPM (Disabled|[L01s ]{2,6}(?= Enabled))"
_SUPPORTED = r"\bASPM (not supported|L0s L1|\S{1,20}?)(?=,|\s|$)"

ASPM = ("none", "L0s", "L1", "L0s L1")
"""Sets of the sleep states that a link enters by itself (active state power management)."""


def width(function: PciFunction) -> Reading:
    """Compare the link's width with the maximum of this end; returns a word of `TRAINED`, absent without a link."""
    return _trained(function, _WIDTH)


def speed(function: PciFunction) -> Reading:
    """Compare the link's speed with the maximum of this end; returns a word of `TRAINED`, absent without a link."""
    return _trained(function, _SPEED)


def target_speed(function: PciFunction) -> Reading:
    """Return the maximum link speed in GT/s that is set at this end of the link (Target Link Speed)."""
    return function.field(EXPRESS, "LnkCtl2", _TARGET, float)


def active(function: PciFunction) -> Reading:
    """Return whether the link is up; absent if this end of the link does not report its state."""
    reports = function.flag(EXPRESS, "LnkCap", "LLActRep")
    if reports is False:
        return Absent("this end of the link does not report whether it is up")
    return function.flag(EXPRESS, "LnkSta", "DLActive") if reports is True else reports


def retimers(function: PciFunction) -> Reading:
    """Return the number of retimers in the link: 0, 1 or 2."""
    one, two = (function.flag(EXPRESS, "LnkSta2", name) for name in ("Retimer", "2Retimers"))
    return (2 if two else int(one)) if isinstance(one, bool) and isinstance(two, bool) else one


def lane_errors(function: PciFunction) -> Reading:
    """Return the numbers of the lanes on which this end of the link detected an error."""
    return function.field(SECONDARY, "LaneErrStat", "^(.{1,200})$", _lanes)


def sleeps(function: PciFunction) -> Reading:
    """Return the sleep states that are enabled at this end of the link, as one of the texts in `ASPM`."""
    return function.field(EXPRESS, "LnkCtl", _ENABLED, _aspm)


def could_sleep(function: PciFunction) -> Reading:
    """Return the sleep states that this end of the link supports, as one of the texts in `ASPM`."""
    return function.field(EXPRESS, "LnkCap", _SUPPORTED, _aspm)


def substates(function: PciFunction) -> Reading:
    """Return the names of the enabled L1 substates, such as ASPM_L1.1 and PCI-PM_L1.2."""
    raised = function.raised(L1_SUBSTATES, "L1SubCtl1")
    return tuple(n for n in raised if re.fullmatch(r"\S+_L1\.\d", n)) if isinstance(raised, tuple) else raised


def _trained(function: PciFunction, pattern: str) -> Reading:
    """Compare the link's width or speed with the maximum of this end; lspci's own words for this differ by version."""
    now, most = (function.field(EXPRESS, register, pattern, float) for register in ("LnkSta", "LnkCap"))
    if not isinstance(now, float) or not isinstance(most, float):
        return now if not isinstance(now, float) else most
    if not function.field(EXPRESS, "LnkSta", _WIDTH, int):
        return Absent("no link")
    return "ok" if now == most else "downgraded" if now < most else "overdriven"


def _lanes(content: str) -> tuple[str, ...]:
    """Return the lane numbers in `LaneErr at lane: 0 1 2`; empty if the text is `0`, that is, without an error."""
    match = re.fullmatch(r"0|LaneErr at lane:((?: [0-9]{1,2}){1,32})", content)
    if match is None:
        raise Unreadable(f"not lanes: {clean(content, 80)!r}")
    return tuple((match[1] or "").split())


def _aspm(words: str) -> str:
    """Convert lspci's text (`Disabled`, `not supported`, `L0s L1`, `L1`) to one of the texts in ASPM."""
    text = "none" if words in {"Disabled", "not supported"} else words
    if text not in ASPM:
        raise Unreadable(f"not a power management state: {words!r}")
    return text
