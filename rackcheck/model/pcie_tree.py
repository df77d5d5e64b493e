"""The tree of PCI functions: the links on a function's path to the root, and the speed and width that they should have.

Pure. Each input is a table that maps the address of every PCI function to the value of one fact, such as
`pcie/*.upstream` or `pcie/*.link.width`. All results obey the law of derived facts: a result is unknown unless it is
the same for every possible value of the unknown inputs, including absence.

A link has two ends, the port above and the function below, and both report the trained speed and width. On the path
from an endpoint to its root port, links and switch interiors alternate. A link leads from the root port down to a
switch's upstream port; the step from there to the switch's downstream ports is inside the switch and is not a link; the
next links lead down from the downstream ports.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rackcheck.model.fact import Absent, Reading, Reason, Unknown

PcieTable = Mapping[str, Reading]
"""One fact of all PCI functions, by PCI address."""

CODING = {2.5: 8 / 10, 5.0: 8 / 10, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130, 64.0: 1.0}
"""Share of a lane's transfer rate that carries data, by GT/s, as in Linux (PCIE_SPEED2MBS_ENC in drivers/pci/pci.h)."""

SLOWEST = min(CODING)
"""The lowest speed of a link in GT/s, that of PCIe 1.0."""

UNTOLD = Unknown(Reason.NOT_COLLECTED, "not reported for this function")
DEEPEST = 64
"""Maximum number of ports above a function; more ports would be a loop, or hostile input."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One link, by two PCI addresses: the function below the link and the port above it."""

    below: str
    above: str

    def __str__(self) -> str:
        return f"{self.above} > {self.below}"


@dataclass(frozen=True, slots=True)
class Links:
    """The speeds (in GT/s, floats) and widths (in lanes, integers) that both ends of each link report.

    `speed` is the current speed, which only the function `slowed` needs.
    """

    max_speed: PcieTable
    max_width: PcieTable
    width: PcieTable
    speed: PcieTable = field(default_factory=dict)


def ports(address: str, upstream: PcieTable) -> tuple[str, ...] | Unknown:
    """Return the ports above a function, the nearest first; unknown if any step of the path is unknown.

    For a function on a root bus, the returned tuple is empty.
    """
    found, trouble = climbed(address, upstream)
    return trouble or found


def hops(address: str, upstream: PcieTable) -> tuple[Hop, ...] | Unknown:
    """Return the links from a function up to its root port, the nearest first."""
    above = ports(address, upstream)
    if isinstance(above, Unknown):
        return above
    way = (address, *above)
    # Counted from the top, every other step is a link; counted from the bottom, it depends on the number of steps.
    return tuple(Hop(way[n], way[n + 1]) for n in range(len(above)) if (len(above) - n) % 2)


def switch(address: str, upstream: PcieTable) -> Reading:
    """Return the upstream port of the nearest switch above a function.

    For a downstream port, this is the upstream port of its own switch.
    """
    above = ports(address, upstream)
    if isinstance(above, Unknown):
        return above
    # Above a downstream port is its switch's upstream port; above other functions is a downstream port or the root
    # port.
    step = 1 if len(above) % 2 else 0
    return above[step] if len(above) > step else Absent("no switch is above the function")


def least(one: Reading, other: Reading) -> Reading:
    """Return the smaller of two numbers; absent if one of them is absent, since a link needs both ends."""
    for kind in (Absent, Unknown):
        found = next((reading for reading in (one, other) if isinstance(reading, kind)), None)
        if found is not None:
            return found
    if not _number(one) or not _number(other):
        return Unknown(Reason.UNPARSABLE, f"not two numbers: {one!r}, {other!r}")
    return min(one, other)  # type: ignore[type-var]  # both are numbers here


def expected_width(hop: Hop, links: Links) -> Reading:
    """Return the highest number of lanes that both ends of a link support."""
    return least(links.max_width.get(hop.below, UNTOLD), links.max_width.get(hop.above, UNTOLD))


def expected_speed(hop: Hop, links: Links) -> Reading:
    """Return the highest speed that both ends of a link support, in GT/s."""
    return least(links.max_speed.get(hop.below, UNTOLD), links.max_speed.get(hop.above, UNTOLD))


def trained_width(hop: Hop, links: Links) -> Reading:
    """Return the number of lanes that a link trained, as reported by the function below."""
    return links.width.get(hop.below, UNTOLD)


def bandwidth(speed: Reading, width: Reading) -> Reading:
    """Return the bandwidth of a link in one direction in Gb/s: GT/s times lanes, minus the encoding overhead."""
    for kind in (Absent, Unknown):
        found = next((reading for reading in (speed, width) if isinstance(reading, kind)), None)
        if found is not None:
            return found
    if (
        not isinstance(speed, float | int)
        or speed not in CODING
        or isinstance(width, bool)
        or not isinstance(width, int)
    ):
        return Unknown(Reason.UNPARSABLE, f"not a PCI Express link: {speed!r} GT/s, {width!r} lanes")
    return speed * width * CODING[float(speed)]


def carries(hop: Hop, links: Links) -> Reading:
    """Return the bandwidth of a link in Gb/s: trained lanes times supported speed, since idle links slow down."""
    return bandwidth(expected_speed(hop, links), trained_width(hop, links))


def lanes_kept(address: str, upstream: PcieTable, links: Links) -> Reading:
    """Return "all", or "1 of 2" if a function's own link trained fewer lanes than both ends support."""
    return _kept(links.width, links.max_width, address, upstream)


def speed_kept(address: str, upstream: PcieTable, links: Links) -> Reading:
    """Return "full", or "16 of 32 GT/s" if a function's own link runs slower than both ends support."""
    found = _kept(links.speed, links.max_speed, address, upstream)
    return found if not isinstance(found, str) else "full" if found == ALL else f"{found} GT/s"


ALL = "all"


def _kept(now: PcieTable, most: PcieTable, address: str, upstream: PcieTable) -> Reading:
    """Return `all`, or `8 of 16` if a function's own link has a lower value than both ends support.

    For a function on a root bus, only the maximum of the function itself counts.
    """
    above, own = upstream.get(address, UNTOLD), now.get(address, UNTOLD)
    ends = [most.get(address, UNTOLD)] if isinstance(above, Absent) else [most.get(address, UNTOLD), above]
    if len(ends) == 2 and isinstance(above, str):
        ends[1] = most.get(above, UNTOLD)
    for kind in (Unknown, Absent):
        found = next((reading for reading in (own, *ends) if isinstance(reading, kind)), None)
        if found is not None:
            return found
    expected = ends[0] if len(ends) == 1 else least(*ends)
    if not _number(own) or not _number(expected):
        return Unknown(Reason.UNPARSABLE, f"not a link's speed or width: {own!r}, {expected!r}")
    return ALL if own >= expected else f"{own:g} of {expected:g}"  # type: ignore[operator]  # numbers


def narrowed(address: str, upstream: PcieTable, links: Links) -> Reading:
    """Return the links on a function's path that trained fewer lanes than both ends support; absent on a root bus."""
    way = hops(address, upstream)
    if not isinstance(way, tuple) or not way:
        return Absent("on a root bus") if isinstance(way, tuple) else way
    return _below((hop, trained_width(hop, links), expected_width(hop, links), 1) for hop in way)


def slowed(address: str, upstream: PcieTable, links: Links) -> tuple[Reading, Reading]:
    """Return the slow links on a function's path, with and without the link directly above the function.

    A link is slow if its current speed is below the highest speed that both ends support. The second result leaves out
    the link directly above the function, since an idle GPU lowers the speed of this link, and of no other link. An idle
    AMD GPU with an internal switch is an exception: it lowers the speed of the link above that switch (nokyan/resources
    issue 512). For a function on a root bus, both results are absent.
    """
    way = hops(address, upstream)
    if not isinstance(way, tuple) or not way:
        none = Absent("on a root bus") if isinstance(way, tuple) else way
        return none, none
    rows = [(hop, links.speed.get(hop.below, UNTOLD), expected_speed(hop, links), SLOWEST) for hop in way]
    return _below(rows), _below(row for row in rows if row[0].below != address)


def bottleneck(address: str, upstream: PcieTable, links: Links) -> tuple[Reading, Reading]:
    """Return the link with the least bandwidth on a function's path, and this bandwidth in Gb/s.

    If several links have the least bandwidth, the link nearest to the function is returned. For a function on a root
    bus, both the link and the bandwidth are absent.
    """
    way = hops(address, upstream)
    if isinstance(way, Unknown):
        return way, way
    least_of: tuple[float, Hop] | None = None
    for hop in way:
        reading = carries(hop, links)
        if isinstance(reading, Unknown):
            return reading, reading
        if isinstance(reading, float) and (least_of is None or reading < least_of[0]):
            least_of = reading, hop
    if least_of is None:
        return Absent("no link above"), Absent("no link above")
    return str(least_of[1]), least_of[0]


def climbed(address: str, upstream: PcieTable) -> tuple[tuple[str, ...], Unknown | None]:
    """Return the known ports above a function, and why more ports may be above it; None if all ports are known."""
    found: dict[str, None] = {}
    at = address
    while True:
        step = upstream.get(at, UNTOLD)
        if isinstance(step, Absent):
            return tuple(found), None
        if isinstance(step, Unknown):
            return tuple(found), step
        if not isinstance(step, str) or step == address or step in found or len(found) >= DEEPEST:
            return tuple(found), Unknown(Reason.UNPARSABLE, f"the ports above {address} do not lead to a root bus")
        found[step] = None
        at = step


def _below(rows: Iterable[tuple[Hop, Reading, Reading, float]]) -> Reading:
    """Return the links whose current speed or width is below the highest that both ends support."""
    found = []
    for hop, now, most, lowest in rows:
        if isinstance(now, Absent) or isinstance(most, Absent):
            continue  # not a link, whatever the other end reports: the bus below a bridge to conventional PCI
        if most == lowest:
            continue  # a link with the lowest possible number cannot be below it
        odd = next((reading for reading in (now, most) if not _number(reading)), None)
        if odd is not None:
            return (
                odd if isinstance(odd, Unknown) else Unknown(Reason.UNPARSABLE, f"not a link's speed or width: {odd!r}")
            )
        if now < most:  # type: ignore[operator]  # numbers
            found.append(str(hop))
    return tuple(found)


def _number(reading: Reading) -> bool:
    return isinstance(reading, int | float) and not isinstance(reading, bool)
