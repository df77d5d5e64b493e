"""Which systems behind one BMC are hosts: by their boot firmware, and in case of doubt by processors and chassis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.documents import Documents, Missing, Walk
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.identity import serial, uuid
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.board import Processors, may_be_board, without_boards
from rackcheck.parse.bmc.end import links
from rackcheck.parse.bmc.item import members, not_there, short
from rackcheck.parse.bmc.part import mark

Gathered = tuple[list[Resource], Unknown | None]
"""The resources found, and why the list may be incomplete."""

NO_HOST = frozenset({"DPU", "OS", "Virtual", "VirtuallyPartitioned"})
"""Values of SystemType (DMTF's ComputerSystem schema) of systems that are not the machine a BMC is part of."""

LINKS = ("Bios", "SecureBoot")
"""Links that only a system with boot firmware has."""

LISTS = ("Boot.BootOrder", "TrustedModules")
"""Lists that are not empty only in a system with boot firmware."""

SYSTEMS = 64
"""Maximum number of systems behind one BMC that are compared; the BMC of a chassis manages far fewer machines."""


@dataclass(frozen=True)
class Machine:
    """The systems of one BMC: the hosts, and the others (`rest`), such as boards of the host, or cards in it.

    `trouble` is the reason why a host may be missing. `several` is set if there is more than one host: it is the reason
    why no part can be assigned to this node. One host may be described by two systems, which then are both in `hosts`.
    """

    hosts: tuple[Resource, ...] = ()
    rest: tuple[Resource, ...] = ()
    trouble: Unknown | None = None
    several: Unknown | None = None

    @property
    def own(self) -> tuple[Resource, ...]:
        """The system that lists the host's parts first."""
        return self.hosts[:1]

    @property
    def doubt(self) -> Unknown | None:
        """Why it is unknown which parts belong to the host of this node; None if it is known."""
        return self.trouble or self.several


def machine(docs: Documents) -> Machine:
    """Return which systems are hosts.

    A host has boot firmware (an empty BiosVersion is none); a board with GPUs has not. If only one system may have boot
    firmware, and this system shows it clearly, it is the host, and nothing but the systems is read. Otherwise their
    processors and chassis decide: a system that lists processors, but no CPU, is a board, and one whose chassis is a
    card is a card in the host. Two systems with the same CPUs or the same UUID are one host. If no system shows boot
    firmware, as on a switch tray or just after a reset, all systems may be hosts. If processors or chassis that must
    decide were never fetched, as in a capture of an earlier version, the host is the only system with a BiosVersion.

    A system that the BMC lists but does not have (404), or that its count includes but its list does not, is not the
    host if another system has boot firmware; a system that was not read may be one.
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
    candidates = booting if evident or trouble is not None else own
    found = [candidates]
    if len(own) > 1 and candidates and not _decided(candidates):
        try:
            found = _compared(docs, candidates, own)
        except Missing as error:
            found = [[each for each in candidates if _has_version(each)]]
            if len(found[0]) != 1:
                found, trouble = [], trouble or Unknown(Reason.NOT_COLLECTED, f"not fetched: {clean(str(error))}")
    hosts = tuple(each for group in found for each in group)
    places = {each.uri for each in hosts}
    several = None
    if len(found) > 1:
        names = clean(", ".join(each.id for each in hosts), 200)
        why = f"this BMC manages {len(found)} hosts ({names}), and does not report which of them is this node"
        several = Unknown(Reason.NOT_COLLECTED, why)
    return Machine(hosts, tuple(each for each in own if each.uri not in places), trouble, several)


def hosts(docs: Documents) -> Gathered:
    """Return the hosts, and why a host may be missing; see `machine`."""
    found = machine(docs)
    return list(found.hosts), found.trouble


def boards(docs: Documents, found: Machine) -> Gathered:
    """Return the other systems that may list parts of the only host, and why one of them may be a card.

    A card's parts are not the host's. None is returned if the host is in doubt. Systems in a chassis of the host come
    first, because parts have the names that the first system gives them.
    """
    if found.doubt is not None or not found.hosts:
        return [], None
    cpus = Processors(docs)
    kept: list[Resource] = []
    unsure: Unknown | None = None
    for each in found.rest:
        try:
            part, why = may_be_board(docs, each, found.hosts, cpus)
        except Missing as error:  # a capture of an earlier version may not contain the processors or chassis
            part, why = True, Unknown(Reason.NOT_COLLECTED, f"not fetched: {clean(str(error))}")
        kept += [each] if part else []
        unsure = unsure or why
    places = frozenset[str]().union(*(links(each, "Chassis") for each in found.hosts))
    kept.sort(key=lambda each: not links(each, "Chassis") & places)
    return [*found.hosts[1:], *kept], unsure


def lost_board(docs: Documents) -> Unknown | None:
    """Return why a listed system was not read, in which parts of the host may have a worse health; else None."""
    return next((each.unread for each in members(docs, "Systems")[0] if each.unread is not None), None)


def _with_boards(docs: Documents) -> None:
    boards(docs, machine(docs))


CHOICE = Walk("Systems/*/Processors/* and Links/Chassis/*, if several systems may be the host", machine)
"""The link of a probe that needs the host: if the systems themselves do not decide, their processors and chassis do."""

BOARDS = Walk("Systems/*/Processors/* and Links/Chassis/*, if there are several systems", _with_boards)
"""The link of a probe that also needs the parts of the host that other systems list."""


def _evidence(system: Resource) -> int:
    """Return how many properties of a system show that it has boot firmware; a BiosVersion counts most."""
    return 10 * _has_version(system) + sum(map(_is_link, _links(system))) + sum(map(_is_filled, _lists(system)))


def _may_boot(system: Resource) -> bool:
    """Return whether a system may have boot firmware: it shows some, or it has a BiosVersion that is not an empty text.

    A BiosVersion of null is an unknown version.
    """
    version = system.body.get("BiosVersion", "")
    return _evidence(system) > 0 or not (isinstance(version, str) and not version.strip())


def _links(system: Resource) -> Iterable[object]:
    return (system.body.get(name) for name in LINKS)


def _lists(system: Resource) -> Iterable[object]:
    return (system.value(name) for name in LISTS)


def _is_link(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("@odata.id"), str)


def _is_filled(value: object) -> bool:
    return isinstance(value, list) and bool(value)


def _has_version(system: Resource) -> bool:
    return not isinstance(system.read("BiosVersion").reading, Unknown)


def _decided(candidates: Sequence[Resource]) -> bool:
    """Return whether the only system that may have boot firmware shows it clearly.

    It does by a version, or by a link to the firmware together with what only the running firmware reports. A link
    alone does not: just after a reset, a host may show no boot firmware, while a board has a link to one.
    """
    if len(candidates) != 1:
        return False
    only = candidates[0]
    return _has_version(only) or (any(map(_is_link, _links(only))) and any(map(_is_filled, _lists(only))))


def _compared(docs: Documents, candidates: Sequence[Resource], own: Sequence[Resource]) -> list[list[Resource]]:
    """Return the hosts among the candidates by processors and chassis, each host's systems together.

    Raises Missing if processors or chassis were not fetched.
    """
    cpus = Processors(docs)
    if len(candidates) == 1:
        candidates = [*candidates, *_rivals(candidates[0], own, cpus)]
    groups = _groups(without_boards(docs, candidates, cpus), cpus) if len(candidates) > 1 else [[*candidates]]
    return [_main(group, cpus) for group in groups]


def _rivals(only: Resource, own: Sequence[Resource], cpus: Processors) -> list[Resource]:
    """Return the systems that may be the host instead of the only one that shows boot firmware, but not clearly."""
    listing = [each for each in own if each.uri != only.uri and cpus.of(each).found]
    held = cpus.of(only)
    if held.none or (not held.found and _evidence(only) <= 1):
        return listing
    return [each for each in listing if cpus.of(each).marks & held.marks]


@dataclass
class _Group:
    cpus: set[str]
    serials: set[str]
    systems: list[Resource]


def _groups(systems: Sequence[Resource], cpus: Processors) -> list[list[Resource]]:
    """Group the systems that describe one machine: those with the same UUID, or with a CPU of the same serial.

    A board's maker may give one UUID to all of a series: systems with different serial numbers, or with different CPUs,
    are different machines.
    """
    groups: list[_Group] = []
    by_cpu: dict[str, _Group] = {}
    by_uuid: dict[str, list[_Group]] = {}
    for system in systems:
        marks = cpus.of(system).marks
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


def _main(group: Sequence[Resource], cpus: Processors) -> list[Resource]:
    """Return the systems of one machine that show most of its boot firmware.

    One link to boot firmware does not show that a system with other processors too is the host, and not the system of
    the same machine that lists only CPUs: all systems are returned.
    """
    rows = [(_evidence(each), each) for each in group]
    most = max((rank for rank, _ in rows), default=0)
    main = [each for rank, each in rows if rank == most]
    if most <= 1 and any(cpus.of(each).only for each in group) and not any(cpus.of(each).only for each in main):
        return list(group)
    return main
