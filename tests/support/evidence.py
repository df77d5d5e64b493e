"""A run of four healthy simulated DGX H100, and functions that edit its answers and judge them again."""

import atexit
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from command import rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck.evaluate.verdict import Status
from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.fact import Plane
from rackcheck.probe.group import Seat
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered, Judged
from rackcheck.run.job import Job
from rackcheck.session.stored import stored_job
from rackcheck.sim import scenario
from rackcheck.views.summary import Summary, summarize

NODES = 4
RUN = "RACKCHECK_EVIDENCE_RUN"


@cache
def rack() -> Path:
    """A run of four healthy simulated DGX H100; a caller that has one already names it."""
    if RUN in os.environ:
        return Path(os.environ[RUN])
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    place = Path(kept.name)
    (place / "rack.yaml").write_text(
        f"rackcheck: 1\nscenario: four\nnodes: {{ 'n[1-{NODES}]': {{ machine: dgx-h100 }} }}\n"
    )
    with Rack(scenario.load(place / "rack.yaml"), place) as up:
        done = rackcheck("audit", "-i", up.inventory, "-p", "h100-dgx", "-q", "-o", place / "run")
        assert done.status == 0, done.out + done.err
    return place / "run"


@cache
def recorded() -> tuple[Job, tuple[Answered, ...]]:
    stored = store.find(str(rack()))
    return stored_job(stored), tuple(stored.answers())


Edit = Callable[[Answered], Answered]


def judged(
    edit: Edit = lambda each: each, *, nodes: Sequence[str] = (), planes: frozenset[Plane] | None = None,
    fleet: Sequence[Seat] = (), bmc: bool = True,
) -> Summary:  # fmt: skip
    """Judge the run's edited answers again.

    `nodes` and `planes` narrow what was collected, of an inventory of `fleet`; without `bmc` it names no BMC.
    """
    job, answers = recorded()
    if nodes:
        job = replace(job, nodes=tuple(n for n in job.nodes if n.name in nodes), expected=tuple(fleet))
    if planes is not None:
        job = replace(job, planes=planes)
    if not bmc:
        job = replace(job, nodes=tuple(replace(node, bmc=None) for node in job.nodes))
    assert job.profile is not None
    asked = {node.name for node in job.nodes}
    came = [edit(e) for e in answers if e.node in asked and e.plane in job.planes and (bmc or e.plane is Plane.OS)]
    return summarize(replay(job, came, store.find(str(rack())).done()), job.profile)


def of(summary: Summary, name: str) -> Judged:
    return next(each for each in summary.everyone if each.node == name)


def verdict(summary: Summary, node: str, rule: str) -> tuple[Status, str]:
    found = next(each for each in of(summary, node).verdicts if each.rule == rule)
    return found.status, found.reason


def taken(names: Mapping[str, str], plane: Plane | None = None) -> Edit:
    """Replace the answers of nodes by those of others."""
    _, answers = recorded()
    by = {(each.node, each.plane): each for each in answers}

    def edit(each: Answered) -> Answered:
        if each.node not in names or plane not in {None, each.plane}:
            return each
        return replace(by[names[each.node], each.plane], node=each.node)

    return edit


def rewritten(node: str, old: str, new: str) -> Edit:
    """Replace a text in everything that a node's planes returned."""

    def edit(each: Answered) -> Answered:
        if each.node != node or each.capture is None:
            return each
        text = json.dumps(each.capture.to_json())
        kind = NodeCapture if isinstance(each.capture, NodeCapture) else BmcCapture
        return replace(each, capture=kind.from_json(json.loads(text.replace(old, new))))

    return edit
