"""Resolves the targets of a command to nodes: node sets and groups of an inventory, or plain node names."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rackcheck.base.user_error import UserError
from rackcheck.inventory.node import LOCAL, Inventory, Node
from rackcheck.inventory.nodeset import unfold
from rackcheck.inventory.reading import load
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean

if TYPE_CHECKING:
    from ClusterShell.NodeUtils import GroupResolver

_GROUP = regex(r"@(?:(?P<kind>[^,!&^@:\s\[\]]*):)?(?P<name>(?:\[[^\]]*\]|[^,!&^@:\s\[\]])*)")
"""A group as written in a target: `@name`, `@rack:a01`, `@role:compute`."""

SIMULATED = "sim:"
"""Start of the name of a simulated rack, which is the value of `--rack` and no target."""

_AT = regex(r"(?:^|[,!&^\s])@")
"""Matches the start of a group in a target; the @ of `user@host` does not start a group."""


def found(file: Path | None) -> Path | None:
    """Return the inventory that a command reads: `file` if it is set, else `./inventory.yaml` if it exists."""
    beside = Path("inventory.yaml")
    return file or (beside if beside.is_file() else None)


def choose(targets: Iterable[str], file: Path | None) -> tuple[tuple[Node, ...], str]:
    """Return the nodes of the targets, and a description of their origin; raises UserError or BadFile.

    Without targets, return all nodes of the inventory; without an inventory, return this machine.
    """
    wanted = tuple(targets)
    given = found(file)
    if given is None:
        names = [name for target in wanted for name in _bare(target)]
        if wanted and not names:
            raise UserError(f"no node is in {_shown(wanted)}")
        names = names or [LOCAL]
        words = "this machine" if names == [LOCAL] else f"{len(names)} by name"
        return tuple(Node(name, host=name) for name in dict.fromkeys(names)), f"{words} (no inventory)"
    return described(wanted, load(given))


def described(targets: Iterable[str], inventory: Inventory) -> tuple[tuple[Node, ...], str]:
    """Return the nodes of an inventory that the targets name, as `narrowed`, and a description of their origin."""
    wanted = tuple(targets)
    nodes = narrowed(wanted, inventory)
    total = len(inventory.nodes)
    if not wanted:
        return nodes, f"all {total} nodes of {inventory.origin}" if total > 1 else f"the one node of {inventory.origin}"
    return nodes, f"{len(nodes)} of {total} node{'s' if total > 1 else ''} of {inventory.origin}"


def narrowed(targets: Iterable[str], inventory: Inventory) -> tuple[Node, ...]:
    """Return the nodes that the targets name, each node once; without targets, all nodes.

    Raises UserError if the targets contain no node, for example if they exclude each other.
    """
    wanted = tuple(targets)
    names = [name for target in wanted for name in _matching(target, inventory)] if wanted else list(inventory.nodes)
    if not names:
        raise UserError(f"no node of {inventory.origin} is in {_shown(wanted)}")
    return tuple(inventory.nodes[name] for name in dict.fromkeys(names))


def _shown(targets: Iterable[str]) -> str:
    return " ".join(repr(clean(target)) for target in targets)


def _bare(target: str) -> list[str]:
    if _AT.search(target):
        raise UserError(f"{target} needs an inventory: groups and racks are defined there (-i FILE)")
    if target.startswith(SIMULATED):
        raise UserError(f"{target} is the name of a simulated rack, not of a node; use --rack {target}")
    return unfold(target)


def _matching(target: str, inventory: Inventory) -> list[str]:
    if not _AT.search(target):
        names = unfold(target)
        for name in names:
            if name not in inventory.nodes:
                raise UserError(unknown(name, inventory))
        return names
    members = _members(inventory)
    for match in _GROUP.finditer(target):
        _check(match["kind"], match["name"], members, inventory.origin)
    # Nodes have the order of the file, so that racks and groups have this order, too.
    chosen = unfold(target, _resolver(members))
    for name in chosen:
        if name not in inventory.nodes:
            raise UserError(unknown(name, inventory))
    there = set(chosen)
    return [name for name in inventory.nodes if name in there]


def unknown(name: str, inventory: Inventory) -> str:
    """Return the error message for an unknown node, with the most similar name, or the list of all nodes."""
    names = list(inventory.nodes)
    near = did_you_mean(name, names) or f"; it has {clean(fold(names), FOLDED)}"
    return f"no node {name} in {inventory.origin}{near}"


FOLDED = 200
"""Maximum number of characters of the list of nodes in a message, if no name is similar."""

Members = Mapping[str, Mapping[str, list[str]]]
"""The nodes of each group, by the kind of group (`rack`, `role`, or empty for groups of the file) and its name."""


def _members(inventory: Inventory) -> Members:
    found: dict[str, dict[str, list[str]]] = {"": {k: list(v) for k, v in inventory.groups.items()}}
    for kind in ("rack", "role"):
        listed = found.setdefault(kind, {})
        for node in inventory.nodes.values():
            value = node.rack if kind == "rack" else node.role
            if value:
                listed.setdefault(value, []).append(node.name)
    return found


def _check(kind: str | None, text: str, members: Members, origin: str) -> None:
    known = members.get(kind or "")
    mark = f"@{kind}:" if kind else "@"
    names = unfold(text) if "[" in text else [text]
    for name in names:
        if known is None or name not in known:
            all_words = [f"@{k}:{v}" if k else f"@{v}" for k, listed in members.items() for v in listed]
            near = did_you_mean(f"{mark}{name}", all_words)
            kinds = "groups are @rack:NAME, @role:NAME and the file's own @NAME"
            raise UserError(f"no node of {origin} is in {mark}{name}{near}; {kinds}")


def _resolver(members: Members) -> "GroupResolver":
    """Return a ClusterShell resolver that finds only these groups; groups configured on this machine are ignored."""
    from ClusterShell.NodeUtils import GroupResolver, GroupSource  # noqa: PLC0415  slow to load

    def source(kind: str) -> GroupSource:
        return GroupSource(kind or "group", {name: ",".join(nodes) for name, nodes in members[kind].items()})

    resolver = GroupResolver(source(""))
    for kind in members:
        if kind:
            resolver.add_source(source(kind))
    return resolver
