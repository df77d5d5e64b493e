"""Cost of judging 10,000 nodes by 300 rules as one fleet, compared with judging each node by itself, and with CEL.

In both fleets 62 % of the nodes share one failure, 30 % have a failure of their own, 2 % flap; serials, UUIDs,
addresses and the time are each node's own. Every node is made of the facts of a simulated DGX H100, newly for each: no
text of one node is the same object in another. The rules are the first 300 of shipped profiles, with those across
nodes, of racks and of the fleet.

    model   720 facts a node are read: of each collection a few items; quickly changing facts are equal on all nodes
    dgx     all facts of a DGX that rules read, over 4,000; temperatures, counters and the like are each node's own

Only judging is measured: from a node's facts to the verdicts of the node, of racks and of the fleet. Reading a node's
facts from its answers is measured separately, on few nodes. Each way runs in a separate process, so that its peak of
memory is its own. The peers are two runtimes of CEL, with the part of the rules that CEL can express; they are measured
if the path of a Python that has them is given:

    python3 -m venv peer && peer/bin/pip install cel-python==0.5.0 cel-expr-python==0.1.3
    python benchmarks/judge.py peer/bin/python
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from random import Random

from rackcheck import inventory
from rackcheck.evaluate.verdict import Status, judge
from rackcheck.inventory import BmcAccess, Node
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import VOLATILE, Absent, Class, Plane, Reading, Unknown
from rackcheck.model.profile import Phase, Profile, Rule, RuleSelection, Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, Event, Judged
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging, tree_of
from rackcheck.session.secrets import secrets_of
from rackcheck.sim import child

NODES, RULES = 10_000, 300
SAMPLE = 200
"""Number of nodes for the slower ways."""

CEL = 50
"""Number of nodes for CEL."""

FACTS = 720
"""Number of facts of a node of the model that rules read."""

DGX = 500
"""Number of whole DGX that are judged."""

READ = 10
"""Number of nodes whose facts are read from their answers."""

RACK = 8
"""Number of nodes in a rack."""

PROFILES = (
    "h200-dgx", "h100-dgx", "xeon-performance", "cross-plane", "bmc-security", "nodes-alike", "infiniband", "roce",
    "kubernetes-node", "slurm-node", "gb200-nvl72", "a100-dgx", "epyc-server", "virtualized-guest",
)  # fmt: skip
FLEET = """\
rackcheck: 1
profile: fleet
version: "1"
title: The fleet as a whole
rules:
  fleet.gpus: { title: All its GPUs, scope: fleet, fact: fleet.gpu_count, is: 80000 }
  fleet.serials: { title: No node twice, scope: fleet, fact: fleet.distinct_serials, is: true }
"""
NAMES = ("serial", "uuid", "guid", "address", "mac ")
BOTH = frozenset({Plane.OS, Plane.BMC})


def profile(place: Path) -> Profile:
    """Return the rules: those of the fleet, then the shipped profiles' rules about a node's configuration."""
    catalogue = registry().catalogue
    (place / "fleet.yaml").write_text(FLEET)
    own = library.load(str(place / "fleet.yaml"), catalogue)
    rules = {rule.id: rule for rule in own.rules}
    for name in PROFILES:
        for rule in library.load(name, catalogue).rules:
            if rule.phase is Phase.CONFIG and {"any", "compute"}.intersection(rule.roles):
                rules.setdefault(rule.id, rule)
    return replace(own, rules=tuple(rules.values())[:RULES])


def answers(place: Path, found: Profile) -> tuple[Job, list[Answered]]:
    """Collect the facts that the rules read from one simulated machine."""
    file = place / "one.yaml"
    file.write_text('rackcheck: 1\nscenario: one\nnodes: { "n1": { machine: dgx-h100 } }\n')
    with child.running(str(file)) as listed:
        asked = tuple(inventory.load(listed).nodes.values())
        job = Job(registry().plan(found.facts()), asked, found, secrets=secrets_of(asked, BOTH))
        return job, [e for e in audit(job, ask_plane, threading.Event()) if isinstance(e, Answered)]


class Fleet:
    """Nodes made of one machine's facts, the same for each seed; each is made on access."""

    def __init__(self, base: Tree, rules: tuple[Rule, ...], nodes: int, *, moves: bool) -> None:
        draw = Random(7)  # noqa: S311  a model, no secret
        self._kinds = [(leaf.kind, leaf.plane) for leaf in base.leaves.values()]
        self._leaves = pickle.dumps([(text, leaf.reading, leaf.source) for text, leaf in base.leaves.items()])
        at = {text: place for place, text in enumerate(base.leaves)}
        self._own = [at[text] for text, leaf in base.leaves.items() if _varies(leaf, moves=moves)]
        self._faults = [(at[text], reading) for text, reading in faults(base, rules)]
        chosen = range(1, len(self._faults))
        self._sick = frozenset(draw.sample(range(nodes), int(nodes * 0.62)))
        self._alone = {n: draw.choice(chosen) for n in range(nodes) if draw.random() < 0.3}
        self._flaps = {n: draw.choice(chosen) for n in draw.sample(range(nodes), nodes // 50)}

    def tree(self, node: int) -> Tree:
        """Return the facts of a node."""
        value = pickle.loads(self._leaves)  # noqa: S301  what was written above
        for at in self._own:
            text, reading, source = value[at]
            value[at] = text, _other(reading, node + at), source
        for fault in ([0] if node in self._sick else []) + [f[node] for f in (self._alone, self._flaps) if node in f]:
            at, reading = self._faults[fault]
            value[at] = value[at][0], reading, value[at][2]
        time = f"2026-01-01T00:{node // 60 % 60:02}:{node % 60:02}Z"
        both = zip(value, self._kinds, strict=True)
        return Tree({text: Leaf(reading, *kind, source, time) for (text, reading, source), kind in both})


def _varies(leaf: Leaf, *, moves: bool) -> bool:
    """Whether a fact is each node's own: identities, and quickly changing facts on request."""
    if isinstance(leaf.reading, (bool, tuple, Absent, Unknown)) or leaf.reading == 0:
        return False
    named = leaf.kind.cls is Class.IDENTITY and any(w in leaf.kind.help.lower() for w in NAMES)
    return named or (moves and leaf.kind.cls in VOLATILE and not isinstance(leaf.reading, str))


def _other(reading: Reading, number: int) -> Reading:
    """Change a reading to that of another node: up to 3 % of a number, the last letters of a name."""
    match reading:
        case float():
            return reading * (1 + (number * 7919 % 601 - 300) / 10_000)
        case int():
            return reading + number * 7919 % (max(reading // 30, 1) + 1)
        case str():
            return f"{reading[:-6]}{number * 7919 % 1_000_000:06}"
    return reading


def faults(base: Tree, rules: tuple[Rule, ...]) -> Iterator[tuple[str, Reading]]:
    """Find readings that each make a passing rule fail: for rules about one fact of the node."""
    for rule in rules:
        if rule.look is None and rule.across is None and len(rule.clauses) == 1:
            text = str(rule.clauses[0].fact)
            leaf = base.leaves.get(text)
            if leaf is not None and not isinstance(leaf.reading, (Absent, Unknown)):
                changed = Tree({**base.leaves, text: replace(leaf, reading=_worse(leaf.reading))})
                before, after = judge([rule], base)[0].status, judge([rule], changed)[0].status
                if before is Status.PASS and after in {Status.FAIL, Status.WARN}:
                    yield text, _worse(leaf.reading)


def _worse(reading: Reading) -> Reading:
    match reading:
        case bool():
            return not reading
        case int() | float():
            return reading + 1
        case str():
            return f"{reading}0"
    return ()


@dataclass(frozen=True)
class Bench:
    """The rules, the run of one machine, and its answers."""

    job: Job
    answers: list[Answered]
    base: Tree
    moves: bool

    @classmethod
    def made(cls, fleet: str) -> "Bench":
        """Collect from a simulated machine."""
        with tempfile.TemporaryDirectory() as place:
            job, came = answers(Path(place), profile(Path(place)))
        tree = tree_of(job, job.nodes[0], came)
        assert job.profile is not None
        return cls(job, came, tree if fleet == "dgx" else _model(tree, job.profile.rules), fleet == "dgx")

    def fleet(self, nodes: int) -> Fleet:
        """Return a fleet of this many nodes."""
        return Fleet(self.base, self.rules, nodes, moves=self.moves)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules."""
        assert self.job.profile is not None
        return self.job.profile.rules

    def nodes(self, count: int) -> tuple[Node, ...]:
        """Return the nodes of the fleet, this many in each rack."""
        bmc = BmcAccess("https://bmc.invalid")
        return tuple(Node(f"n{n:05}", host="n.invalid", bmc=bmc, rack=f"r{n // RACK:04}") for n in range(count))


def _model(tree: Tree, rules: tuple[Rule, ...]) -> Tree:
    """Reduce the items of each collection until the rules read FACTS facts or a few more."""
    keys: dict[str, list[str]] = {}
    for text in tree.leaves:
        for collection, key in paths.parse(text).items:
            if key not in keys.setdefault(collection, []):
                keys[collection].append(key)
    for few in range(1, max(map(len, keys.values())) + 1):
        kept = {collection: frozenset(found[:few]) for collection, found in keys.items()}
        leaves = {
            text: leaf if not isinstance(leaf.reading, tuple) or leaf.kind.type is not Type.COLLECTION
            else replace(leaf, reading=tuple(key for key in leaf.reading if key in kept.get(text, ())))
            for text, leaf in tree.leaves.items()
            if all(key in kept[collection] for collection, key in paths.parse(text).items)
        }  # fmt: skip
        found = Tree(leaves, tree.silent)
        if _read(found, rules) >= FACTS:
            return found
    return tree


def _read(tree: Tree, rules: tuple[Rule, ...]) -> int:
    """Count the facts of a node that rules read."""
    wanted = {str(fact.pattern) for rule in rules for fact in rule.facts()}
    return sum(str(paths.parse(text).pattern) in wanted for text in tree.leaves)


def ours(bench: Bench, count: int) -> None:
    """Judge a fleet as an audit does, and print time and memory."""
    fleet, nodes = bench.fleet(count), bench.nodes(count)
    judging = Judging(replace(bench.job, nodes=nodes))
    before, wall, cpu, verdicts = _peak(), 0.0, 0.0, 0
    for number, node in enumerate(nodes):
        tree = fleet.tree(number)
        began, busy = time.perf_counter(), time.process_time()
        verdicts += _counted(judging.take(node, tree))
        wall, cpu = wall + time.perf_counter() - began, cpu + time.process_time() - busy
    began, busy = time.perf_counter(), time.process_time()
    verdicts += _counted(judging.close())
    last = time.perf_counter() - began
    wall, cpu = wall + last, cpu + time.process_time() - busy
    value = f"{len(bench.base.leaves):,} facts each, {_read(bench.base, bench.rules):,} of them read"
    print(f"{count:,} nodes, {value}: {verdicts:,} verdicts on one core")
    print(f"judged as an audit does    {wall:8.2f} s, {cpu:.2f} s of the core, {verdicts / wall:,.0f} verdicts/s")
    print(f"  of it racks and siblings {last:8.2f} s")
    print(f"  a node                   {wall / count * 1e3:8.2f} ms")
    print(f"  peak of memory           {_peak():8.0f} MiB, {before:.0f} MiB of them before the first node")


def _counted(events: Iterator[Event]) -> int:
    return sum(len(event.verdicts) for event in events if isinstance(event, Judged))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def plain(bench: Bench, count: int) -> None:
    """Judge each node of a sample by itself, and print the estimate for the fleet; also ours on the same nodes."""
    fleet, nodes, took = bench.fleet(SAMPLE), bench.nodes(SAMPLE), [0.0, 0.0]
    rules = [rule for rule in bench.rules if rule.across is None and rule.scope is Scope.NODE]
    judging = Judging(replace(bench.job, nodes=nodes))
    for number, node in enumerate(nodes):
        tree = fleet.tree(number)
        began = time.perf_counter()
        judge(rules, tree)
        between = time.perf_counter()
        _counted(judging.take(node, tree))
        took = [took[0] + between - began, took[1] + time.perf_counter() - between]
    alone, ours = (each / SAMPLE for each in took)
    print(f"judged without memory      {alone * 1e3:8.2f} ms a node on {SAMPLE}, {alone * count:,.0f} s for all")
    print(f"  with it, the same nodes  {ours * 1e3:8.2f} ms a node, {alone / ours:.1f} times as fast")
    began = time.perf_counter()
    for _ in range(READ):
        tree_of(bench.job, bench.job.nodes[0], bench.answers)
    took_to_read = (time.perf_counter() - began) / READ
    print(f"facts read from answers    {took_to_read * 1e3:8.2f} ms a node, {took_to_read * count:,.0f} s for all")


def peer(bench: Bench, python: str) -> None:
    """Evaluate the rules that CEL can express, on some nodes."""
    asked = [(rule, text) for rule in bench.rules if (text := _expression(rule, bench.base))]
    fleet = bench.fleet(CEL)
    rules = [rule for rule, _ in asked]
    trees = [fleet.tree(number) for number in range(CEL)]
    began = time.perf_counter()
    held = sum(verdict.status is Status.PASS for tree in trees for verdict in judge(rules, tree))
    took = (time.perf_counter() - began) / CEL
    print(f"{len(asked)} rules that CEL can express, on {CEL} nodes")
    print(f"ours, without memory       {took * 1e3:8.2f} ms a node, {held} hold")
    value = {"expressions": [text for _, text in asked], "nodes": [_facts(rules, tree) for tree in trees]}
    script = str(Path(__file__).with_name("judge_cel.py"))
    done = subprocess.run([python, script], input=json.dumps(value), stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    for line in map(json.loads, done.stdout.splitlines()):
        if "version" not in line:
            print(f"{line['name']}: not installed")
            continue
        name, each = f"{line['name']} {line['version']}", line["evaluated"] / CEL
        what = f"{line['true']} hold, {line['failed']} without a result; theirs / ours {each / took:.1f}"
        print(f"{name:<26} {each * 1e3:8.2f} ms a node, {what}")
        print(f"  and to convert the facts {line['brought'] / CEL * 1e3:8.2f} ms a node")


OPERATORS = {"is": "==", "is-not": "!=", "at-least": ">=", "at-most": "<=", "above": ">", "below": "<"}


def _expression(rule: Rule, base: Tree) -> str:
    """Return a rule in CEL: one fact, of the node or of every item, whose value is known and compared with another."""
    plain = rule.across is None and rule.when is None and not rule.needs and len(rule.clauses) == 1
    if not plain or rule.scope is not Scope.NODE or rule.look not in (None, _every(rule)) or rule.unset:
        return ""
    (clause,) = rule.clauses
    value = _facts([rule], base)
    fits = clause.kind.type in {Type.FLAG, Type.INTEGER, Type.QUANTITY, Type.TEXT}
    if not value or not fits or not all(t.op in OPERATORS and _plain(t.operand) for t in clause.tests):
        return ""
    name = json.dumps(next(iter(value)))
    tests = [f"{{}} {OPERATORS[t.op]} {json.dumps(t.operand)}" for t in clause.tests]
    if rule.look is None:
        return " && ".join(test.format(f"facts[{name}]") for test in tests)
    return f"facts[{name}].all(v, {' && '.join(test.format('v') for test in tests)})"


def _plain(operand: object) -> bool:
    return isinstance(operand, (bool, int, float, str)) and operand != inf


def _every(rule: Rule) -> RuleSelection | None:
    """Return the simplest check of the same items."""
    return None if rule.look is None else RuleSelection("each", rule.look.collection, rule.look.plane)


def _facts(rules: list[Rule], tree: Tree) -> dict[str, object]:
    """Return a node's values of the facts of these rules; leaves out a fact that is unknown for any item."""
    found: dict[str, object] = {}
    for rule in rules:
        fact, plane = rule.clauses[0].fact, rule.clauses[0].plane
        if rule.look is None:
            value: object = tree.reading(fact, plane)
            several = [value]
        else:
            several = [tree.reading(item + fact, plane) for item in tree.select(rule.look.collection, plane).items]
            value, fact = several, rule.look.collection.item("*") + fact
        if several and not any(isinstance(each, (Absent, Unknown)) for each in several):
            found[str(fact)] = value
    return found


WAYS = {"ours": ours, "plain": plain}


def main() -> None:
    """Measure each way in a separate process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("peer", nargs="?", help="a Python with CEL")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--way", choices=[*WAYS, "peer"], help="measure only this one")
    parser.add_argument("--fleet", choices=["model", "dgx"], default="model", help="which nodes")
    given = parser.parse_args()
    if given.way == "peer":
        peer(Bench.made(given.fleet), given.peer)
    elif given.way:
        WAYS[given.way](Bench.made(given.fleet), given.nodes)
    else:
        ways = [("ours", "model", given.nodes), ("plain", "model", given.nodes)]
        ways += [("ours", "dgx", min(given.nodes, DGX)), ("plain", "dgx", given.nodes)]
        for way, fleet, count in [*ways, *([("peer", "dgx", CEL)] if given.peer else [])]:
            words = [sys.executable, __file__, *([given.peer] if given.peer else [])]
            print(f"\n{fleet}, {way}:", flush=True)
            subprocess.run([*words, "--way", way, "--fleet", fleet, "--nodes", str(count)], check=True)  # noqa: S603
        if not given.peer:
            print("CEL is not measured: pass the path of a Python with cel-python==0.5.0 and cel-expr-python==0.1.3")


if __name__ == "__main__":
    main()
