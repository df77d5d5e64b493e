"""The IMEX domain as the daemon reports it: whether the domain is up, and how many of its nodes are ready."""

from rackcheck import Class, Facts, Shell, integer, probe, text
from rackcheck.parse.host.gpu import imex
from rackcheck_probes.gpu.imex_daemon import GONE, GUARD, NONE


# Queries the daemons of all nodes of the domain, and does not connect any of them. Unverified on hardware.
@probe(
    Shell(f"{GUARD}nvidia-imex-ctl -N -j", seconds=20, lane="imex"),
    gives={
        "driver.imex.domain.state": text("The state of the whole domain: UP, DOWN, DEGRADED.", Class.MEASUREMENT),
        "driver.imex.domain.nodes": integer("Nodes of the domain, as the daemon lists them."),
        "driver.imex.domain.ready": integer("Nodes of the domain that are ready.", Class.MEASUREMENT),
        "driver.imex.domain.connected": integer(
            "Nodes that are connected to every other node of the domain.", Class.MEASUREMENT
        ),
    },
)
def imex_domain(answer: str) -> Facts:
    """Read the state of the IMEX domain, and count the domain's nodes."""
    if answer == NONE:
        yield from ((f"driver.imex.domain.{leaf}", GONE) for leaf in ("state", "nodes", "ready", "connected"))
        return
    domain = imex.domain(answer)
    yield "driver.imex.domain.state", domain.status
    yield "driver.imex.domain.nodes", domain.nodes
    yield "driver.imex.domain.ready", domain.ready
    yield "driver.imex.domain.connected", domain.connected
