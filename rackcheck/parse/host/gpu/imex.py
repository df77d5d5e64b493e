"""The output of `nvidia-imex-ctl -N -j`: the state of an IMEX domain, its nodes, and each node's connections."""

from dataclasses import dataclass
from typing import Any

from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.text import json_text

READY, CONNECTED = "READY", "CONNECTED"


@dataclass(frozen=True)
class Domain:
    """An IMEX domain as one daemon reports it: its state, and its number of nodes.

    `ready` is the number of nodes in the state READY; `connected` is the number of nodes whose connections with all
    nodes of the domain are CONNECTED.
    """

    status: str
    nodes: int
    ready: int
    connected: int


def domain(answer: str) -> Domain:
    """Read the output; raises Unreadable if it has no domain with nodes, or if a node lacks state or connections."""
    try:
        found = json_text.loaded(answer)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {clean(answer, 80)!r}") from error
    match found:
        case {"status": str(status), "nodes": dict(nodes)} if all(isinstance(one, dict) for one in nodes.values()):
            rows = [_node(node) for node in nodes.values()]
        case _:
            raise Unreadable(f"not a domain's status and nodes: {clean(answer, 80)!r}")
    ready = sum(word == READY for word, _ in rows)
    connected = sum(len(ends) == len(rows) and all(end == CONNECTED for end in ends) for _, ends in rows)
    return Domain(status, len(rows), ready, connected)


def _node(node: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return a node's state, and the states of its connections with all nodes of the domain (also with itself)."""
    match node:
        case {"status": str(word), "connections": dict(links)}:
            return word, [link.get("status") if isinstance(link, dict) else None for link in links.values()]
    raise Unreadable("a node has no status, or no connections")
