"""Fetches the secrets that the inventory refers to, before any node is contacted."""

from collections.abc import Iterable, Mapping

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.inventory.node import references
from rackcheck.model.fact import Plane, clean
from rackcheck.model.fold import fold
from rackcheck.profile.document import SHOWN


def secrets_of(nodes: Iterable[Node], planes: frozenset[Plane]) -> Mapping[str, str]:
    """Fetch every secret that is needed to read these planes; each secret is fetched only once.

    Raises UserError with all references that cannot be resolved, and the nodes that use these references.
    """
    used = _used(nodes, planes)
    known, lost = _fetched(used)
    rows = [f"{clean(reference)}, for {fold(used[reference])}: {why}" for reference, why in lost.items()]
    if rows:
        more = [f"and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
        raise UserError("\n".join([*rows[:SHOWN], *more]))
    return known


def fetched(nodes: Iterable[Node], planes: frozenset[Plane]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return two mappings by reference: the secrets that could be fetched, and the errors of the other secrets."""
    return _fetched(_used(nodes, planes))


def _fetched(wanted: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    known: dict[str, str] = {}
    lost: dict[str, str] = {}
    for reference in sorted(wanted):
        try:
            known[reference] = inventory.secret(reference)
        except UserError as error:
            lost[reference] = str(error)
    return known, lost


def _used(nodes: Iterable[Node], planes: frozenset[Plane]) -> dict[str, list[str]]:
    """Return the references to the secrets that are needed to read these planes, each with the nodes that use it."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        for reference in {r for plane in planes for r in references(node, plane)}:
            found.setdefault(reference, []).append(node.name)
    return found
