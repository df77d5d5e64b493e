"""Reads the facts of a node from its replies: with the probes of each plane, and then with joins. Contacts no node."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.tree import Collected, Tree
from rackcheck.probe.collect import add_collected
from rackcheck.probe.plan import Plan
from rackcheck.run.derived_facts import derived_facts
from rackcheck.run.event import Answered

if TYPE_CHECKING:  # a worker process reads no inventory, whose modules took a quarter of the time to start it
    from rackcheck.inventory import Node


def parsed(plan: Plan, node: "Node", came: Sequence[Answered]) -> Tree:
    """Return the facts in the replies of a node, which are sorted by plane."""
    return parsed_without(missing_planes(host=bool(node.host), bmc=node.bmc is not None), plan, came)


def missing_planes(*, host: bool, bmc: bool) -> dict[Plane, Unknown]:
    """Return the planes that a node lacks in the inventory, each with the reason why its facts are unknown."""
    missing: dict[Plane, Unknown] = {}
    if not host:
        missing[Plane.OS] = missing[Plane.BURNIN] = Unknown(Reason.NOT_COLLECTED, "no host in inventory")
    if not bmc:
        missing[Plane.BMC] = Unknown(Reason.NOT_COLLECTED, "no BMC in inventory")
    return missing


def parsed_without(missing: Mapping[Plane, Unknown], plan: Plan, came: Iterable[Answered]) -> Tree:
    """Return the facts in replies that are sorted by plane; raises UserError if a stored reply is damaged."""
    failures: list[str] = []
    facts = Collected()
    silent = dict(missing)
    times: dict[Plane, str] = {}
    for answer in came:
        # The capture of a BMC that refused contains only the refusal; a node's truncated answer contains what arrived.
        if answer.capture is None or (answer.plane is Plane.BMC and answer.trouble is not None):
            silent[answer.plane] = answer.trouble or Unknown(Reason.NOT_COLLECTED)
        else:
            answer.capture.load()  # a damaged reply is an error of the run, not of a probe
            add_collected(facts, plan.probes, answer.capture, plan.wanted, failures)
            times[answer.plane] = answer.time
    times[Plane.DERIVED] = max(times.values(), default="")
    read = Tree.listed(facts.leaves, silent, facts.items, times)
    if plan.joins:
        read = read.with_more(derived_facts(plan.joins).of(read, failures))
    return replace(read, failed=tuple(failures)) if failures else read
