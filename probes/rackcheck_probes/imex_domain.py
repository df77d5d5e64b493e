"""What the IMEX daemon says of its domain: whether it is up, and which nodes of it are ready."""

import json
from typing import Any

from rackcheck import Class, Facts, Shell, Unreadable, integer, probe, text
from rackcheck.core.fact import clean
from rackcheck_probes.imex_daemon import GONE, GUARD, NONE

READY = "READY"


def told(answer: str) -> tuple[str, list[dict[str, Any]]]:
    """Give the domain's word and its nodes; raises Unreadable on another shape."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {clean(answer, 80)!r}") from error
    match found:
        case {"status": str(status), "nodes": dict(nodes)} if all(isinstance(one, dict) for one in nodes.values()):
            return status, list(nodes.values())
    raise Unreadable(f"not a domain and its nodes: {clean(answer, 80)!r}")


# Asks the daemons of all nodes of the domain for what they know: it connects none of them. Unverified on hardware.
@probe(
    Shell(f"{GUARD}nvidia-imex-ctl -N -j", seconds=20, lane="imex"),
    gives={
        "driver.imex.domain.state": text("The state of the whole domain: UP, DOWN, DEGRADED.", Class.MEASUREMENT),
        "driver.imex.domain.nodes": integer("Nodes of the domain, as the daemon knows them."),
        "driver.imex.domain.ready": integer("Nodes of the domain that are ready.", Class.MEASUREMENT),
        "driver.imex.domain.connected": integer(
            "Nodes that every other node of the domain is connected with.", Class.MEASUREMENT
        ),
    },
)
def imex_domain(answer: str) -> Facts:
    """Read the domain's word, and count its nodes."""
    if answer == NONE:
        yield from ((f"driver.imex.domain.{leaf}", GONE) for leaf in ("state", "nodes", "ready", "connected"))
        return
    status, nodes = told(answer)
    ready = connected = 0
    for node in nodes:
        match node:
            case {"status": str(word), "connections": dict(links)}:
                ready += word == READY
                ends = [link.get("status") if isinstance(link, dict) else None for link in links.values()]
                connected += len(ends) == len(nodes) and set(ends) == {"CONNECTED"}
            case _:
                raise Unreadable("a node without its state")
    yield "driver.imex.domain.state", status
    yield "driver.imex.domain.nodes", len(nodes)
    yield "driver.imex.domain.ready", ready
    yield "driver.imex.domain.connected", connected
