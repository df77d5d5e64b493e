"""Identities that two nodes or two parts share, for example because one machine has two names in the inventory.

A part that both the host and the BMC of a node report counts as one part. The search for shared identities uses only
facts that the run collects for other purposes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern

from rackcheck import Absent, Class, Facts, Inputs, Member, Reason, Scope, Unknown, gathering, join, listing
from rackcheck.model.duplicate_identities import (
    IdentityKind,
    NamedParts,
    Own,
    Twice,
    Weight,
    boards,
    repeated,
    within,
)
from rackcheck.model.fact import Reading
from rackcheck.model.identity import Spell, Spot, between, given, gives_none, guid, lacking, mac, serial, uuid
from rackcheck_probes.cross_plane.identity_host import BMC_SERIAL, BMC_UUID, SERIAL, UUID

BMC = "by its BMC"
"""Suffix that is added to a node's name if the node's BMC, not its host, reports the identity."""

INTERFACE = "nic.interface"
PERMANENT, MAC, ORIGIN = (f"{INTERFACE}/*.{name}" for name in ("mac_permanent", "mac", "mac_origin"))
PCI, VIRTUAL = "nic.interface/*.pci", "nic.interface/*.virtual"
BMC_MAC, MANAGER_MAC = "bmc.interface/*.mac", "bmc.manager/*.interface/*.mac"
GUID = "nic/*.guid"
GPU_SERIAL, GPU_UUID = ("gpu/*.serial", "bmc.gpu/*.serial"), ("gpu/*.uuid", "bmc.gpu/*.uuid")
AMD_SERIAL, AMD_UUID = "gpu.amd/*.serial", "gpu.amd/*.uuid"
NVSWITCH, PSU = "bmc.nvswitch/*.serial", "psu/*.serial"
NVME, TRANSPORT, DRIVE = "nvme/*.serial", "nvme/*.transport", "bmc.drive/*.serial"
DRIVE_PROTOCOL = "bmc.drive/*.protocol"
DIMM = {"dimm": "dimm/*.serial", "bmc.dimm": "bmc.dimm/*.serial"}

COLLECTIONS = (
    *(INTERFACE, "bmc.interface", "bmc.manager", "bmc.manager/*.interface", "nic", "gpu", "bmc.gpu", "gpu.amd"),
    *("bmc.nvswitch", "psu", "nvme", "bmc.drive", "dimm", "bmc.dimm"),
)
ALSO = (
    *(UUID, BMC_UUID, PERMANENT, MAC, ORIGIN, PCI, VIRTUAL, BMC_MAC, MANAGER_MAC, GUID, *GPU_SERIAL, *GPU_UUID),
    *(AMD_SERIAL, AMD_UUID, NVSWITCH, PSU, NVME, TRANSPORT, DRIVE, DRIVE_PROTOCOL, *DIMM.values()),
    *(f"{plane}/*.part_number" for plane in DIMM),
)
NOT_LISTED = ("no host in inventory", "no BMC in inventory")
"""Details of unknown facts of a node for which the inventory lists no host, or no BMC."""


Keep = Callable[[Inputs, Mapping[str, Reading]], Iterable[tuple[str, Reading]]]
"""A function that yields the fact path and identity of each part, without parts that do not identify the node."""

Judge = Callable[[NamedParts, Sequence[Unknown], Unknown | None], Twice]


@dataclass(frozen=True, slots=True)
class FleetIdentity:
    """One kind of identity: its names, the function that normalises it, and the facts that contain it.

    `single` maps the path of a fact of the whole node to a suffix for the node's name in messages: empty for the host,
    and `by its BMC` for the BMC. `parts` maps the path of a fact of a collection's items to the function that selects
    the items to compare.
    """

    word: str
    several: str
    spell: Spell
    single: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Keep] = field(default_factory=dict)
    weight: Weight = Weight.EACH
    inside: Callable[[Inputs], Twice] = lambda _: ()

    def of(self, inputs: Inputs) -> Own:
        """Summarize a node's identities of this kind: each identity once, even if both planes report it."""
        found = [(after, inputs.reading(path)) for path, after in self.single.items() if _collected(inputs, path)]
        hidden = None
        for pattern, keep in self.parts.items():
            if _collected(inputs, pattern):
                values, cut = inputs.every(pattern)
                hidden = hidden or cut
                found += [(_item(path), reading) for path, reading in keep(inputs, values)]
        mine = given(found, self.spell, hidden)
        spots = {
            message if key == message else key: Spot(intern(place), message)
            for key, (place, message) in mine.keys.items()
        }
        return Own(spots, mine.lost, self.inside(inputs))


def _judged(judge: Judge, values: Mapping[str, Reading], cut: Unknown | None, spell: Spell) -> Twice:
    spelt = {
        _item(path): (str(spell(reading)), reading) for path, reading in values.items() if isinstance(reading, str)
    }
    unsure = [lost for reading in values.values() if (lost := lacking(reading)) is not None]
    return judge({place: both for place, both in spelt.items() if both[0]}, unsure, lacking(cut) if cut else None)


def _collected(inputs: Inputs, path: str) -> bool:
    """Whether a fact of a node was collected; false if the inventory does not list the fact's plane."""
    silent = inputs.tree.silent.get(inputs.planes[path])
    if silent is not None and silent.reason is Reason.NOT_COLLECTED and silent.detail in NOT_LISTED:
        return False
    return inputs.collected(path)


def _item(path: str) -> str:
    return path.rpartition(".")[0]


def _name(path: str) -> str:
    """Return the key of the last item in a fact path: `eth0` in `nic.interface/eth0.mac`."""
    return _item(path).rpartition("/")[2]


def _outside(_: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Yield the addresses of all interfaces except those that connect a host to its own BMC."""
    return ((path, reading) for path, reading in values.items() if not between(_name(path)))


def _permanent(inputs: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Yield the addresses of PCI devices, not of virtual functions; unknown if a device may be a virtual function."""
    beside = [inputs.every(p)[0] if _collected(inputs, p) else {} for p in (PCI, VIRTUAL)]
    for path, reading in _outside(inputs, values):
        item = _item(path)
        place, virtual = (each.get(f"{item}.{leaf}") for each, leaf in zip(beside, ("pci", "virtual"), strict=True))
        if not isinstance(place, Absent) and virtual is not True:
            lost = next((each for each in (place, virtual) if isinstance(each, Unknown)), None)
            yield path, reading if lost is None or gives_none(reading) else lost


def _used(inputs: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Yield the addresses in use that the kernel marks as permanent, unless the permanent addresses were collected."""
    if _collected(inputs, PERMANENT):
        return
    origins = inputs.every(ORIGIN)[0]
    for path, reading in _permanent(inputs, values):
        origin = origins.get(f"{_item(path)}.mac_origin")
        if isinstance(origin, Unknown):
            yield path, origin
        elif origin == "permanent":
            yield path, reading


def _local(inputs: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Leave out drives that are connected over a network, because several nodes may use the same drive."""
    return _where(inputs, values, TRANSPORT, lambda transport: transport == "pcie")


def _fitted(inputs: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Leave out virtual drives of a BMC, and drives on buses that may reach an enclosure shared by several nodes."""
    return _where(inputs, values, DRIVE_PROTOCOL, lambda protocol: protocol in {"NVMe", "PCIe", "SATA"})


def _where(
    inputs: Inputs, values: Mapping[str, Reading], pattern: str, holds: Callable[[Reading], bool]
) -> Iterable[tuple[str, Reading]]:
    beside = inputs.every(pattern)[0]
    leaf = pattern.rpartition(".")[2]
    for path, reading in values.items():
        other = beside.get(f"{_item(path)}.{leaf}")
        lost = lacking(other) if other is not None else None
        if lost is not None and not gives_none(reading):
            yield path, lost
        elif other is not None and holds(other):
            yield path, reading


def _module(inputs: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Yield each memory module's part and serial number: vendors reuse serial numbers for other part numbers."""
    numbers = {each: inputs.every(f"{each}/*.part_number")[0] for each in {path.partition("/")[0] for path in values}}
    for path, reading in values.items():
        part = numbers[path.partition("/")[0]][f"{_item(path)}.part_number"]
        lost = lacking(part)
        if isinstance(reading, str) and not serial(reading):
            continue
        if lost is not None and not gives_none(reading):
            yield path, lost
        else:
            yield path, f"{part} {reading}" if isinstance(reading, str) and isinstance(part, str) else reading


def _each(_: Inputs, values: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    return values.items()


def _inside(patterns: Iterable[str], spell: Spell, judge: Judge) -> Callable[[Inputs], Twice]:
    """Find identities that several parts of one node share; each plane is checked separately."""

    def of(inputs: Inputs) -> Twice:
        answers = [_judged(judge, *inputs.every(p), spell) for p in patterns if _collected(inputs, p)]
        found = tuple(dict.fromkeys(each for answer in answers if isinstance(answer, tuple) for each in answer))
        lost = next((answer for answer in answers if isinstance(answer, Unknown)), None)
        return found if found or lost is None else lost

    return of


def _seen(places: NamedParts, unsure: Sequence[Unknown], cut: Unknown | None) -> Twice:
    """Find identities that parts share among those that were read: some BMCs return no serial number of a supply."""
    del unsure, cut
    return within(places, (), None)


def _devices(inputs: Inputs) -> Twice:
    """Find hardware addresses that two PCI devices of a node share; none if a needed fact was not collected."""
    if not (_collected(inputs, PERMANENT) and _collected(inputs, PCI)):
        return ()
    values, cut = inputs.every(PERMANENT)
    places = inputs.every(PCI)[0]
    devices: dict[tuple[object, object], tuple[str, Reading]] = {}
    for path, reading in _permanent(inputs, values):
        device = places.get(f"{_item(path)}.pci")
        spelt = mac(reading) if isinstance(reading, str) else reading
        devices.setdefault((str(device).rpartition(".")[0], spelt), (path, reading))
    return _judged(within, dict(devices.values()), cut, mac)


SORTS = (
    FleetIdentity("serial", "serials", serial, {SERIAL: "", BMC_SERIAL: BMC}),
    FleetIdentity("UUID", "UUIDs", uuid, {UUID: "", BMC_UUID: BMC}),
    FleetIdentity("BMC", "addresses of BMCs", mac, parts={MANAGER_MAC: _outside}),
    FleetIdentity("MAC", "MACs", mac, parts={PERMANENT: _permanent, MAC: _used, BMC_MAC: _outside}, inside=_devices),
    FleetIdentity("GUID", "GUIDs", guid, parts={GUID: _each}, inside=_inside((GUID,), guid, _seen)),
    FleetIdentity(
        "GPU serial",
        "GPU serials",
        serial,
        parts=dict.fromkeys((*GPU_SERIAL, AMD_SERIAL), _each),
        inside=_inside(GPU_SERIAL, serial, boards),
    ),
    FleetIdentity(
        "GPU UUID",
        "GPU UUIDs",
        uuid,
        parts=dict.fromkeys((*GPU_UUID, AMD_UUID), _each),
        inside=_inside(GPU_UUID, uuid, within),
    ),
    FleetIdentity("NVSwitch serial", "NVSwitch serials", serial, parts={NVSWITCH: _each}),
    FleetIdentity("drive serial", "drive serials", serial, parts={NVME: _local, DRIVE: _fitted}),
    FleetIdentity(
        "supply serial",
        "supply serials",
        serial,
        parts={PSU: _each},
        weight=Weight.WHOLE,
        inside=_inside((PSU,), serial, _seen),
    ),
    FleetIdentity(
        "memory module", "memory modules", serial, parts=dict.fromkeys(DIMM.values(), _module), weight=Weight.SEVERAL
    ),
)
"""Kinds of identities, the most important first."""


def distilled(inputs: Inputs) -> tuple[Own, ...]:
    """Summarize a node's identities of each kind, so that a run keeps a few hundred texts per node, not all facts."""
    return tuple(sort.of(inputs) for sort in SORTS)


@gathering(
    Scope.FLEET,
    beside=(SERIAL, BMC_SERIAL),
    also=(*COLLECTIONS, *ALSO),
    gives={
        "fleet.identity.repeated": listing(
            "Serial numbers, UUIDs, addresses and parts that belong to two nodes, or to two parts of a node, "
            "with their owners."
        ),
    },
    distil=distilled,
)
def identity_fleet(members: Sequence[Member]) -> Facts:
    """Find identities that two nodes (of any role) or two parts share, among the facts that this run collected."""
    owned = [member.own for member in members]
    assert all(isinstance(own, tuple) for own in owned)
    known = [own for own in owned if isinstance(own, tuple)]
    yield "fleet.identity.repeated", _repeated(known, [member.seat.name for member in members])


@join(
    needs=(),
    also=(SERIAL, BMC_SERIAL, *COLLECTIONS, *ALSO),
    gives={
        "node.identity.repeated": listing(
            "Identities that two parts of the node share, with the parts.", Class.MEASUREMENT
        )
    },
)
def identity_parts(inputs: Inputs) -> Facts:
    """Find identities that two parts of one node share."""
    yield "node.identity.repeated", _repeated([tuple(Own(twice=sort.inside(inputs)) for sort in SORTS)], ["this node"])


def _repeated(owned: Sequence[tuple[Own, ...]], names: Sequence[str]) -> tuple[str, ...] | Unknown:
    kinds = [
        IdentityKind(sort.word, sort.several, [own[number] for own in owned], sort.weight)
        for number, sort in enumerate(SORTS)
    ]
    return repeated(kinds, names)
