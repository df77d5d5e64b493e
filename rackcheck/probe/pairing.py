"""Compares GPUs and NICs by their positions on the PCI bus: which are nearest to each other, and the resulting rails.

Each device has a name and a PCI address, which may be unknown or absent. A fact derived from an unknown or absent
address is unknown or absent as well.
"""

from collections.abc import Mapping

from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.probe.join import settled
from rackcheck.probe.pcie_near import Near, PcieLocations, nearest, nearness


def nearest_named(
    address: Reading, others: Mapping[str, Reading], hidden: Unknown | None, places: PcieLocations
) -> Reading:
    """Return the names of the devices nearest to an address.

    The result is unknown if the address of any device is unknown, or if devices may be missing; `hidden` is the reason
    why devices may be missing, or None. A device whose address is absent is ignored.
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
    """Return the distance to the devices found by `nearest_named`, in the words of `Near`; absent if there are none."""
    if not isinstance(found, tuple):
        return found
    if not found:
        return Absent("no device to measure the distance to")
    near = nearness(str(address), str(others[found[0]]), places)
    return near if isinstance(near, Unknown) else near.value


ROLES = ("compute", "network", "virtual")
"""The roles of an RDMA device, in the words that `role` returns."""

NEXT_TO = frozenset({Near.PIX.value, Near.PXB.value})
"""Distances at which traffic between two devices passes only PCIe switches, and no CPU."""


def role(virtual: Reading, near: Reading) -> Reading:
    """Return an RDMA device's role: `compute` next to a GPU, `network` elsewhere, `virtual` for a virtual function.

    `virtual` is whether the device is a virtual function, `near` the distance to the nearest GPU.
    """
    if virtual is not False:
        return "virtual" if virtual is True else virtual
    if isinstance(near, Absent):
        return "network"
    return near if isinstance(near, Unknown) else "compute" if near in NEXT_TO else "network"


def rail(nic: str, gpus: Reading, nics: Mapping[str, Reading], index: Mapping[str, Reading]) -> Reading:
    """Return the index of the only GPU nearest to a NIC, if this NIC is that GPU's only nearest NIC; else absent.

    `gpus` are the names of the NIC's nearest GPUs; `nics` maps each GPU to the names of its nearest NICs, and `index`
    maps each GPU to its index.
    """
    if not isinstance(gpus, tuple):
        return gpus
    if len(gpus) != 1:
        return Absent("no GPU is nearer than all others")
    mine = nics.get(gpus[0], Absent("no such GPU"))
    if not isinstance(mine, tuple):
        return mine
    if mine != (nic,):
        return Absent("it is not the only nearest NIC of its nearest GPU")
    return index.get(gpus[0], Absent("no such GPU"))
