"""How near PCI functions are to each other in the tree of ports, host bridges and NUMA nodes.

All results obey the law of derived facts: a result is unknown unless every possible value of the unknown inputs gives
the same result.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.pcie_tree import UNTOLD, PcieTable, climbed


class Near(StrEnum):
    """How near two functions are, from near to far, in the words of `nvidia-smi topo`."""

    PIX = "PIX"
    PXB = "PXB"
    PHB = "PHB"
    NODE = "NODE"
    SYS = "SYS"


@dataclass(frozen=True, slots=True)
class PcieLocations:
    """The position of every function: the port above it, its host bridge, its NUMA node."""

    upstream: PcieTable
    host_bridge: PcieTable
    numa: PcieTable
    _ways: dict[str, "_Way"] = field(init=False, repr=False, compare=False, default_factory=dict)

    def way(self, address: str) -> "_Way":
        """Return the path up from a function; it is cached, since every function is compared with many others."""
        known = self._ways.get(address)
        if known is None:
            above, trouble = climbed(address, self.upstream)
            known = self._ways[address] = _Way({port: n for n, port in enumerate((address, *above))}, trouble)
        return known


@dataclass(frozen=True, slots=True)
class _Way:
    """The path up from a function: the number of steps to each port above it, with 0 for the function itself.

    `trouble` is the reason if the path is not complete.
    """

    steps: Mapping[str, int]
    trouble: Unknown | None


def nearness(one: str, other: str, places: PcieLocations) -> Near | Unknown:
    """Return how near two PCI functions are to each other.

    PIX: at most one switch between the two functions; PXB: several switches; PHB: the same host bridge; NODE: the same
    NUMA node; SYS: different NUMA nodes.
    """
    span = _span(one, other, places)
    return span.why or span.best


def between(one: str, other: str, places: PcieLocations) -> tuple[str, ...] | Unknown:
    """Return the ports between two functions and the nearest port above both; none if no port is above both.

    The result is unknown if the path up from either function is not complete.
    """
    mine, theirs = places.way(one), places.way(other)
    for port, steps in mine.steps.items():
        if port in theirs.steps:
            ports = [*_below(mine, steps), *_below(theirs, theirs.steps[port])]
            return tuple(dict.fromkeys(ports))
    return mine.trouble or theirs.trouble or ()


def _below(way: _Way, steps: int) -> list[str]:
    return [port for port, step in way.steps.items() if 0 < step < steps]


def nearest(one: str, others: Iterable[str], places: PcieLocations) -> tuple[str, ...] | Unknown:
    """Return the addresses in `others` that are nearest to `one`; unknown if it is uncertain which are nearest."""
    spans = {other: _span(one, other, places) for other in others}
    if not spans:
        return ()
    least_far = min(_ORDER[span.worst] for span in spans.values())
    near = {other: span for other, span in spans.items() if _ORDER[span.best] <= least_far}
    why = next((span.why for span in near.values() if span.why is not None), None)
    return why or tuple(near)


_ORDER = {near: number for number, near in enumerate(Near)}


@dataclass(frozen=True, slots=True)
class _Span:
    """How near two functions are at best and at worst; `why` is the reason if `best` and `worst` differ, else None."""

    best: Near
    worst: Near
    why: Unknown | None = None


def _span(one: str, other: str, places: PcieLocations) -> _Span:
    met = _meeting(places.way(one), places.way(other))
    if isinstance(met, Near):
        return _Span(met, met)
    nodes = _same(one, other, places.numa, "NUMA node")
    bridges = _same(one, other, places.host_bridge, "host bridge")
    far = Near.PHB if bridges is True else Near.NODE if nodes is True else Near.SYS
    if met is not None:
        return _Span(Near.PIX, far, met)
    if bridges is True:
        return _Span(Near.PHB, Near.PHB)
    if isinstance(bridges, Unknown):
        return _Span(Near.PHB, far, bridges)
    if isinstance(nodes, Unknown):
        return _Span(Near.NODE, Near.SYS, nodes)
    return _Span(far, far)


def _meeting(mine: _Way, theirs: _Way) -> Near | Unknown | None:
    """Return how near two functions are through a port above both; None if no port is above both.

    The result is unknown if no known port is above both functions, and one of the two paths is not complete.
    """
    for port, steps in mine.steps.items():
        if port in theirs.steps:
            # With one switch between them, each side has one downstream port, below the shared upstream port.
            return Near.PIX if max(steps, theirs.steps[port]) <= 2 else Near.PXB
    # A path whose upper part is unknown could still join the other path.
    return mine.trouble or theirs.trouble


def _same(one: str, other: str, table: PcieTable, what: str) -> bool | Unknown:
    """Return whether two functions have the same value, such as the NUMA node; unknown if a value is missing."""
    mine, theirs = table.get(one, UNTOLD), table.get(other, UNTOLD)
    for reading in (mine, theirs):
        if isinstance(reading, Unknown):
            return reading
        if isinstance(reading, Absent):
            return Unknown(Reason.NOT_COLLECTED, f"the firmware reports no {what}")
    return mine == theirs
