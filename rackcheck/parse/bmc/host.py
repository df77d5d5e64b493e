"""Which systems behind one BMC are hosts, by their firmware, processors and chassis, and which are boards of a host."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.documents import Documents, Walk
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.identity import serial, uuid
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.item import gather, members, not_there, short

Gathered = tuple[list[Resource], Unknown | None]
"""The resources found, and why the list may be incomplete."""

NO_HOST = frozenset({"DPU", "OS", "Virtual", "VirtuallyPartitioned"})
"""Values of SystemType (DMTF's ComputerSystem schema) of systems that are not the machine a BMC is part of."""

LINKS = ("Bios", "SecureBoot")
"""Links that only a system with boot firmware has."""

LISTS = ("Boot.BootOrder", "TrustedModules")
"""Lists that are not empty only in a system with boot firmware."""


ARCHITECTURE = ("ProcessorArchitecture", "InstructionSet")
"""Properties of a CPU that are the same for all CPUs of one machine."""

COMPONENTS = frozenset({"Component", "Module", "Zone"})
"""Values of ChassisType of parts of a machine."""

LEVELS = 8
"""Maximum number of chassis around a chassis that are read."""

SYSTEMS = 64
"""Maximum number of systems behind one BMC that are compared; the BMC of a chassis manages far fewer machines."""


@dataclass(frozen=True)
class Machine:
    """The systems of one BMC: the hosts, and the boards, that is, other systems with parts of the only host.

    `trouble` is the reason why a host may be missing. `several` is set if there is more than one host: it is the reason
    why no part can be assigned to this node. One host may be described by two systems, which then are both in `hosts`.
    `unsure` is the reason why a board may be a card, whose parts are not the host's.
    """

    hosts: tuple[Resource, ...] = ()
    boards: tuple[Resource, ...] = ()
    trouble: Unknown | None = None
    several: Unknown | None = None
    unsure: Unknown | None = None

    @property
    def own(self) -> tuple[Resource, ...]:
        """The system that lists the host's parts first."""
        return self.hosts[:1]

    @property
    def others(self) -> tuple[Resource, ...]:
        """The other systems of the same machine, which may list parts of the host too."""
        return (*self.hosts[1:], *self.boards)

    @property
    def doubt(self) -> Unknown | None:
        """Why it is unknown which parts belong to the host of this node; None if it is known."""
        return self.trouble or self.several


@dataclass(frozen=True)
class _Cpus:
    """The CPUs that a system lists, and the number of its processors; `listed` is None if it may list more."""

    found: list[Resource]
    listed: int | None

    @property
    def none(self) -> bool:
        """Whether the system lists processors, and none of them is a CPU; an empty list shows nothing."""
        return not self.found and bool(self.listed)

    @property
    def marks(self) -> set[str]:
        return {mark(each, "SerialNumber", serial) for each in self.found} - {""}


def machine(docs: Documents) -> Machine:
    """Return which systems are hosts.

    A host has boot firmware (an empty BiosVersion is none); a board with GPUs has not. If there are several systems, a
    system that lists processors, but no CPU, is a board, and one whose chassis is a card is a card in the host. Two
    systems with the same CPUs or the same UUID are one host. If no system shows boot firmware, as on a switch tray or
    just after a reset, all systems may be hosts. A system that the BMC lists but does not have (404), or that its count
    includes but its list does not, is not the host if another system has boot firmware; a system that was not read may
    be one.
    """
    systems, trouble = members(docs, "Systems")
    lost = [each.unread for each in systems if each.unread is not None]
    there = [each for each in systems if each.unread is None]
    own = [each for each in there if str(each.body.get("SystemType")) not in NO_HOST] or there
    if len(own) > SYSTEMS:
        many = Unknown(Reason.NOT_READ_FURTHER, f"this BMC has {len(own)} systems; at most {SYSTEMS} are compared")
        return Machine((), (), many, many)
    booting = [each for each in own if _may_boot(each)]
    evident = any(map(_evidence, booting))
    if evident:
        trouble = None if trouble is not None and short(trouble) else trouble
        lost = [why for why in lost if not not_there(why)]
    trouble = trouble or next(iter(lost), None)
    if not own and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, "this BMC lists no system")
    cpus = {each.uri: _cpus(docs, each) for each in own} if len(own) > 1 else {}
    candidates = booting if evident or trouble is not None else own
    if len(candidates) == 1 and cpus and not _has_version(candidates[0]):
        candidates = [*candidates, *_rivals(candidates[0], own, cpus)]
    groups = _groups(_without_boards(docs, candidates, cpus), cpus) if len(candidates) > 1 else [candidates]
    hosts = tuple(each for group in groups for each in _main(group, cpus))
    if len(groups) > 1:
        names = clean(", ".join(each.id for each in hosts), 200)
        why = f"this BMC manages {len(groups)} hosts ({names}), and does not report which of them is this node"
        return Machine(hosts, (), trouble, Unknown(Reason.NOT_COLLECTED, why))
    places = {each.uri for each in hosts}
    boards, unsure = _boards(docs, hosts, [each for each in own if hosts and each.uri not in places], cpus)
    return Machine(hosts, boards, trouble, None, unsure)


def hosts(docs: Documents) -> Gathered:
    """Return the hosts, and why a host may be missing; see `machine`."""
    found = machine(docs)
    return list(found.hosts), found.trouble


CHOICE = Walk("Systems/*/Processors/* and Links/Chassis/* of systems that may be boards, if there are several", machine)
"""The link of a probe that needs the host: if the systems themselves do not decide, their processors and chassis do."""


def _evidence(system: Resource) -> int:
    """Return how many properties of a system show that it has boot firmware; a BiosVersion counts most."""
    links = sum(isinstance(link, Mapping) and isinstance(link.get("@odata.id"), str) for link in _links(system))
    lists = (system.value(name) for name in LISTS)
    return 10 * _has_version(system) + links + sum(isinstance(found, list) and bool(found) for found in lists)


def _may_boot(system: Resource) -> bool:
    """Return whether a system may have boot firmware: it shows some, or it has a BiosVersion that is not an empty text.

    A BiosVersion of null is an unknown version.
    """
    version = system.body.get("BiosVersion", "")
    return _evidence(system) > 0 or not (isinstance(version, str) and not version.strip())


def _links(system: Resource) -> Iterable[object]:
    return (system.body.get(name) for name in LINKS)


def _has_version(system: Resource) -> bool:
    return not isinstance(system.read("BiosVersion").reading, Unknown)


def _rivals(only: Resource, own: Sequence[Resource], cpus: Mapping[str, _Cpus]) -> list[Resource]:
    """Return the systems that may be the host instead of the only one that shows boot firmware, but no version of it.

    Just after a reset, a host may show no boot firmware, while a board has a link to one.
    """
    listing = [each for each in own if each.uri != only.uri and cpus[each.uri].found]
    held = cpus[only.uri]
    if held.none or (not held.found and _evidence(only) <= 1):
        return listing
    return [each for each in listing if cpus[each.uri].marks & held.marks]


def _without_boards(docs: Documents, systems: Sequence[Resource], cpus: Mapping[str, _Cpus]) -> list[Resource]:
    """Return the systems that are not boards or cards of another one; all of them if none is left.

    A system that lists no processor is a board if its chassis is inside that of a system with CPUs.
    """
    kept = [each for each in systems if not cpus[each.uri].none] or list(systems)
    outer = [_chassis(docs, each) for each in kept if cpus[each.uri].found]
    kept = [each for each in kept if cpus[each.uri].found or not _is_inside(docs, each, outer)]
    cards = {each.uri for each in kept if len(kept) > 1 and _is_card(docs, each) is True}
    return [each for each in kept if each.uri not in cards] or kept


def _boards(
    docs: Documents, hosts: Sequence[Resource], others: Sequence[Resource], cpus: Mapping[str, _Cpus]
) -> tuple[tuple[Resource, ...], Unknown | None]:
    """Return the systems with parts of the host, which cards are not, and why one of them may be a card.

    A system whose CPUs are all of another architecture is a card too.
    """
    found: list[Resource] = []
    unsure: Unknown | None = None
    for each in others:
        card = _is_card(docs, each)
        own = [cpu for host in hosts for cpu in cpus[host.uri].found]
        theirs = cpus[each.uri].found
        if card is True or (theirs and not any(alike(cpu, own) for cpu in theirs)):
            continue
        found.append(each)
        unsure = unsure or (card if isinstance(card, Unknown) else None)
    return tuple(found), unsure


def alike(cpu: Resource, own: Sequence[Resource]) -> bool:
    """Return whether a CPU may be in one machine with the host's own ones: no architecture that both report differs."""
    for name in ARCHITECTURE:
        word = mark(cpu, name, str.casefold)
        words = {mark(each, name, str.casefold) for each in own} - {""}
        if word and words and word not in words:
            return False
    return True


def _cpus(docs: Documents, system: Resource) -> _Cpus:
    found, trouble = gather(docs.at("Processors/*", system))
    types = [(each, each.read("ProcessorType").reading) for each in found]
    unsure = trouble is not None or any(isinstance(kind, Unknown) for _, kind in types)
    installed = [e for e, kind in types if kind == "CPU" and e.read("Status.State").reading != "Absent"]
    return _Cpus(installed, None if unsure else len(found))


def _is_card(docs: Documents, system: Resource) -> bool | Unknown:
    """Return whether all chassis of a system are cards; unknown if one that the BMC has could not be read."""
    found, trouble = gather(docs.at("Links/Chassis/*", system))
    lost = [trouble, *(each.unread for each in found)]
    why = next((each for each in lost if each is not None and not not_there(each)), None)
    there = [each for each in found if each.unread is None]
    if any(each.body.get("ChassisType") != "Card" for each in there):
        return False
    return why if why is not None else bool(there)


def _chassis(docs: Documents, system: Resource) -> dict[str, Resource]:
    """Return the chassis of a system by URI; none if one of them was not read."""
    found, trouble = gather(docs.at("Links/Chassis/*", system))
    return {} if trouble or any(each.unread for each in found) else {each.uri: each for each in found}


def _is_inside(docs: Documents, system: Resource, outer: Sequence[Mapping[str, Resource]]) -> bool:
    """Return whether each chassis of a system is a component inside all chassis of another one (`outer`).

    Machines in one enclosure are no components, and may link to the enclosure, or to one chassis.
    """
    inner = _chassis(docs, system)
    if not inner or not outer or any(each.body.get("ChassisType") not in COMPONENTS for each in inner.values()):
        return False
    above = [_above(docs, each) for each in inner.values()]
    return any(around and all(around.keys() <= uris for uris in above) for around in outer)


def _above(docs: Documents, chassis: Resource) -> set[str]:
    """Return the chassis that contain a chassis."""
    found: dict[str, Resource] = {}
    at: Resource | None = chassis
    while at is not None and len(found) < LEVELS:
        at = next((e for e in gather(docs.at("Links/ContainedBy", at))[0] if e.uri not in found), None)
        if at is not None:
            found[at.uri] = at
    return set(found) - {chassis.uri}


@dataclass
class _Group:
    cpus: set[str]
    serials: set[str]
    systems: list[Resource]


def _groups(systems: Sequence[Resource], cpus: Mapping[str, _Cpus]) -> list[list[Resource]]:
    """Group the systems that describe one machine: those with the same UUID, or with a CPU of the same serial.

    A board's maker may give one UUID to all of a series: systems with different serial numbers, or with different CPUs,
    are different machines.
    """
    groups: list[_Group] = []
    by_cpu: dict[str, _Group] = {}
    by_uuid: dict[str, list[_Group]] = {}
    for system in systems:
        marks = cpus[system.uri].marks
        own = {mark(system, "SerialNumber", serial)} - {""}
        same_uuid = by_uuid.setdefault(mark(system, "UUID", uuid), [])
        group = next((by_cpu[each] for each in sorted(marks) if each in by_cpu), None)
        if group is None and mark(system, "UUID", uuid):
            group = next((e for e in same_uuid if not _apart(e.serials, own) and not _apart(e.cpus, marks)), None)
        if group is None:
            group = _Group(set(), set(), [])
            groups.append(group)
        group.cpus |= marks
        group.serials |= own
        group.systems.append(system)
        by_cpu |= dict.fromkeys(marks, group)
        same_uuid.append(group)
    return [group.systems for group in groups]


def _apart(some: set[str], others: set[str]) -> bool:
    """Return whether both report identities, and share none."""
    return bool(some) and bool(others) and not some & others


def mark(resource: Resource, name: str, spell: Callable[[str], str]) -> str:
    """Return an identity in one spelling; empty if the resource reports none, or a placeholder."""
    reading = resource.read(name).reading
    return "" if isinstance(reading, Unknown) else spell(str(reading))


def _main(group: Sequence[Resource], cpus: Mapping[str, _Cpus]) -> list[Resource]:
    """Return the systems of one machine that show most of its boot firmware.

    One link to boot firmware does not show that a system with other processors too is the host, and not the system of
    the same machine that lists only CPUs: all systems are returned.
    """
    rows = [(_evidence(each), each) for each in group]
    most = max((rank for rank, _ in rows), default=0)
    main = [each for rank, each in rows if rank == most]
    if most <= 1 and any(map(_lists_only_cpus, _of(group, cpus))) and not any(map(_lists_only_cpus, _of(main, cpus))):
        return list(group)
    return main


def _of(systems: Sequence[Resource], cpus: Mapping[str, _Cpus]) -> list[_Cpus]:
    return [cpus[each.uri] for each in systems if each.uri in cpus]


def _lists_only_cpus(held: _Cpus) -> bool:
    return bool(held.found) and held.listed == len(held.found)
