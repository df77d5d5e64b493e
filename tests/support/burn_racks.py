"""Simulated racks under load, judged without a network: records, facts, comparisons and verdicts as in a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rackcheck.inventory import Node
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Plane, Reading
from rackcheck.model.path import parse
from rackcheck.model.profile import Phase
from rackcheck.model.tree import Tree
from rackcheck.parse.burnin.plan import Tier, document
from rackcheck.probe.group import Seat
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.event import Answered, FactsRead, Judged
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging, tree_of
from rackcheck.sim import faults, machine
from rackcheck.sim.behaviour import Ill, Station
from rackcheck.sim.burn_parts import LoadableParts, of_station
from rackcheck.sim.load import SimLoad

TIME = "2026-11-22T12:00:00Z"
PERIOD = 0.45
"""Seconds between two samples: the fewest samples that the comparisons accept, so that judging is quick."""


@cache
def station() -> Station:
    return Station("n01", 1, machine.load(machine.shipped()["dgx-h100"], "n01", 1))


@cache
def parts() -> LoadableParts:
    """A node with eight GPUs, of which only four processors and two ports are simulated."""
    whole = of_station(station())
    return replace(whole, cpus=(0, 1, 2, 3), numa={"0": (0, 1), "1": (2, 3)}, ports=whole.ports[:2])


@cache
def job(nodes: int) -> Job:
    profile = library.load("burn-in", registry().catalogue)
    made = tuple(Node(f"n{number:02}", host="n.invalid") for number in range(1, nodes + 1))
    return Job(
        registry().plan(profile.facts()), made, profile, frozenset({Plane.BURNIN}), frozenset({Phase.BURN_IN}),
        expected=tuple(Seat(node.name, node.role, node.rack) for node in made),
    )  # fmt: skip


def ills(kind: str, **words: str) -> tuple[Ill, ...]:
    """Return a fault as a scenario defines it."""
    return faults.lay(station(), kind, words).ills


def capture(
    number: int, seed: int, laid: Sequence[Ill] = (), *, chips: int = 0, tier: Tier = Tier.SMOKE
) -> BurnCapture:
    """The output of one node; `chips` is the seed of its parts' properties."""
    plan = document(tier, seed=seed)
    return BurnCapture(tuple(SimLoad(parts(), plan, tuple(laid), number, chips, PERIOD).records()))


def tree(nodes: int, number: int, found: BurnCapture) -> Tree:
    """Its facts."""
    of = job(nodes)
    node = of.nodes[number - 1]
    return tree_of(of, node, [Answered(node.name, Plane.BURNIN, TIME, None, found)])


@dataclass(frozen=True)
class Seen:
    """The outcome of a rack: for each node the rules that fail and those that are unknown, each with its places."""

    failed: Mapping[str, Mapping[str, tuple[str, ...]]]
    unknown: Mapping[str, Mapping[str, tuple[str, ...]]]
    trees: Mapping[str, Tree]

    def fact(self, node: str, path: str) -> Reading:
        plane = Plane.DERIVED if ".among." in path or ".beside" in path else Plane.BURNIN
        return self.trees[node].reading(parse(path), plane)


def judged(trees: Sequence[Tree]) -> Seen:
    """Judge a rack with the shipped profile."""
    of = job(len(trees))
    judging = Judging(of)
    events = [event for node, each in zip(of.nodes, trees, strict=True) for event in judging.take(node, each)]
    events += judging.close()
    rows = [event for event in events if isinstance(event, Judged)]
    read = {event.node: event.tree for event in events if isinstance(event, FactsRead)}
    return Seen(_of_status(rows, Status.FAIL), _of_status(rows, Status.UNKNOWN), read)


def _of_status(rows: Iterable[Judged], status: Status) -> dict[str, dict[str, tuple[str, ...]]]:
    found = {
        one.node: {
            verdict.rule: tuple(each.item for each in verdict.evidence if each.status is status)
            for verdict in one.verdicts
            if verdict.status is status
        }
        for one in rows
    }
    return {node: rules for node, rules in found.items() if rules}
