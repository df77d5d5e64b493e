"""Fetches what the inventory refers to as secret, before any node is asked."""

from collections.abc import Iterable

from rackcheck import inventory
from rackcheck.core.fact import Plane
from rackcheck.inventory import Node
from rackcheck.mistake import Mistake
from rackcheck.run import bmc_of


def secrets_of(nodes: Iterable[Node], planes: frozenset[Plane]) -> dict[str, str]:
    """Fetch every secret that will be needed, once, and check every BMC's address, before any node is asked."""
    listed = tuple(nodes)
    known = {reference: inventory.secret(reference) for reference in sorted(_references(listed, planes))}
    for node in listed if Plane.BMC in planes else ():
        try:
            if node.bmc is not None:
                bmc_of(node, known)
        except ValueError as error:
            raise Mistake(f"{node.name}: {error}") from None
    return known


def _references(nodes: Iterable[Node], planes: frozenset[Plane]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if Plane.BMC in planes and node.bmc is not None:
            found.add(node.bmc.password)
        if Plane.OS in planes and node.host and not node.is_local:
            found |= {node.ssh.password, node.ssh.passphrase}
    return found - {""}
