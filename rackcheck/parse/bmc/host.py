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


@dataclass(frozen=True)
class Machine:
    """The systems of one BMC: the hosts, and the boards, that is, other systems with parts of the only host.

    `trouble` is the reason why a host may be missing. `several` is set if there is more than one host: it is the reason
    why no part can be assigned to this node. One host may be described by two systems, which then are both in `hosts`.
    """

    hosts: tuple[Resource, ...] = ()
    boards: tuple[Resource, ...] = ()
    trouble: Unknown | None = None
    several: Unknown | None = None

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


def machine(docs: Documents) -> Machine:
    """Return which systems are hosts.

    A host has boot firmware (an empty BiosVersion is none); a board with GPUs has not. Processors and chassis are read
    only if several systems have boot firmware: one that lists processors, but no CPU, is a board, and one whose chassis
    is a card is a card in the host. Two systems with the same CPUs or the same UUID are one host. If no system has boot
    firmware, as on a switch tray, all systems may be hosts. A system that the BMC lists but does not have (404), or
    that its count includes but its list does not, is not the host if another system has boot firmware; a system that
    was not read may be one.
    """
    systems, trouble = members(docs, "Systems")
    lost = [each.unread for each in systems if each.unread is not None]
    there = [each for each in systems if each.unread is None]
    own = [each for each in there if str(each.body.get("SystemType")) not in NO_HOST] or there
    booting = [each for each in own if _may_boot(each)]
    if any(map(_evidence, booting)):
        trouble = None if trouble is not None and short(trouble) else trouble
        lost = [why for why in lost if not not_there(why)]
    trouble = trouble or next(iter(lost), None)
    if not own and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, "this BMC lists no system")
    candidates = booting or ([] if trouble is not None else own)
    groups = _groups(docs, _without_boards(docs, candidates)) if len(candidates) > 1 else [candidates]
    hosts = tuple(each for group in groups for each in _main(group))
    if len(groups) > 1:
        names = clean(", ".join(each.id for each in hosts), 200)
        why = f"this BMC manages {len(groups)} hosts ({names}), and does not report which of them is this node"
        return Machine(hosts, (), trouble, Unknown(Reason.NOT_COLLECTED, why))
    places = {each.uri for each in hosts}
    return Machine(hosts, tuple(each for each in own if hosts and each.uri not in places), trouble)


def hosts(docs: Documents) -> Gathered:
    """Return the hosts, and why a host may be missing; see `machine`."""
    found = machine(docs)
    return list(found.hosts), found.trouble


CHOICE = Walk("Systems/*/Processors/* and Links/Chassis/* of systems with boot firmware, if there are several", machine)
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


def _without_boards(docs: Documents, systems: Sequence[Resource]) -> list[Resource]:
    """Return the systems that are not boards or cards of another one; all of them if none is left."""
    cpus = {each.uri: _cpus(docs, each) for each in systems}
    some = any(found for found, _ in cpus.values())
    kept = [each for each in systems if not some or cpus[each.uri][0] or not _is_board(each, *cpus[each.uri])]
    cards = {each.uri for each in kept if len(kept) > 1 and _is_card(docs, each)}
    return [each for each in kept if each.uri not in cards] or kept


def _cpus(docs: Documents, system: Resource) -> tuple[list[Resource], int | None]:
    """Return the CPUs that a system lists, and how many processors it lists; None if the list may be incomplete."""
    found, trouble = gather(docs.at("Processors/*", system))
    types = [(each, each.read("ProcessorType").reading) for each in found]
    unsure = trouble is not None or any(isinstance(kind, Unknown) for _, kind in types)
    installed = [e for e, kind in types if kind == "CPU" and e.read("Status.State").reading != "Absent"]
    return installed, None if unsure else len(found)


def _is_board(system: Resource, cpus: Sequence[Resource], listed: int | None) -> bool:
    """Return whether a system beside one with CPUs is a board: its processors are no CPUs, or it shows no BIOS."""
    return not cpus and listed is not None and (listed > 0 or not _has_version(system))


def _is_card(docs: Documents, system: Resource) -> bool:
    found, trouble = gather(docs.at("Links/Chassis/*", system))
    return bool(found) and trouble is None and all(each.body.get("ChassisType") == "Card" for each in found)


def _groups(docs: Documents, systems: Sequence[Resource]) -> list[list[Resource]]:
    """Group the systems that describe one machine: those with the same UUID, or with a CPU of the same serial.

    A board's maker may give one UUID to all of a series: systems with different serial numbers are different machines.
    """
    groups: list[tuple[set[str], set[str], list[Resource]]] = []
    for system in systems:
        cpus = {f"cpu {mark(each, 'SerialNumber', serial)}" for each in _cpus(docs, system)[0]} - {"cpu "}
        same_uuid = {f"uuid {mark(system, 'UUID', uuid)}"} - {"uuid "}
        own = {mark(system, "SerialNumber", serial)} - {""}
        for marks, serials, group in groups:
            if marks & cpus or (marks & same_uuid and not (own and serials and not own & serials)):
                marks.update(cpus, same_uuid)
                serials.update(own)
                group.append(system)
                break
        else:
            groups.append((cpus | same_uuid, own, [system]))
    return [group for _, _, group in groups]


def mark(resource: Resource, name: str, spell: Callable[[str], str]) -> str:
    """Return an identity in one spelling; empty if the resource reports none, or a placeholder."""
    reading = resource.read(name).reading
    return "" if isinstance(reading, Unknown) else spell(str(reading))


def _main(group: Sequence[Resource]) -> list[Resource]:
    """Return the systems of one machine that show most of its boot firmware."""
    rows = [(_evidence(each), each) for each in group]
    most = max((rank for rank, _ in rows), default=0)
    return [each for rank, each in rows if rank == most]
