"""Cost of finding duplicate identities among 10,000 nodes, and of comparing each host with its BMC.

Every node is made of a simulated DGX H100 of which all identities were collected, and each has its own identities.
The core, and the computation alone, are measured and compared with judging as many nodes by 300 rules in `judge.py`.

    python benchmarks/identity.py
"""

import argparse
import re
import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from judge import BOTH, Bench, ours

from rackcheck import inventory
from rackcheck.model.fact import Class
from rackcheck.model.path import parse
from rackcheck.model.profile import Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import FLEET, Distilled, NodeGroup, Seat, gathered
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.session.secrets import secrets_of
from rackcheck.sim import child

NODES, TIMES = 10_000, 3
TIME = "2026-01-01T00:00:00Z"


def base() -> dict[str, Leaf]:
    """Collect all identities of one simulated machine, and the facts for reading them."""
    known = registry()
    reads = {
        path for each in (*known.joins, *known.gatherings) if each.name.startswith("identity") for path in each.reads
    }
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "one.yaml"
        file.write_text("rackcheck: 1\nscenario: one\nnodes: { n1: { machine: dgx-h100 } }\n")
        with child.running(str(file)) as listed:
            asked = tuple(inventory.load(listed).nodes.values())
            job = Job(known.plan(map(parse, sorted(reads))), asked, secrets=secrets_of(asked, BOTH))
            came = [each for each in audit(job, ask_plane, threading.Event()) if isinstance(each, Answered)]
    leaves = tree_of(job, job.nodes[0], came).leaves
    return {text: leaf for text, leaf in leaves.items() if str(parse(text).pattern) in reads}


def made(found: Mapping[str, Leaf], number: int) -> Tree:
    """Return a node with its own identities, equal on both planes."""
    return Tree({text: _own(text, leaf, number) for text, leaf in found.items()})


def _own(text: str, leaf: Leaf, number: int) -> Leaf:
    value = leaf.reading
    if (
        leaf.kind.cls is not Class.IDENTITY
        or not isinstance(value, str)
        or not re.search(r"serial|uuid|guid|mac", text)
    ):
        return leaf
    if text.endswith("uuid"):
        return replace(leaf, reading=f"{value[:-8]}{number:08x}")
    if ":" in value:
        mac = f":{number // 256:02x}:{number % 256:02x}:"
        return replace(leaf, reading=value.replace(":0001:", f":{number:04x}:").replace(":00:01:", mac))
    return replace(leaf, reading=f"{value}{number:05}")


def one(found: Mapping[str, Leaf], nodes: int) -> tuple[float, float, float]:
    """Return the seconds of one pass: hosts against BMCs, the stored values of each node, and the fleet."""
    known = registry()
    (host,) = (each for each in known.joins if each.name == "identity_host")
    (fleet,) = (each for each in known.gatherings if each.name == "identity_fleet")
    held: dict[str, Tree | Distilled] = {}
    joins = holds = 0.0
    for number in range(nodes):
        tree = made(found, number)
        began = time.process_time()
        derive([host], tree)
        joins += time.process_time() - began
        began = time.process_time()
        held[f"n{number:05}"] = fleet.distilled(tree)
        holds += time.process_time() - began
    began = time.process_time()
    value = gathered(NodeGroup(FLEET, Scope.FLEET, tuple(map(Seat, held))), [fleet], held, TIME)
    last = time.process_time() - began
    assert value.leaves["fleet.identity.repeated"].reading == (), value.leaves["fleet.identity.repeated"].reading
    return joins, holds, last


def main() -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, default=NODES)
    nodes = parser.parse_args().nodes
    found = base()
    passes = [one(found, nodes) for _ in range(TIMES)]
    joins, holds, last = (statistics.median(each) for each in zip(*passes, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{nodes:,} nodes, medians of {TIMES}, peak {peak:,.0f} MiB; {len(found)} facts per node")
    print(f"hosts against BMCs    {joins:7.2f} s, {joins / nodes * 1e6:,.0f} us a node")
    print(f"stored per node       {holds:7.2f} s, {holds / nodes * 1e6:,.0f} us a node")
    print(f"duplicates            {last:7.2f} s")
    bench = Bench.made("model")
    rules = tuple(rule for rule in bench.rules if not rule.built_in)
    assert bench.job.profile is not None
    job = replace(bench.job, profile=replace(bench.job.profile, rules=rules))
    job = replace(job, plan=registry().plan(job.profile.facts() if job.profile is not None else ()))
    ours(replace(bench, job=job), nodes)


if __name__ == "__main__":
    main()
