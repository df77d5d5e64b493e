"""Sessions with a burn-in: simulated nodes under load, whose records arrive in pieces as from real ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from burn_racks import PERIOD, TIME, ills, parts
from burn_racks import job as rack_of
from desks import MadeDesk, job_of, small

from rackcheck.evaluate.verdict import Outcome, worst
from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase
from rackcheck.parse.burnin.plan import Tier, document, starts
from rackcheck.run.event import Answered, Burning, Event, NodeRequested, RunDone
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging, tree_of
from rackcheck.sim.behaviour import Ill
from rackcheck.sim.load import SimLoad
from rackcheck.views.burning import Burns

SEED = 4242
PROFILE = """\
rackcheck: 1
profile: under-load
version: 2026.11
rules:
  burnin.no_crash:
    title: Nothing crashed under load
    severity: blocker
    phase: burn-in
    no: burnin.fault
    fact: name
    one-of: [crash, hang, lost, cuda, nvml]
  burnin.gpu_correct:
    title: No GPU gave a wrong result
    severity: blocker
    phase: burn-in
    each: burnin.gpu
    allow-empty: true
    fact: mismatches
    is: 0
    fix: Swap the GPU.
  burnin.gpu_rate:
    title: Every GPU was measured
    severity: major
    phase: burn-in
    each: burnin.gpu
    allow-empty: true
    fact: tensor.rate
    present: true
  burnin.nic_stayed_up:
    title: No network port went down under load
    severity: major
    phase: burn-in
    each: burnin.nic
    allow-empty: true
    where: { fact: was_up, is: true }
    fact: stayed
    is: true
"""
"""Burn-in rules for tests only: the shipped rules may grow."""

FLIPPED = ("n02", "gpu/5")
"""The place of the injected fault."""

Records = tuple[Mapping[str, Any], ...]


@cache
def job(nodes: int) -> Job:
    """A burn-in of this many nodes."""
    made = job_of(rack_of(nodes).nodes, small(PROFILE), frozenset({Plane.BURNIN}))
    return replace(made, phases=frozenset({Phase.BURN_IN}))


def flip() -> tuple[Ill, ...]:
    return ills("gpu-bitflip", gpu="5")


def records(number: int, nodes: int, laid: tuple[Ill, ...] = (), *, gpus: int = 8, seed: int = SEED) -> Records:
    """The records of one of several nodes; the nodes start one after the other."""
    begin = starts([node.name for node in job(nodes).nodes])[f"n{number:02}"]
    plan = document(Tier.SMOKE, seed=seed, start=begin)
    of = replace(parts(), gpus=parts().gpus[:gpus])
    return tuple(SimLoad(of, plan, laid, number, 0, PERIOD).records())


def events(values: Mapping[str, Records], *, until: float | None = None, piece: int = 100) -> Iterator[Event]:
    """The events of a burn-in; with `until` those of its first seconds, during the load."""
    of: Job = job(len(values))
    yield of.started()
    yield from (NodeRequested(name, Plane.BURNIN) for name in values)
    pieces = sorted(
        (
            (some[-1]["t"], name, some)
            for name, every in values.items()
            for some in _pieces(_until(every, until), piece)
        ),
        key=lambda each: each[:2],
    )
    yield from (Burning(name, some) for _, name, some in pieces)
    if until is not None:
        return
    answers = {name: Answered(name, Plane.BURNIN, TIME, None, BurnCapture(every)) for name, every in values.items()}
    yield from answers.values()
    judging = Judging(of)
    for node in of.nodes:
        yield from judging.take(node, tree_of(of, node, [answers[node.name]]))
    yield from judging.close()
    yield RunDone(TIME, worst(judged.outcome for judged in judging.judged))


def _until(every: Records, until: float | None) -> Records:
    return every if until is None else tuple(record for record in every if record["t"] <= until)


def _pieces(every: Records, size: int) -> Iterator[Records]:
    return (every[at : at + size] for at in range(0, len(every), size))


@cache
def three() -> Mapping[str, Records]:
    """Three nodes of eight GPUs, one of which flips a bit."""
    return {f"n{number:02}": records(number, 3, flip() if number == 2 else ()) for number in (1, 2, 3)}


def burnt(values: Mapping[str, Records], **more: Any) -> MadeDesk:
    """A session with a burn-in, or with its first seconds (`until`) and the load still running."""
    until = more.pop("until", None)
    of = job(len(values))
    made: Sequence[Event] = tuple(events(values, until=until))
    if until is not None:
        made = (*made, RunDone(TIME, Outcome.INCOMPLETE, interrupted=True))
        more = {"replays": False, "hold": lambda event: isinstance(event, RunDone), **more}
    assert of.profile is not None
    return MadeDesk(of.profile, {node.name: node for node in of.nodes}, made, **more)


def burns(values: Mapping[str, Records], *, until: float | None = None) -> Burns:
    """A burn-in after these records."""
    found = Burns()
    for event in events(values, until=until):
        found.take(event)
    return found
