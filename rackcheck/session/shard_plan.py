"""Makes a plan of an audit in parts: a folder with the beginning of its run, and a file for each shard."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.burnin.fleet import Burnin
from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.run.job import Job
from rackcheck.run.run_writer import RunWriter
from rackcheck.session import shard_burnin
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.shard import document
from rackcheck.shard.dividing import NODE, divided
from rackcheck.shard.document import Shard

RUN, SHARDS, RESULTS = "run", "shards", "results"
"""The folders of a plan: the beginning of its run, its shards, and the place for their results."""


def planned(ready: Prepared, by: str, folder: Path, burn: Burnin | None = None) -> list[Shard]:
    """Write a plan into a new folder: the beginning of its run, and a file for each shard. Contacts no node.

    With `burn`, the shards put their nodes under load. Raises UserError if its limits cannot be divided.
    """
    job = ready.job
    parts = [(reach, nodes, job.planes, False) for reach, nodes in divided(job.nodes, by)]
    if by == NODE:
        parts = _by_node(parts, job)
    loads = (
        shard_burnin.parts(ready, [nodes for _, nodes, _, _ in parts], burn)
        if burn is not None
        else [None] * len(parts)
    )
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} already exists; a plan is never overwritten")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with RunWriter(
        folder / RUN, head(ready), ready.profile.files, {file.name: file.text for file in ready.files}
    ) as writer:
        writer.write(job.started())
    spare = tuple(sorted(map(str, ready.profile.spare_facts())))
    again = (job.again.seconds, tuple(map(str, job.again.plan.wanted))) if job.again is not None else None
    questions = document.questions_of(job.plan, job.again.plan if job.again is not None else None)
    questions = shard_burnin.questions() if burn is not None else questions
    shards = [
        Shard(
            digest_of(folder), job.id, number, len(parts), __version__,
            questions,
            tuple(map(str, job.plan.wanted)), spare, planes, nodes, reach, again, job.seconds, job.deadline,
            _limits(job.limits, nodes), load, inband,
        )
        for number, ((reach, nodes, planes, inband), load) in enumerate(zip(parts, loads, strict=True), start=1)
    ]  # fmt: skip
    (folder / SHARDS).mkdir()
    (folder / RESULTS).mkdir()
    for shard in shards:
        (folder / SHARDS / f"{shard.name}.json").write_text(document.text(shard), encoding="utf-8")
    return shards


_Part = tuple[str, tuple[Node, ...], frozenset[Plane], bool]
"""What the nodes of a shard share, the nodes, their planes that are read, and whether they are read in-band."""


def _by_node(parts: Sequence[_Part], job: Job) -> list[_Part]:
    """Return a shard for each node, which is asked on the node, and one for all BMCs, which nodes need not reach.

    Raises UserError if no plane would be read on a node.
    """
    planes = job.planes & job.plan.planes - {Plane.BMC}
    found = [(nodes[0].name, nodes, planes, True) for _, nodes, _, _ in parts if nodes[0].host] if planes else []
    if not found:
        raise UserError("--by node asks each node on itself, and no plane of a node with a host would be read")
    managed = tuple(node for node in job.nodes if node.bmc is not None)
    bmc = job.planes & job.plan.planes & {Plane.BMC}
    return [*found, ("", managed, bmc, False)] if managed and bmc else found


def _limits(limits: Sequence[AskLimit], nodes: Sequence[Node]) -> tuple[AskLimit, ...]:
    """Return the limits of some nodes, with these nodes only."""
    names = {node.name for node in nodes}
    inside = (replace(limit, nodes=limit.nodes & names) for limit in limits)
    return tuple(limit for limit in inside if limit.nodes)


def digest_of(folder: Path) -> str:
    """Return the digest of a plan: that of the first file of its run, which has the digests of all others."""
    try:
        return hashlib.sha256((folder / RUN / "run.json").read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"{folder} is not a plan: cannot read {folder / RUN / 'run.json'}: {error.strerror}") from None


def shards_of(folder: Path) -> list[Shard]:
    """Return the shards of a plan; raises UserError if one is missing or belongs to another plan."""
    plan = digest_of(folder)
    found = [document.load(path) for path in sorted((folder / SHARDS).glob("*.json"))]
    for shard in found:
        if shard.plan != plan:
            raise UserError(f"{folder / SHARDS / shard.name}.json is a shard of another plan")
    missing = {number for shard in found[:1] for number in range(1, shard.count + 1)} - {each.number for each in found}
    if missing or not found:
        raise UserError(f"{folder / SHARDS} has no shard {fold(str(number) for number in missing) or 'at all'}")
    return found
