"""Limits of how many nodes behind one jump host, in one group or in one network are asked at the same time."""

import ipaddress
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from rackcheck.inventory.node import AskLimit, Node
from rackcheck.model.fact import Plane
from rackcheck.profile.document import Problem, Scalar, SourcePlace, YamlMapping
from rackcheck.profile.layers import did_you_mean

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def limits(
    entries: Mapping[str, YamlMapping],
    places: Mapping[str, SourcePlace],
    nodes: Mapping[str, Node],
    groups: Mapping[str, tuple[str, ...]],
    problems: list[Problem],
) -> tuple[AskLimit, ...]:
    """Return the limits of an inventory; a name that is no group, jump host or network adds a problem."""
    return tuple(_limits(entries, places, nodes, groups, problems))


def _limits(
    entries: Mapping[str, YamlMapping],
    places: Mapping[str, SourcePlace],
    nodes: Mapping[str, Node],
    groups: Mapping[str, tuple[str, ...]],
    problems: list[Problem],
) -> Iterator[AskLimit]:
    jumps: dict[str, set[str]] = {}
    for node in nodes.values():
        for hop in filter(None, node.ssh.jump.split(",")):
            jumps.setdefault(hop, set()).add(node.name)
    for name, table in entries.items():
        most = {plane: int(_text(table, plane)) for plane in (Plane.OS, Plane.BMC) if _text(table, plane)}
        network = _network(name)
        if name in groups:
            yield AskLimit(name, frozenset(groups[name]), most)
        elif name in jumps:
            yield AskLimit(name, frozenset(jumps[name]), most)
        elif network is None:
            known = did_you_mean(name, [*groups, *jumps])
            problems.append(Problem(places[name], f"{name} is no group, jump host or network of this inventory{known}"))
        else:
            for plane, count in most.items():
                inside = frozenset(node.name for node in nodes.values() if _inside(_address(node, plane), network))
                if not inside:
                    what = "host" if plane is Plane.OS else "BMC"
                    problems.append(Problem(places[name], f"no {what} of this inventory has an address in {name}"))
                yield AskLimit(name, inside, {plane: count})


def _text(table: YamlMapping, plane: Plane) -> str:
    value = table.get(plane.value)
    return value.text if isinstance(value, Scalar) else ""


def _network(name: str) -> Network | None:
    try:
        return ipaddress.ip_network(name)
    except ValueError:
        return None


def _address(node: Node, plane: Plane) -> str:
    """Return the host of a plane as the inventory has it; a name is not resolved."""
    if plane is Plane.OS:
        return node.host
    return (urlsplit(node.bmc.url).hostname or "") if node.bmc is not None else ""


def _inside(host: str, network: Network) -> bool:
    try:
        return ipaddress.ip_address(host) in network
    except ValueError:
        return False
