"""Racks and fleets that satisfy a rule about them, and variants with one slightly wrong fact on one node.

Facts of a group are computed from its nodes. So the test machines are nodes: the rule is checked through the
gatherings and as an audit judges it. A fact of a group without an entry here raises NotImplementedError.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from machines import Machine, put, tree, without
from near_values import ABSENT
from rule_bench import HIDDEN, Gap
from satisfied import cases

from rackcheck.evaluate.verdict import Status, Verdict
from rackcheck.inventory import Node
from rackcheck.model import operator
from rackcheck.model.fact import Absent, Plane, Reading, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile, Rule, Scope, Severity
from rackcheck.probe.group import Aggregate
from rackcheck.probe.registry import registry
from rackcheck.run.event import Judged
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging

Nodes = tuple[Machine, ...]
TRAY = 4
"""GPUs of one node of a rack that is made here."""


def _gpus(value: Reading) -> Nodes:
    """Nodes with four GPUs each; the first has the remainder."""
    assert isinstance(value, int)
    trays, rest = divmod(max(value, 0), TRAY)
    sizes = ([rest] if rest or trays < 2 else []) + [TRAY] * trays
    return tuple(_node(size) for size in (sizes if len(sizes) > 1 else [*sizes, 0]))


def _node(gpus: int, **leaves: Reading) -> Machine:
    machine: Machine = {parse("gpu"): tuple(map(str, range(gpus)))}
    for number in range(gpus):
        for leaf, reading in leaves.items():
            machine = put(machine, parse(f"gpu/{number}.{leaf.replace('__', '.')}"), reading)
    return machine


def _domains(value: Reading) -> Nodes:
    """Two nodes for each NVLink domain; domains are the cliques of one cluster."""
    assert isinstance(value, int)
    cliques = [number for number in range(max(value, 1)) for _ in range(2)]
    if value < 1:
        return tuple(_node(TRAY, fabric__cluster=ABSENT, fabric__clique=ABSENT) for _ in cliques)
    return tuple(_node(TRAY, fabric__cluster="00000001-0000", fabric__clique=clique) for clique in cliques)


def _leaks(value: Reading) -> Nodes:
    """Nodes with two detectors each, the first of which report the leaks."""
    assert isinstance(value, int)
    nodes: list[Machine] = []
    for number in range(max(3, (value + 1) // 2)):
        machine: Machine = {}
        for key in (0, 1):
            state = "Warning" if 2 * number + key < value else "OK"
            machine = put(machine, parse(f"leak/{key}.state"), state)
            machine = put(machine, parse(f"leak/{key}.fitted"), "Enabled")
        nodes.append(machine)
    return tuple(nodes)


def _alike(path: str) -> Callable[[Reading], Nodes]:
    """Three nodes of the same version, or one of them with another."""

    def made(value: Reading) -> Nodes:
        versions = ("1.0", "1.0", "1.0" if value is True else "1.1")
        return tuple(put({}, parse(path), version) for version in versions)

    return made


def _serials(value: Reading) -> Nodes:
    serials = ("one", "two", "three" if value is True else "two")
    return tuple(put({}, parse("node.serial"), serial) for serial in serials)


def _addresses(value: Reading) -> Nodes:
    """Three nodes with an IPv4 address each; two of them have the same address if the list is not empty."""
    own = ("10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24" if value == () else "10.0.0.2/24")
    nodes = []
    for address in own:
        machine = put({parse("nic.bond"): ()}, parse("nic.interface/eth0.pci"), "0000:18:00.0")
        nodes.append(put(machine, parse("nic.interface/eth0.ipv4"), (address,)))
    return tuple(nodes)


def _cables(value: Reading) -> Nodes:
    """Four nodes with two cables each; both cables of one node lead to one switch if the list is not empty."""
    nodes = []
    for number in range(4):
        first = "leaf-2" if value != () and number == 1 else "leaf-1"
        machine = put({}, parse("nic.lldp/eth0.switch"), first)
        nodes.append(put(machine, parse("nic.lldp/eth1.switch"), "leaf-2"))
    return tuple(nodes)


def _hostnames(value: Reading) -> Nodes:
    """Three nodes with a host name each; two of them have the same name if the list is not empty."""
    names = ("a", "b", "c" if value == () else "b")
    return tuple(put({}, parse("node.hostname"), name) for name in names)


REPEATED = "fleet.address.repeated is 10.0.0.2: n1 eth0, n2 eth0"
"""What a verdict states of the nodes that `_addresses` makes for any value of the list that is not empty."""
MISPLACED = "fleet.cables.misplaced is n1 eth0 at leaf-2, on most nodes at leaf-1"
"""What a verdict states of the nodes that `_cables` makes for any value of the list that is not empty."""

RENAMED = "fleet.hostname.repeated is b: n1, n2"
"""What a verdict states of the nodes that `_hostnames` makes for any value of the list that is not empty."""


MADE: Mapping[str, Callable[[Reading], Nodes]] = {
    "rack.gpu_count": _gpus,
    "rack.nvlink_domains": _domains,
    "rack.leaks": _leaks,
    "rack.alike.bmc": _alike("firmware.bmc"),
    "rack.alike.bios": _alike("firmware.bios"),
    "rack.alike.vbios": _alike("gpu/0.vbios"),
    "fleet.gpu_count": _gpus,
    "fleet.distinct_serials": _serials,
    "fleet.address.repeated": _addresses,
    "fleet.cables.misplaced": _cables,
    "fleet.hostname.repeated": _hostnames,
}
"""By fact of a group: functions that make nodes for which it has a value."""


@dataclass(frozen=True)
class Hall:
    """A rule of a group, the rules that it needs, and the gatherings that it is judged through."""

    rule: Rule
    needs: Sequence[Rule]
    gatherings: tuple[Aggregate, ...]

    def judged(self, nodes: Nodes) -> Verdict:
        """The verdict of an audit of these nodes on the rule."""
        known, rules = registry(), (*self.needs, self.rule)
        profile = Profile("proof", "1", "", rules)
        chosen = known.plan(profile.facts())
        names = {each.name for each in chosen.gatherings}
        plan = replace(chosen, gatherings=tuple(each for each in self.gatherings if each.name in names))
        asked = tuple(Node(f"n{number}", host="n", rack="a") for number in range(len(nodes)))
        planes = frozenset({Plane.OS, Plane.BMC})
        judging = Judging(
            Job(plan, asked, profile, planes, frozenset({self.rule.phase}), id="proof", time="2026-01-01")
        )
        events = [
            e
            for node, machine in zip(asked, nodes, strict=True)
            for e in judging.take(node, tree(machine, known.catalogue))
        ]
        events += judging.close()
        name = "@fleet" if self.rule.scope is Scope.FLEET else "@rack:a"
        (found,) = (event for event in events if isinstance(event, Judged) and event.node == name)
        return next(verdict for verdict in found.verdicts if verdict.rule == self.rule.id)


def realised(machine: Machine) -> Nodes | None:
    """Nodes whose group has a machine's facts; None where no nodes can: a fact of a group is never absent."""
    made: list[Nodes] = []
    for path, reading in machine.items():
        if isinstance(reading, Absent | Unknown) or (isinstance(reading, int) and reading < 0):
            return None
        if str(path) not in MADE:
            raise NotImplementedError(f"no nodes are made of which {path} is known")
        made.append(MADE[str(path)](reading))
    return tuple(_laid(several) for several in zip_longest(*made))


def _laid(several: Sequence[Machine | None]) -> Machine:
    found: Machine = {}
    for each in several:
        for path, reading in (each or {}).items():
            found = {**found, path: _longer(reading, found.get(path, ()))}
    return found


def _longer(one: Reading, other: Reading) -> Reading:
    return other if isinstance(one, tuple) and isinstance(other, tuple) and len(other) > len(one) else one


def proven(rule: Rule, needs: Sequence[Rule], gatherings: Sequence[Aggregate]) -> Iterator[str]:
    """Yield the faults found in a group rule, in its gatherings or in the judge; nothing where it is proven."""
    hall = Hall(rule, needs, tuple(gatherings))
    soft = Status.WARN if rule.severity is Severity.ADVISORY or rule.from_memory else Status.FAIL
    seen, good = set[Status](), None
    for case in cases(rule, registry().catalogue, {}):
        if isinstance(case, Gap):
            yield f"{rule.place}: {rule.id}: {case.text}"
            continue
        nodes = realised(case.machine)
        if nodes is None:
            continue
        good = nodes if good is None and case.status is Status.PASS else good
        status = soft if case.status is Status.FAIL else case.status
        seen.add(status)
        says = case.says.replace("fleet.address.repeated is another", REPEATED)
        says = says.replace("fleet.cables.misplaced is another", MISPLACED)
        says = says.replace("fleet.hostname.repeated is another", RENAMED)
        yield from _wrong(hall, case.what, nodes, status, says)
    if good is None or soft not in seen:
        yield f"{rule.place}: {rule.id}: no nodes {'pass' if good is None else 'fail'} it"
        return
    broken = 0
    for what, nodes in _changed(good):
        verdict = hall.judged(nodes)
        broken += verdict.status in {soft, Status.WARN}
        if verdict.status is Status.UNKNOWN or (
            verdict.status is not Status.PASS and not _reason_matches(rule, verdict.reason)
        ):
            yield f"{rule.place}: {rule.id}: {what}: {verdict.status} ({verdict.reason})"
    if not broken:
        yield f"{rule.place}: {rule.id}: no change of one fact of one node fails it"
    yield from _hidden(hall, good)


def _changed(good: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Change one fact of the last node, or remove one of its items."""
    *others, machine = good
    for path, reading in machine.items():
        if isinstance(reading, tuple) and str(path.pattern) not in OTHERS:
            changes = {f"{path} has one fewer": without(machine, path.item(reading[-1]))} if reading else {}
        else:
            values = (other for other in OTHERS[str(path.pattern)] if other != reading)
            changes = {f"{path} is {other}": put(machine, path, other) for other in values}
        for what, changed in changes.items():
            yield f"{what} on the last node", (*others, changed)


def _reason_matches(rule: Rule, reason: str) -> bool:
    """Whether a reason names a fact of the rule with its value, and the expected value."""
    return any(
        f"{clause.fact} is " in reason and operator.expectation(test, clause.kind) in reason
        for clause in rule.clauses
        for test in clause.tests
    )


OTHERS: Mapping[str, Sequence[Reading]] = {
    "gpu/*.fabric.cluster": ("00000002-0000",),
    "gpu/*.fabric.clique": (7,),
    "gpu/*.vbios": ("1.2",),
    "leak/*.state": ("Critical", "OK"),
    "leak/*.fitted": ("Absent",),
    "firmware.bmc": ("1.2",),
    "firmware.bios": ("1.2",),
    "node.serial": ("one",),
    "node.hostname": ("a",),
    "nic.interface/*.pci": ("0000:19:00.0",),
    "nic.interface/*.ipv4": (("10.0.0.1/24",),),
    "nic.lldp/*.switch": ("leaf-1", "leaf-2"),
}
"""Another reading of each node fact that group facts are computed from."""


def _hidden(hall: Hall, good: Nodes) -> Iterator[str]:
    """Hide each fact of a node in turn: the verdict must be unknown and name the node, or else stay PASS."""
    number = len(good) - 1
    unknown = 0
    for path in good[number]:
        less = (*good[:number], {**good[number], path: HIDDEN})
        verdict = hall.judged(less)
        unknown += verdict.status is Status.UNKNOWN
        if verdict.status not in {Status.UNKNOWN, Status.PASS}:
            yield f"{hall.rule.place}: {hall.rule.id}: {path} of n{number} unknown: {verdict.status} ({verdict.reason})"
        elif verdict.status is Status.UNKNOWN and f"n{number}: {HIDDEN.detail}" not in verdict.reason:
            yield f"{hall.rule.place}: {hall.rule.id}: {path} of n{number} unknown: {verdict.reason!r} names no node"
    if not unknown:
        yield f"{hall.rule.place}: {hall.rule.id}: nothing that a node keeps to itself makes it unknown"


def _wrong(hall: Hall, what: str, nodes: Nodes, status: Status, says: str) -> Iterator[str]:
    verdict = hall.judged(nodes)
    if verdict.status is not status:
        yield f"{hall.rule.place}: {hall.rule.id}: {what}: {verdict.status} ({verdict.reason}) instead of {status}"
    elif says not in verdict.reason:
        yield f"{hall.rule.place}: {hall.rule.id}: {what}: {verdict.reason!r} does not contain {says!r}"
