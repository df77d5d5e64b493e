"""Divides the nodes of a plan into shards: by rack, by jump host, by node, or into a number of parts."""

from collections.abc import Iterable, Mapping, Sequence

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.profile.layers import did_you_mean

WORDS = RACK, BASTION, NODE = "rack", "bastion", "node"
"""The ways to divide, besides a number of parts."""

Part = tuple[str, tuple[Node, ...]]
"""What the nodes of a shard share, and the nodes."""


def divided(nodes: Sequence[Node], by: str) -> list[Part]:
    """Return the parts of a plan, in the order of the inventory; each node is in one part.

    `by` is `rack`, `bastion` (the jump hosts of `ssh.jump`), `node`, or a number of parts of nearly equal size. The
    nodes of one BMC are in one part, except by node. Raises UserError for other words.
    """
    match by:
        case "rack":
            return _grouped(nodes, {node.name: node.rack for node in nodes})
        case "bastion":
            return _grouped(nodes, {node.name: node.ssh.jump for node in nodes})
        case "node":
            return [(node.name, (node,)) for node in nodes]
    if not by.isdecimal() or not 0 < int(by) <= len(nodes):
        hint = did_you_mean(by, WORDS)
        raise UserError(f"--by must be rack, bastion, node or a number from 1 to {len(nodes)}, not {by!r:.60}{hint}")
    together = list(_together(nodes))
    count = min(int(by), len(together))
    parts: list[list[Node]] = [[] for _ in range(count)]
    for number, group in enumerate(together):
        parts[number * count // len(together)] += group
    return [("", tuple(part)) for part in parts]


def _grouped(nodes: Iterable[Node], labels: Mapping[str, str]) -> list[Part]:
    found: dict[str, list[Node]] = {}
    for group in _together(list(nodes)):
        found.setdefault(labels[group[0].name], []).extend(group)
    return [(label, tuple(members)) for label, members in found.items()]


def _together(nodes: Sequence[Node]) -> Iterable[list[Node]]:
    """Return the nodes in groups with one BMC: only one process may open sessions there."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        found.setdefault(node.bmc.url if node.bmc is not None else f"node {node.name}", []).append(node)
    return found.values()
