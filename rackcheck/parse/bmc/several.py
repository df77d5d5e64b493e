"""Whether a BMC manages several hosts, at few requests: what belongs to one of them is then unknown."""

from collections.abc import Mapping, Sequence

from rackcheck.model.documents import Documents, Missing, Walk
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import LINKS, LISTS, Machine, machine
from rackcheck.parse.bmc.item import members

SIGNS = 2
"""Number of links and lists of boot firmware that show that the only system which has any is the host."""


def hosts_of(docs: Documents) -> Machine | Unknown:
    """Return the hosts of a BMC, or why they are unknown.

    If only one system has boot firmware, and shows its version or several other signs of it, it is the host: nothing
    else is read.
    """
    try:
        systems, trouble = members(docs, "Systems")
        there = [each for each in systems if each.unread is None]
        booting = [each for each in there if _signs(each) or "BiosVersion" in each.body]
        if len(there) > 1 and not (len(booting) == 1 and _evident(booting[0])):
            return machine(docs)
    except Missing as error:  # captures of earlier versions may not contain the processors
        return Unknown(Reason.NOT_COLLECTED, f"how many hosts this BMC manages is unknown: {error} was not fetched")
    return Machine(tuple(booting if len(there) > 1 else there), (), trouble)


def several(docs: Documents) -> Unknown | None:
    """Return why a part is not known to belong to the host of this node: there are several; None if there is one."""
    found = hosts_of(docs)
    return found if isinstance(found, Unknown) else found.several


def of_hosts(held: Machine, found: Sequence[Resource]) -> list[Resource]:
    """Return the resources that are directly below a host; all of them if the hosts are not all known."""
    places = {each.uri for each in held.hosts} if held.trouble is None else set()
    return [each for each in found if not places or (each.above is not None and each.above.uri in places)]


SEVERAL = Walk("Systems/*/Processors/* and Links/Chassis/* if several systems have boot firmware", several)
"""The link of a probe whose parts belong to the host, and that does not read the host otherwise."""


def _evident(system: Resource) -> bool:
    return isinstance(system.read("BiosVersion").reading, str) or _signs(system) >= SIGNS


def _signs(system: Resource) -> int:
    links = sum(isinstance(system.body.get(name), Mapping) for name in LINKS)
    return links + sum(bool(system.value(name)) for name in LISTS)
