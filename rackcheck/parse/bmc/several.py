"""Whether a BMC manages several hosts, at few requests: what belongs to one of them is then unknown."""

from collections.abc import Sequence

from rackcheck.model.documents import Documents, Missing, Walk
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import LINKS, LISTS, Machine, machine
from rackcheck.parse.bmc.item import members

FIRMWARE = ("BiosVersion", *LINKS)
"""Properties of a system that may be a host."""


def hosts_of(docs: Documents) -> Machine | Unknown:
    """Return the hosts of a BMC with several systems, or why they are unknown; an empty Machine if there is one host.

    If only one system has boot firmware, and it reports its version, it is the host: nothing else is read.
    """
    systems, _ = members(docs, "Systems")
    there = [each for each in systems if each.unread is None]
    booting = [each for each in there if _may_boot(each)]
    if len(there) < 2 or (len(booting) == 1 and isinstance(booting[0].read("BiosVersion").reading, str)):
        return Machine()
    try:
        return machine(docs)
    except Missing as error:  # captures of earlier versions may not contain the processors
        return Unknown(Reason.NOT_COLLECTED, f"how many hosts this BMC manages is unknown: {error} was not fetched")


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


def _may_boot(system: Resource) -> bool:
    return any(name in system.body for name in FIRMWARE) or any(system.value(name) for name in LISTS)
