"""What belongs to one of several hosts behind a BMC: such parts and settings are unknown, or those of all hosts."""

from collections.abc import Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Unknown
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import Machine, machine


def several(docs: Documents) -> Unknown | None:
    """Return why a part is not known to belong to the host of this node: there are several; None if there is one."""
    return machine(docs).several


def of_hosts(held: Machine, found: Sequence[Resource]) -> list[Resource]:
    """Return the resources that are directly below a host; all of them if the hosts are not all known."""
    places = {each.uri for each in held.hosts} if held.trouble is None else set()
    return [each for each in found if not places or (each.above is not None and each.above.uri in places)]
