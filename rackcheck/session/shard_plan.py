"""Makes a plan of an audit in parts: a folder with the beginning of its run, and a file for each shard."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.burnin.fleet import Burnin
from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fold import fold
from rackcheck.run.run_writer import RunWriter
from rackcheck.session import shard_burnin
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.shard import document
from rackcheck.shard.dividing import divided
from rackcheck.shard.document import Shard

RUN, SHARDS, RESULTS = "run", "shards", "results"
"""The folders of a plan: the beginning of its run, its shards, and the place for their results."""


def planned(ready: Prepared, by: str, folder: Path, burn: Burnin | None = None) -> list[Shard]:
    """Write a plan into a new folder: the beginning of its run, and a file for each shard. Contacts no node.

    With `burn`, the shards put their nodes under load. Raises UserError if its limits cannot be divided.
    """
    parts = divided(ready.job.nodes, by)
    loads = shard_burnin.parts(ready, [nodes for _, nodes in parts], burn) if burn is not None else [None] * len(parts)
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} already exists; a plan is never overwritten")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with RunWriter(
        folder / RUN, head(ready), ready.profile.files, {file.name: file.text for file in ready.files}
    ) as writer:
        writer.write(ready.job.started())
    job = ready.job
    spare = tuple(sorted(map(str, ready.profile.spare_facts())))
    again = (job.again.seconds, tuple(map(str, job.again.plan.wanted))) if job.again is not None else None
    questions = document.questions_of(job.plan, job.again.plan if job.again is not None else None)
    questions = shard_burnin.questions() if burn is not None else questions
    shards = [
        Shard(
            digest_of(folder), job.id, number, len(parts), __version__,
            questions,
            tuple(map(str, job.plan.wanted)), spare, job.planes, nodes, reach, again, job.seconds, job.deadline,
            _limits(job.limits, nodes), load,
        )
        for number, ((reach, nodes), load) in enumerate(zip(parts, loads, strict=True), start=1)
    ]  # fmt: skip
    (folder / SHARDS).mkdir()
    (folder / RESULTS).mkdir()
    for shard in shards:
        (folder / SHARDS / f"{shard.name}.json").write_text(document.text(shard), encoding="utf-8")
    return shards


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
