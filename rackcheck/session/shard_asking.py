"""Asks the nodes of one shard, and writes their answers to the file of its result."""

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.inventory import LOCAL, Node, Ssh
from rackcheck.model.path import parse
from rackcheck.run import resumed
from rackcheck.run.asking import ask_plane, wanted
from rackcheck.run.collecting import collect
from rackcheck.run.event import Answered, NodeRequested
from rackcheck.run.job import Again, Job
from rackcheck.session import shard_burnin
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import secrets_of
from rackcheck.shard import document, result
from rackcheck.shard.document import Shard
from rackcheck.shard.result import ResultReader, ResultWriter
from rackcheck.transport.memory import DEFAULT


def job_of(shard: Shard, nodes: Sequence[Node] = (), memory: int = DEFAULT) -> Job:
    """Return the job of a shard, by default with the nodes as they are in the shard.

    Raises UserError if this release of rackcheck asks something else than that which has made the plan.
    """
    registry = known()
    plan = registry.plan(map(parse, shard.facts), map(parse, shard.spare))
    again = Again(shard.again[0], registry.plan(map(parse, shard.again[1]))) if shard.again is not None else None
    if shard.burn is not None:
        questions = shard_burnin.questions()
    else:
        questions = document.questions_of(plan, again.plan if again is not None else None)
    if questions != shard.questions:
        raise UserError(
            f"shard {shard.number} was planned by rackcheck {shard.version}, and this is {__version__}, which asks "
            "nodes something else: use the same release and the same probes"
        )
    asked = tuple(nodes) or shard.nodes
    if shard.inband:
        asked = tuple(_here(node, shard.number) for node in asked)
    return Job(
        plan, asked, planes=shard.planes, targets=f"shard {shard.number} of {shard.count}", id=shard.run,
        secrets=secrets_of(asked, plan.planes & shard.planes), again=again, seconds=shard.seconds,
        deadline=shard.deadline, memory=memory, limits=shard.limits,
    )  # fmt: skip


def _here(node: Node, number: int) -> Node:
    """Return the node as this machine, read without SSH; raises UserError if this is another machine."""
    host = socket.gethostname()
    names = {os.environ.get("SLURMD_NODENAME", ""), host, host.partition(".")[0]} - {""}
    if not names & {node.name, node.host, node.host.partition(".")[0]}:
        raise UserError(
            f"shard {number} is asked on {node.name} itself, and this machine is {' or '.join(sorted(names))}"
        )
    return replace(node, host=LOCAL, ssh=Ssh(sudo=node.ssh.sudo))


def is_done(shard: Shard, path: Path) -> bool:
    """Whether the file of a result exists already; raises UserError if it is that of another shard."""
    if not path.exists():
        return False
    with ResultReader(path) as reader:
        if not reader.is_of(shard):
            raise UserError(f"{path} is the result of another shard: choose another file")
        for _ in reader.parts(4 * len(shard.nodes)):
            pass
        if reader.damage:
            raise UserError(f"{path} is damaged: {reader.damage}; remove it to ask the shard again")
    return True


def asked(shard: Shard, job: Job, path: Path, stop: threading.Event) -> Iterator[NodeRequested | Answered]:
    """Ask the nodes of a shard, write their answers to a file, and yield them without their replies.

    An earlier attempt that broke off is continued; after an interrupt, the answers are kept for the next attempt. A
    burn-in is not continued: its nodes may have been under load, and are unknown. Raises UserError for such an attempt,
    or if the file cannot be written.
    """
    if shard.burn is not None and result.part_of(path).exists():
        raise UserError(
            f"the burn-in of shard {shard.number} was begun and did not end, and is not run again: its nodes are "
            "unknown in the merge; plan them anew"
        )
    try:
        with ResultWriter(shard, path) as writer:
            there = _whole(writer.begin(result.of_earlier_attempt(shard, path)), job)
            yield from there
            once = shard.burn is not None
            for event in shard_burnin.burned(shard, job, stop) if once else collect(job, ask_plane, stop, there):
                if isinstance(event, NodeRequested):
                    yield event
                elif once or not resumed.was_interrupted(event):
                    yield replace(writer.write(event), capture=None)
            if once or not stop.is_set():
                writer.finish()
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def _whole(answers: Sequence[Answered], job: Job) -> list[Answered]:
    """Return the answers of an earlier attempt that need not be asked again; only the job's nodes are asked."""
    expected = {node.name: wanted(node, job) for node in job.nodes}
    return resumed.complete(answers, expected)
