"""An audit of a fleet whose replies are those of a stored run, and arrive at once."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rackcheck.inventory import Node
from rackcheck.model.capture import Capture
from rackcheck.model.fact import Plane, Unknown
from rackcheck.model.tree import Leaf
from rackcheck.probe.group import is_group
from rackcheck.run import store
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, Event, FactsRead, Judged, RunDone
from rackcheck.run.job import Job
from rackcheck.run.run_writer import RunWriter
from rackcheck.run.stored_replies import StoredReplies
from rackcheck.session.stored import stored_job

Consume = Callable[[Event], None]


def nothing(_: Event) -> None:
    """Does nothing with an event."""


def every(_: Answered) -> bool:
    """Whether an answer is stored: each of them."""
    return True


class Fleet:
    """A job, and the reply of each plane of its nodes, in memory as if it had just arrived."""

    def __init__(self, folder: Path) -> None:
        stored = store.find(str(folder))
        self.job: Job = replace(stored_job(stored), kept=None)
        self.given: dict[str, str] = dict(stored.head["profile"]["set"])
        self.held: dict[tuple[str, Plane], Answered] = {}
        for answer in stored.answers():
            reply: Capture | None = None
            if answer.capture is not None:
                answer.capture.load()
                reply = type(answer.capture).from_json(answer.capture.to_json())
            self.held[answer.node, answer.plane] = replace(answer, capture=reply, digest="")

    def audit(
        self, folder: Path, act: Consume = nothing, *, job: Job | None = None, stop: threading.Event | None = None,
        kept: Callable[[Answered], bool] = every,
    ) -> Iterator[Event]:  # fmt: skip
        """Audit the fleet, store each event in a folder, and yield it; `act` gets each event that was stored.

        The audit has the replies for which `kept` is False in memory only, as if they could not be stored.
        """
        job = replace(job or self.job, stored=StoredReplies())
        assert job.profile is not None
        assert job.stored is not None
        with RunWriter(folder, {"run": job.id}, job.profile.files) as writer:
            for event in audit(job, self.reply, stop or threading.Event()):
                done = writer.write(event)
                if isinstance(done, Answered) and kept(done):
                    job.stored.add(folder, done)
                act(done)
                yield done

    def reply(self, node: Node, plane: Plane, _job: Job, _stop: threading.Event) -> Answered:
        """Return the reply of a plane."""
        return self.held[node.name, plane]


Facts = tuple[dict[str, Leaf], dict[Plane, Unknown], tuple[str, ...]]
"""The leaves of a node, its silent planes, and the probes that failed."""


def verdicts(events: Iterator[Event]) -> tuple[dict[str, Judged], dict[str, Facts], RunDone]:
    """The verdicts, and the facts of each node, and the end of a run."""
    judged: dict[str, Judged] = {}
    facts: dict[str, Facts] = {}
    done: RunDone | None = None
    for event in events:
        match event:
            case Judged():
                judged[event.node] = event
            case FactsRead(node, tree) if not is_group(node):
                facts[node] = (dict(tree.leaves), dict(tree.silent), tree.failed)
            case RunDone():
                done = event
    assert done is not None
    return judged, facts, done
