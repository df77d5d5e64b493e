"""The shards of a burn-in: their parts of its power limits, and the load on their nodes."""

import hashlib
import threading
from collections.abc import Iterator, Sequence

from rackcheck.base.user_error import UserError
from rackcheck.burnin import bmc_watch, fleet, pack
from rackcheck.burnin.fleet import Burnin
from rackcheck.burnin.ramp import NodeLoad, PowerLimits
from rackcheck.burnin.shares import shares
from rackcheck.burnin.watts import estimate
from rackcheck.inventory import Node
from rackcheck.parse.burnin.plan import Tier, document
from rackcheck.run.event import Answered, NodeRequested
from rackcheck.run.job import Job
from rackcheck.session.audit_setup import Prepared
from rackcheck.session.registry_loading import known
from rackcheck.shard.document import BurnPart, Shard


def parts(ready: Prepared, shards: Sequence[Sequence[Node]], what: Burnin) -> list[BurnPart]:
    """Return what each shard of a burn-in does; raises UserError if there are too many shards for its limits."""
    loads = [estimate(nodes, ready.profile).loads for nodes in shards]
    largest = max(map(len, loads))
    if largest > fleet.MOST:
        raise UserError(f"{largest} nodes in a shard; the maximum for one burn-in is {fleet.MOST}")
    try:
        limits = shares(loads, what.limits)
    except ValueError as error:
        raise UserError(str(error)) from None
    return [
        BurnPart(
            what.tier.value, what.seed, what.tools, what.gpus, {load.name: load.watts for load in mine}, own.rate,
            own.apart, own.total, own.racks, own.pdus,
        )
        for mine, own in zip(loads, limits, strict=True)
    ]  # fmt: skip


def questions() -> str:
    """Return a digest of the program that a burn-in runs on nodes: another release may run another one."""
    return hashlib.sha256(pack.payload(document(Tier.SMOKE, seed=1)).encode()).hexdigest()


def burned(shard: Shard, job: Job, stop: threading.Event) -> Iterator[NodeRequested | Answered]:
    """Put the nodes of a shard under load, and yield their answers; judges nothing."""
    part = shard.burn
    assert part is not None
    looks = bmc_watch.looking(known())
    what = Burnin(
        Tier(part.tier), part.seed, part.tools, part.gpus,
        limits=PowerLimits(part.rate, part.total, part.racks, part.pdus, apart=part.apart),
        beside=lambda node, over: bmc_watch.look(looks, job, node, over),
    )  # fmt: skip
    loads = [NodeLoad(node.name, part.watts[node.name], node.rack, node.pdu) for node in shard.nodes if node.host]
    for event in fleet.burned(job, loads, what, stop):
        if isinstance(event, NodeRequested | Answered):
            yield event
