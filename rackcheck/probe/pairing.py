"""GPUs and NICs compared by their places on the PCI bus: which are nearest to each other, and the resulting rails.

Each has a name and a PCI address, which may be unknown or absent. A fact derived from an unknown or absent address is
unknown or absent as well.
"""

from collections.abc import Mapping

from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.probe.join import settled
from rackcheck.probe.pcie_near import PcieLocations, nearest, nearness


def nearest_named(
    address: Reading, others: Mapping[str, Reading], hidden: Unknown | None, places: PcieLocations
) -> Reading:
    """Return the names of the others nearest to an address; `hidden` is the reason why there may be more others.

    One whose place is unknown might be the nearest; one without a place is not.
    """
    if not isinstance(address, str):
        return address
    trouble = hidden or settled(others.values())
    if trouble is not None:
        return trouble
    by_place: dict[str, list[str]] = {}
    for name, place in others.items():
        if isinstance(place, str):
            by_place.setdefault(place, []).append(name)
    found = nearest(address, by_place, places)
    return found if isinstance(found, Unknown) else tuple(name for place in found for name in by_place[place])


def distance(address: Reading, found: Reading, others: Mapping[str, Reading], places: PcieLocations) -> Reading:
    """Return the distance of those that `nearest_named` found, in the words of `Near`; absent if it found none."""
    if not isinstance(found, tuple):
        return found
    if not found:
        return Absent("there are none")
    near = nearness(str(address), str(others[found[0]]), places)
    return near if isinstance(near, Unknown) else near.value


def rail(nic: str, gpus: Reading, nics: Mapping[str, Reading]) -> Reading:
    """Return the number of the one GPU nearest to a NIC, if that NIC is the GPU's only nearest one; else absent.

    `gpus` are the names of the NIC's nearest GPUs, `nics` those of each GPU's nearest NICs.
    """
    if not isinstance(gpus, tuple):
        return gpus
    if len(gpus) != 1:
        return Absent("no one GPU is nearest")
    mine = nics.get(gpus[0], Absent("no such GPU"))
    if not isinstance(mine, tuple):
        return mine
    return int(gpus[0]) if mine == (nic,) and gpus[0].isdecimal() else Absent("not that GPU's one nearest NIC")
