"""How well each PCI Express link trained: equalization, retimers on the way, lanes with errors."""

import re

from rackcheck import Absent, Class, Facts, Unreadable, flag, integer, listing, probe, spell_key
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import lspci
from rackcheck.core.read.lspci import EXPRESS, SECONDARY, Function
from rackcheck_probes.pcie_control import LSPCI


def lanes(content: str) -> tuple[str, ...]:
    """Read `0`, or `LaneErr at lane: 0 1 2`."""
    match = re.fullmatch(r"0|LaneErr at lane:((?: [0-9]{1,2}){1,32})", content)
    if match is None:
        raise Unreadable(f"no lanes: {clean(content, 80)!r}")
    return tuple((match[1] or "").split())


def retimers(function: Function) -> Reading:
    """Count the retimers on the way, which are one or two or none."""
    one, two = (function.flag(EXPRESS, "LnkSta2", name) for name in ("Retimer", "2Retimers"))
    return (2 if two else int(one)) if isinstance(one, bool) and isinstance(two, bool) else one


def active(function: Function) -> Reading:
    """Tell whether the link is up; only an end that reports it knows."""
    reports = function.flag(EXPRESS, "LnkCap", "LLActRep")
    if reports is False:
        return Absent("this end does not report it")
    return function.flag(EXPRESS, "LnkSta", "DLActive") if reports is True else reports


@probe(
    LSPCI,
    gives={
        "pcie/*.link.active": flag("Whether the link is up, where this end reports it.", Class.MEASUREMENT),
        "pcie/*.link.equalized": flag("Whether the last equalization of the link came to its end.", Class.MEASUREMENT),
        "pcie/*.link.retimers": integer("Retimers that the link found between its ends."),
        "pcie/*.link.lane_errors": listing("Lanes on which this end saw an error.", Class.COUNTER),
    },
)
def pcie_training(answer: str) -> Facts:
    """Read the training registers of each function; absent where it has no link."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}.link"
        yield f"{item}.active", active(function)
        yield f"{item}.equalized", function.flag(EXPRESS, "LnkSta2", "EqualizationComplete")
        yield f"{item}.retimers", retimers(function)
        yield f"{item}.lane_errors", function.field(SECONDARY, "LaneErrStat", "^(.{1,200})$", lanes)
