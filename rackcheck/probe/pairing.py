"""GPUs and NICs held against each other on the PCI bus: which is nearest to which, and the rails that follow.

Each is known by its name, and by its PCI address as far as that is known. What follows from an address that is not
known, or absent, is what that is.
"""

from collections.abc import Mapping

from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.probe.join import settled
from rackcheck.probe.pcie_near import PcieLocations, nearest, nearness


def nearest_named(
    address: Reading, others: Mapping[str, Reading], hidden: Unknown | None, places: PcieLocations
) -> Reading:
    """Name those of the others that are nearest to an address; `hidden` says why there may be more others.

    One whose place is not known might be the nearest; one that has none is not.
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
    """Say how far those are that `nearest_named` found, in the words of `Near`; absent where it found none."""
    if not isinstance(found, tuple):
        return found
    if not found:
        return Absent("there are none")
    near = nearness(str(address), str(others[found[0]]), places)
    return near if isinstance(near, Unknown) else near.value


def rail(nic: str, gpus: Reading, nics: Mapping[str, Reading]) -> Reading:
    """Give the number of the one GPU that is nearest to a NIC, if that NIC is the GPU's one nearest; else absent.

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
