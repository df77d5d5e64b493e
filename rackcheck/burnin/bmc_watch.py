"""Reads inlet temperature, fans and power supplies from a node's BMC while the node is under load. GETs only."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rackcheck.inventory import Node
from rackcheck.model.fact import Plane
from rackcheck.model.path import parse
from rackcheck.model.tree import Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import Registry
from rackcheck.run.asking import bmc_of
from rackcheck.run.job import Job
from rackcheck.transport import redfish

WANTED = ("bmc.thermal.inlet", "bmc.power.consumed", "fan/*.speed")
"""Fact paths of the values that are added to a burn-in's samples."""

SECONDS = 20.0
"""Time limit of one reading, in seconds."""


def looking(registry: Registry) -> Plan:
    """Return the plan of the Redfish GET requests for one reading of the BMC."""
    paths = (parse(text) for text in WANTED)
    return registry.plan(path for path in paths if registry.catalogue.find(path) is not None)


def look(plan: Plan, job: Job, node: Node, over: threading.Event) -> Mapping[str, Any] | None:
    """Read the BMC once; return `inlet`, `power` and `fans`, or None if the BMC returned no values."""
    if node.bmc is None or not node.bmc.password:
        return None
    limits = replace(redfish.Limits(deadline=SECONDS, retries=0), width=node.bmc.width, expand=node.bmc.expand)
    capture, trouble = redfish.read(bmc_of(node, job.secrets), plan.links, limits, stop=over)
    if trouble is not None:
        return None
    tree = Tree(collect(plan.probes, capture, plan.wanted))
    values: dict[str, Any] = {}
    for column, path in (("inlet", "bmc.thermal.inlet"), ("power", "bmc.power.consumed")):
        reading = tree.reading(parse(path), Plane.BMC)
        if isinstance(reading, int | float):
            values[column] = reading
    fans = {}
    for item in tree.select(parse("fan"), Plane.BMC).items:
        speed = tree.reading(item + parse("speed"), Plane.BMC)
        if isinstance(speed, int | float):
            fans[item.segments[-1].key or ""] = speed
    return {**values, **({"fans": fans} if fans else {})} or None
