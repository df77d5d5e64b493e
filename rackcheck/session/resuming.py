"""Continues a run that was cut off or interrupted: with its own profile and waivers, and the nodes of the inventory."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.run import resumed, store
from rackcheck.run.asking import wanted
from rackcheck.run.event import Answered
from rackcheck.session.audit_setup import Prepared
from rackcheck.session.cli_choices import Chosen
from rackcheck.session.output import note
from rackcheck.session.secrets import secrets_of
from rackcheck.session.stored import stored_job
from rackcheck.signoff import acceptance


def prepare(stored: store.Stored, choose: Callable[[tuple[str, ...]], Chosen], *, simulated: bool) -> Prepared:
    """Prepare the rest of a run; this contacts no node and writes no file.

    `choose` returns the nodes with these names. Nodes of a simulated rack have other addresses each time. Raises
    UserError if the run is complete, or if a node is not the one that the run has read.
    """
    if stored.burned_in:
        raise UserError(f"{stored.folder.name} is a burn-in, which is never continued: begin a new one")
    ended = stored.done()
    if ended is not None and not ended.interrupted:
        raise UserError(f"{stored.folder.name} is complete: nothing is left to ask")
    for name in acceptance.names():
        if any(member.run == stored.folder.name for member in acceptance.find(name).runs):
            raise UserError(
                f"{stored.folder.name} is part of acceptance {name}, whose runs never change: begin a new run"
            )
    job = stored_job(stored)
    chosen = choose(tuple(node.name for node in job.nodes))
    nodes = {node.name: node for node in chosen.nodes}
    if not simulated:
        same_addresses(job.nodes, nodes, f"run {stored.folder.name}")
    asked = replace(
        job, nodes=tuple(nodes[node.name] for node in job.nodes), limits=chosen.limits, kept=None,
        secrets=secrets_of(chosen.nodes, job.plan.planes & job.planes),
    )  # fmt: skip
    there = resumed.complete(_readable(stored), {node.name: wanted(node, asked) for node in asked.nodes})
    return Prepared(
        asked, stored.folder, {}, (), (), chosen.racks, pdus=chosen.pdus, resumed=stored, there=tuple(there)
    )


def _readable(stored: store.Stored) -> list[Answered]:
    """Return the answers of a run; one whose reply is missing or changed is left out, with a note."""
    found: list[Answered] = []
    for answer in stored.answered():
        try:
            if answer.digest:
                capture = stored.capture(answer.digest, answer.plane)
                found.append(replace(answer, capture=capture))
            else:
                found.append(answer)
        except UserError as error:
            note(f"rackcheck: the {answer.plane.value} plane of {answer.node} is asked again: {error}")
    return found


def same_addresses(before: Iterable[Node], nodes: Mapping[str, Node], place: str) -> None:
    """Raise UserError if a node has another address now than in a run or a shard: it may be another machine."""
    for was in before:
        now = nodes[was.name]
        for what, old, new in (
            ("host", was.host, now.host),
            ("BMC", was.bmc.url if was.bmc else "", now.bmc.url if now.bmc else ""),
        ):
            if old != new:
                raise UserError(
                    f"the {what} of {was.name} was {old or 'not set'} in {place}, and is now {new or 'not set'}: "
                    "it may be another machine, so begin anew"
                )


def left(ready: Prepared) -> str:
    """Return what is left to ask: `5 of 8 planes, of dgx[03-08]`."""
    keys = {resumed.key(answer) for answer in ready.there}
    every = [(node.name, *plane) for node in ready.job.nodes for plane in sorted(wanted(node, ready.job))]
    missing = [each for each in every if each not in keys and not _is_over(each, ready)]
    if not missing:
        return f"nothing of {len(every)} planes: the run is only judged"
    return f"{len(missing)} of {len(every)} planes, of {fold({name for name, *_ in missing})}"


def _is_over(missing: tuple[str, Plane, int], ready: Prepared) -> bool:
    """Whether a second reading is not asked for, because the first one returned nothing."""
    name, plane, reading = missing
    return reading > 1 and any((each.node, each.plane) == (name, plane) and not each.has_reply for each in ready.there)
