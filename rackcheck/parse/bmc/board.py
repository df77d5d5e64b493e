"""Which systems behind one BMC are boards or cards of another system, by their processors and chassis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Unknown
from rackcheck.model.identity import serial
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.item import gather, not_there
from rackcheck.parse.bmc.part import mark

ARCHITECTURE = ("ProcessorArchitecture", "InstructionSet")
"""Properties of a CPU that are the same for all CPUs of one machine."""

COMPONENTS = frozenset({"Component", "Module", "Zone"})
"""Values of ChassisType of parts of a machine."""

LEVELS = 8
"""Maximum number of chassis around a chassis that are read."""


@dataclass(frozen=True)
class Cpus:
    """The CPUs that a system lists, and the number of its processors; `listed` is None if it may list more."""

    found: list[Resource]
    listed: int | None

    @property
    def none(self) -> bool:
        """Whether the system lists processors, and none of them is a CPU; an empty list shows nothing."""
        return not self.found and bool(self.listed)

    @property
    def only(self) -> bool:
        """Whether the system lists processors, and all of them are CPUs."""
        return bool(self.found) and self.listed == len(self.found)

    @property
    def marks(self) -> set[str]:
        """The serial numbers of the CPUs."""
        return {mark(each, "SerialNumber", serial) for each in self.found} - {""}


class Processors:
    """The processors of each system of one BMC, read when they are first asked for."""

    def __init__(self, docs: Documents) -> None:
        self._docs = docs
        self._cpus: dict[str, Cpus] = {}

    def of(self, system: Resource) -> Cpus:
        """Return the CPUs of a system; raises Missing if its processors were not fetched."""
        known = self._cpus.get(system.uri)
        if known is None:
            known = self._cpus[system.uri] = _cpus(self._docs, system)
        return known


def _cpus(docs: Documents, system: Resource) -> Cpus:
    found, trouble = gather(docs.at("Processors/*", system))
    types = [(each, each.read("ProcessorType").reading) for each in found]
    unsure = trouble is not None or any(isinstance(kind, Unknown) for _, kind in types)
    installed = [e for e, kind in types if kind == "CPU" and e.read("Status.State").reading != "Absent"]
    return Cpus(installed, None if unsure else len(found))


def without_boards(docs: Documents, systems: Sequence[Resource], cpus: Processors) -> list[Resource]:
    """Return the systems that are not boards or cards of another one; all of them if none is left.

    A system that lists no processor is a board if its chassis is inside that of a system with CPUs. Raises Missing if
    processors or chassis were not fetched.
    """
    kept = [each for each in systems if not cpus.of(each).none] or list(systems)
    outer = [_chassis(docs, each) for each in kept if cpus.of(each).found]
    kept = [each for each in kept if cpus.of(each).found or not _is_inside(docs, each, outer)]
    cards = {each.uri for each in kept if len(kept) > 1 and is_card(docs, each) is True}
    return [each for each in kept if each.uri not in cards] or kept


def may_be_board(
    docs: Documents, system: Resource, hosts: Sequence[Resource], cpus: Processors
) -> tuple[bool, Unknown | None]:
    """Return whether a system may list parts of the host, which a card does not, and why it may be a card.

    A system whose CPUs are all of another architecture than the host's is a card. Raises Missing as `Processors` does.
    """
    own = [cpu for host in hosts for cpu in cpus.of(host).found]
    theirs = cpus.of(system).found
    if theirs and not any(alike(cpu, own) for cpu in theirs):
        return False, None
    card = is_card(docs, system)
    return card is not True, card if isinstance(card, Unknown) else None


def alike(cpu: Resource, own: Sequence[Resource]) -> bool:
    """Return whether a CPU may be in one machine with the host's own ones: no architecture that both report differs."""
    for name in ARCHITECTURE:
        word = mark(cpu, name, str.casefold)
        words = {mark(each, name, str.casefold) for each in own} - {""}
        if word and words and word not in words:
            return False
    return True


def is_card(docs: Documents, system: Resource) -> bool | Unknown:
    """Return whether all chassis of a system are cards; unknown if one that the BMC has could not be read."""
    found, trouble = gather(docs.at("Links/Chassis/*", system))
    lost = [trouble, *(each.unread for each in found)]
    why = next((each for each in lost if each is not None and not not_there(each)), None)
    there = [each for each in found if each.unread is None]
    if any(each.body.get("ChassisType") != "Card" for each in there):
        return False
    return why if why is not None else bool(there)


def _chassis(docs: Documents, system: Resource) -> dict[str, Resource]:
    """Return the chassis of a system by URI, without those that the BMC does not have; none if one was not read."""
    found, trouble = gather(docs.at("Links/Chassis/*", system))
    there = [each for each in found if each.unread is None or not not_there(each.unread)]
    return {} if trouble or any(each.unread for each in there) else {each.uri: each for each in there}


def _is_inside(docs: Documents, system: Resource, outer: Sequence[Mapping[str, Resource]]) -> bool:
    """Return whether each chassis of a system is a component inside all chassis of another one (`outer`).

    Machines in one enclosure are no components, and may link to the enclosure, or to one chassis.
    """
    inner = _chassis(docs, system)
    if not inner or not outer or any(str(each.body.get("ChassisType")) not in COMPONENTS for each in inner.values()):
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
