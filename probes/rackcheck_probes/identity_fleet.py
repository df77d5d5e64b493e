"""Identities that two nodes of a run, or two parts of a node, both give: a machine under two names, a copied number.

What host and BMC give of one part of one node is one part. What a run collected for other reasons is read, and no more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rackcheck import Absent, Facts, Member, Reason, Scope, Unknown, gathering, listing
from rackcheck.core.fact import Reading
from rackcheck.core.identity import Given, Spell, between, given, gives_none, guid, lacking, mac, serial, uuid
from rackcheck.core.repeated import Kind, Parts, Weight, boards, repeated, within
from rackcheck_probes.identity_host import BMC_SERIAL, BMC_UUID, SERIAL, UUID

BMC = "by its BMC"
"""Stands behind the name of a node whose BMC gives an identity."""

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
"""Why a plane is silent of which the inventory knows none: nothing is there that could come twice."""


@gathering(
    Scope.FLEET,
    beside=(SERIAL, BMC_SERIAL),
    also=(*COLLECTIONS, *ALSO),
    gives={
        "fleet.identity.repeated": listing(
            "Serial numbers, UUIDs, addresses and parts that two nodes, or two parts of one, both give, each with them."
        ),
    },
)
def identity_fleet(members: Sequence[Member]) -> Facts:
    """Find identities that two nodes or two parts give; of every role, and of what this run collected."""
    yield "fleet.identity.repeated", repeated(tuple(_kinds(_Fleet(members))), [m.seat.name for m in members])


Keep = Callable[[Member, Mapping[str, Reading]], Iterable[tuple[str, Reading]]]
"""Which parts have an identity of the node's own, with it, by where they are."""

Judge = Callable[[Parts, Sequence[Unknown], Unknown | None], tuple[str, ...] | Unknown]


class _Fleet:
    """What members give of one kind, by their number."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members

    def one(self, paths: Mapping[str, str], spell: Spell) -> Callable[[int], Given]:
        """What a node gives at single places; of each, what stands behind the node's name."""

        def of(number: int) -> Given:
            member = self.members[number]
            read = [(after, member.reading(path)) for path, after in paths.items() if _asked(member, path)]
            return given(read, spell)

        return of

    def parts(
        self, patterns: Iterable[str], spell: Spell, *, kept: Mapping[str, Keep] | None = None
    ) -> Callable[[int], Given]:
        """What a node gives of its parts; `kept` says of a pattern which of them have an identity of the node's own."""
        patterns = tuple(patterns)

        def of(number: int) -> Given:
            member, found, hidden = self.members[number], list[tuple[str, Reading]](), None
            for pattern in patterns:
                if _asked(member, pattern):
                    told, cut = member.facts.every(pattern)
                    keep = (kept or {}).get(pattern)
                    hidden = hidden or cut
                    found += [(_item(p), r) for p, r in (told.items() if keep is None else keep(member, told))]
            return given(found, spell, hidden)

        return of

    def inside(self, patterns: Iterable[str], spell: Spell, judge: Judge) -> Callable[[int], tuple[str, ...] | Unknown]:
        """What several parts of one node give, of one plane after the other."""
        patterns = tuple(patterns)

        def of(number: int) -> tuple[str, ...] | Unknown:
            member = self.members[number]
            answers = [_judged(judge, *member.facts.every(p), spell) for p in patterns if _asked(member, p)]
            found = tuple(dict.fromkeys(each for answer in answers if isinstance(answer, tuple) for each in answer))
            lost = next((answer for answer in answers if isinstance(answer, Unknown)), None)
            return found if found or lost is None else lost

        return of

    def twice(self, number: int) -> tuple[str, ...] | Unknown:
        """Hardware addresses that two PCI devices of a node have, where both facts were collected."""
        member = self.members[number]
        if not (_asked(member, PERMANENT) and _asked(member, PCI)):
            return ()
        told, cut = member.facts.every(PERMANENT)
        places = member.facts.every(PCI)[0]
        devices: dict[tuple[object, object], tuple[str, Reading]] = {}
        for path, reading in _permanent(member, told):
            device = places.get(f"{_item(path)}.pci")
            spelt = mac(reading) if isinstance(reading, str) else reading
            devices.setdefault((str(device).rpartition(".")[0], spelt), (path, reading))
        return _judged(within, dict(devices.values()), cut, mac)


def _judged(judge: Judge, told: Mapping[str, Reading], cut: Unknown | None, spell: Spell) -> tuple[str, ...] | Unknown:
    spelt = {_item(path): (str(spell(reading)), reading) for path, reading in told.items() if isinstance(reading, str)}
    unsure = [lost for reading in told.values() if (lost := lacking(reading)) is not None]
    return judge({place: both for place, both in spelt.items() if both[0]}, unsure, lacking(cut) if cut else None)


def _asked(member: Member, path: str) -> bool:
    """Whether a fact of a node was collected; a plane that the inventory does not know was not."""
    silent = member.facts.tree.silent.get(member.facts.planes[path])
    if silent is not None and silent.reason is Reason.NOT_COLLECTED and silent.detail in NOT_LISTED:
        return False
    return member.facts.collected(path)


def _item(path: str) -> str:
    return path.rpartition(".")[0]


def _name(path: str) -> str:
    """The key of the last item of a path."""
    return _item(path).rpartition("/")[2]


def _outside(_: Member, told: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Leave out the network between a host and its BMC."""
    return ((path, reading) for path, reading in told.items() if not between(_name(path)))


def _permanent(member: Member, told: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Keep the addresses of devices on PCI that are no virtual functions; where that is not known, nor are they."""
    beside = [member.facts.every(p)[0] if _asked(member, p) else {} for p in (PCI, VIRTUAL)]
    for path, reading in _outside(member, told):
        item = _item(path)
        place, virtual = (each.get(f"{item}.{leaf}") for each, leaf in zip(beside, ("pci", "virtual"), strict=True))
        if not isinstance(place, Absent) and virtual is not True:
            lost = next((each for each in (place, virtual) if isinstance(each, Unknown)), None)
            yield path, reading if lost is None or gives_none(reading) else lost


def _used(member: Member, told: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Keep addresses in use where those of the devices were not collected, and these are theirs."""
    if _asked(member, PERMANENT):
        return
    origins = member.facts.every(ORIGIN)[0]
    for path, reading in _permanent(member, told):
        origin = origins.get(f"{_item(path)}.mac_origin")
        if isinstance(origin, Unknown):
            yield path, origin
        elif origin == "permanent":
            yield path, reading


def _local(member: Member, told: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Leave out drives that are reached over a network: several nodes may."""
    return _where(member, told, TRANSPORT, lambda transport: transport == "pcie")


def _fitted(member: Member, told: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Leave out drives that a BMC makes up, and those of buses that reach into an enclosure of several nodes."""
    return _where(member, told, DRIVE_PROTOCOL, lambda protocol: protocol in {"NVMe", "PCIe", "SATA"})


def _where(
    member: Member, told: Mapping[str, Reading], pattern: str, holds: Callable[[Reading], bool]
) -> Iterable[tuple[str, Reading]]:
    beside = member.facts.every(pattern)[0]
    leaf = pattern.rpartition(".")[2]
    for path, reading in told.items():
        other = beside.get(f"{_item(path)}.{leaf}")
        lost = lacking(other) if other is not None else None
        if lost is not None and not gives_none(reading):
            yield path, lost
        elif other is not None and holds(other):
            yield path, reading


def _module(member: Member, told: Mapping[str, Reading]) -> Iterable[tuple[str, Reading]]:
    """Give serial numbers of memory with the part number before: makers give one to modules of several parts."""
    for path, reading in told.items():
        part = member.reading(f"{_item(path)}.part_number")
        lost = lacking(part)
        if isinstance(reading, str) and not serial(reading):
            continue
        if lost is not None and not gives_none(reading):
            yield path, lost
        else:
            yield path, f"{part} {reading}" if isinstance(reading, str) and isinstance(part, str) else reading


def _kinds(fleet: _Fleet) -> Iterable[Kind]:
    yield Kind("serial", "serials", fleet.one({SERIAL: "", BMC_SERIAL: BMC}, serial))
    yield Kind("UUID", "UUIDs", fleet.one({UUID: "", BMC_UUID: BMC}, uuid))
    yield Kind("BMC", "addresses of BMCs", fleet.parts([MANAGER_MAC], mac, kept={MANAGER_MAC: _outside}))
    kept: Mapping[str, Keep] = {PERMANENT: _permanent, MAC: _used, BMC_MAC: _outside}
    yield Kind("MAC", "MACs", fleet.parts(kept, mac, kept=kept), inside=fleet.twice)
    yield Kind("GUID", "GUIDs", fleet.parts([GUID], guid))
    yield Kind("GPU serial", "GPU serials", fleet.parts([*GPU_SERIAL, AMD_SERIAL], serial),
               inside=fleet.inside(GPU_SERIAL, serial, boards))  # fmt: skip
    yield Kind("GPU UUID", "GPU UUIDs", fleet.parts([*GPU_UUID, AMD_UUID], uuid),
               inside=fleet.inside(GPU_UUID, uuid, within))  # fmt: skip
    yield Kind("NVSwitch serial", "NVSwitch serials", fleet.parts([NVSWITCH], serial))
    drives: Mapping[str, Keep] = {NVME: _local, DRIVE: _fitted}
    yield Kind("drive serial", "drive serials", fleet.parts(drives, serial, kept=drives))
    yield Kind("supply serial", "supply serials", fleet.parts([PSU], serial), Weight.WHOLE)
    modules = dict.fromkeys(DIMM.values(), _module)
    yield Kind("memory module", "memory modules", fleet.parts(modules, serial, kept=modules), Weight.SEVERAL)
