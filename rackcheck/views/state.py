"""Computes the current state of a run from its events: findings, counts and progress are available at any time. Pure.

The events come from an audit under way, or from a stored run that is judged again. Events of a second audit of some of
the nodes may follow. For each rule, the newest verdict on a node counts, as in an acceptance.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from rackcheck.evaluate.verdict import Outcome, Status, Verdict, over, worst
from rackcheck.evaluate.waiver import Waiver, standings
from rackcheck.inventory import Node, Rack
from rackcheck.model.change import Turn, turned
from rackcheck.model.fact import Plane, Reading, Unknown
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Tree
from rackcheck.probe.group import FLEET, is_group
from rackcheck.run.event import Answered, Event, FactsRead, Foreseen, Judged, NodeRequested, RunDone, RunStarted
from rackcheck.run.judging import concluded
from rackcheck.views.census import Census
from rackcheck.views.modes import Mode, mode_readings
from rackcheck.views.part_names import PartNames
from rackcheck.views.simulation import is_simulated, of_targets
from rackcheck.views.summary import Finding, FindingKey, Summary, finding, key, notes, ranked, waiver_notes

QUIET = frozenset({Status.PASS, Status.NA})
"""Verdicts that need no attention."""


@dataclass(slots=True)
class Asking:
    """One plane of a node: the times of the request and the reply on the local clock, and why data is missing."""

    requested: float | None = None
    answered: float | None = None
    trouble: Unknown | None = None


@dataclass(frozen=True, slots=True)
class Turned:
    """A verdict that differs from the verdict in the previous reading."""

    node: str
    turn: Turn


@dataclass
class Board:
    """The state of a run; `version` increases with every visible change.

    `beside` contains notes that are not in the events. `waiting` contains the nodes whose verdicts depend on nodes that
    have not replied yet, and `fresh` the nodes judged in the newest reading. `again` is the event `run started` of a
    second audit, and `turned` contains the verdicts that the second audit changed.
    """

    profile: Profile
    nodes_at: Mapping[str, Node]
    racks: Mapping[str, Rack] = field(default_factory=dict)
    waivers: Sequence[Waiver] = ()
    beside: Sequence[str] = ()
    version: int = 0
    started: RunStarted | None = None
    done: RunDone | None = None
    ended: str = ""
    simulated: bool = False
    again: RunStarted | None = None
    judged: dict[str, Judged] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    silent: dict[tuple[str, Plane], Unknown] = field(default_factory=dict)
    asking: dict[str, dict[Plane, Asking]] = field(default_factory=dict)
    counts: Counter[Status] = field(default_factory=Counter)
    turned: list[Turned] = field(default_factory=list)
    census: Census = field(default_factory=Census)
    measured: dict[str, dict[str, Reading]] = field(default_factory=dict)
    _known: Mapping[str, int] = field(init=False, repr=False)
    _names: PartNames = field(init=False, repr=False)
    _heap: dict[FindingKey, dict[str, Verdict]] = field(init=False, repr=False, default_factory=dict)
    _built: dict[FindingKey, Finding] = field(init=False, repr=False, default_factory=dict)
    _cached_summary: tuple[int, bool, Summary] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._known = {rule.id: place for place, rule in enumerate(self.profile.rules)}
        self._names = PartNames(self.profile.rules)

    def take(self, event: Event, at: float = 0.0) -> None:
        """Update the state with the next event; `at` is the time in seconds on a monotonic clock."""
        self.version += 1
        self._names.take(event)
        match event:
            case RunStarted():
                self._begin(event)
                self.simulated = self.simulated or of_targets(event.targets)
            case NodeRequested(node, plane):
                self.asking.setdefault(node, {})[plane] = Asking(requested=at)
            case Answered(node, plane):
                asking = self.asking.setdefault(node, {}).setdefault(plane, Asking())
                asking.answered, asking.trouble = at, event.trouble
            case FactsRead(node, tree):
                for plane in Plane:
                    self.silent.pop((node, plane), None)
                self.silent |= {(node, plane): why for plane, why in tree.silent.items()}
                self.simulated = self.simulated or is_simulated(tree)
                if not is_group(node):
                    self._count(node, tree)
            case Foreseen(judged):
                self.waiting.add(judged.node)
                self._judge(judged)
            case Judged():
                self.waiting.discard(event.node)
                self.fresh.add(event.node)
                self._judge(event)
            case RunDone():
                self.ended = self.ended or event.time
                self.done = event if self.again is None else self._whole(event)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the run in order."""
        return self.started.nodes if self.started is not None else ()

    @property
    def running(self) -> bool:
        """Whether the run is still in progress."""
        return self.done is None

    def due(self) -> tuple[str, ...]:
        """Return the nodes of the current audit; this is the second audit if there is one."""
        return self.again.nodes if self.again is not None else self.nodes

    def summary(self, *, every: bool = False) -> Summary:
        """Return the result so far; if `every` is true, findings that need no attention are included."""
        if self._cached_summary is None or self._cached_summary[:2] != (self.version, every):
            self._cached_summary = self.version, every, self._summary(every=every)
        return self._cached_summary[2]

    def _summary(self, *, every: bool) -> Summary:
        assert self.started is not None
        nodes = tuple(self.judged[name] for name in self.nodes if name in self.judged)
        groups = tuple(each for name, each in self.judged.items() if is_group(name))
        found = ranked(self._findings(every=every), self.profile.rules)
        verdicts = {each.node: each.verdicts for each in (*nodes, *groups)}
        stand = tuple(standings(self.waivers, verdicts, self.profile.rules, self.started.time[:10]))
        own = (*notes(nodes, self.profile, groups), *waiver_notes(stand))
        rows = () if self.running else tuple(dict.fromkeys((*self.beside, *own)))
        done = self.done or RunDone("", Outcome.INCOMPLETE)
        return Summary(self.started, nodes, done, tuple(found), rows, self.silent, stand, groups, self._names.found())

    def alike(self) -> Iterator[tuple[Verdict, Set[str]]]:
        """Yield each group of nodes or racks with the same verdict of a rule: one of the verdicts, and all names."""
        for held in self._heap.values():
            if held:
                yield next(iter(held.values())), held.keys()

    def _findings(self, *, every: bool) -> Iterator[Finding]:
        for shared, alike in self._heap.items():
            if alike and (every or shared[1] not in QUIET):
                if shared not in self._built:
                    rule = self.profile.rules[self._known[shared[0]]]
                    self._built[shared] = finding(rule, shared, list(alike.items()))
                yield self._built[shared]

    def _count(self, node: str, tree: Tree) -> None:
        place, started = self.nodes_at[node], self.again or self.started
        assert started is not None
        shape = self.racks.get(place.rack)
        row = shape.row if shape is not None else ""
        where = {"rack": place.rack, "row": row, "slot": place.slot, "pdu": place.pdu}
        planes = frozenset({*map(Plane, started.planes), Plane.DERIVED})
        self.census.take(node, place.role, tree, {k: v for k, v in where.items() if v}, planes)
        self.measured[node] = {**mode_readings(Mode.TEMPERATURE, tree), **mode_readings(Mode.POWER, tree)}

    def _begin(self, event: RunStarted) -> None:
        if self.started is None:
            self.started = event
        else:
            self.again, self.done = event, None
            self.turned.clear()
        self.fresh.clear()
        for node in event.nodes:
            self.asking[node] = {}

    def _judge(self, judged: Judged) -> None:
        before = self.judged.get(judged.node)
        if before is not None:
            self._forget(before)
        if before is not None and self.again is not None:
            judged = self._over(before, judged)
        self.judged[judged.node] = judged
        for verdict in judged.verdicts:
            self.counts[verdict.status] += 1
            if verdict.rule in self._known:
                shared = key(judged.node, verdict)
                self._heap.setdefault(shared, {})[judged.node] = verdict
                self._built.pop(shared, None)

    def _forget(self, judged: Judged) -> None:
        for verdict in judged.verdicts:
            self.counts[verdict.status] -= 1
            shared = key(judged.node, verdict)
            self._heap.get(shared, {}).pop(judged.node, None)
            self._built.pop(shared, None)

    def _over(self, before: Judged, now: Judged) -> Judged:
        """Merge the newer verdicts of a node with its earlier verdicts.

        A rule that was not judged again keeps its earlier verdict.
        """
        known = {rule.id: rule for rule in self.profile.rules}
        found = {verdict.rule: verdict for verdict in before.verdicts}
        was = {rule: verdict.status.value for rule, verdict in found.items()}
        part = now.node == FLEET and len(self.due()) < len(self.nodes)
        found = over(found, now.verdicts, part=part)
        ordered = tuple(found[rule] for rule in known if rule in found)
        self.turned = [each for each in self.turned if each.node != now.node]
        is_now = {verdict.rule: verdict.status.value for verdict in ordered}
        self.turned += [Turned(now.node, turn) for turn in turned(was, is_now)]
        left = max(before.not_in_scope - (len(ordered) - len(before.verdicts)), 0)
        merged = replace(now, verdicts=ordered, not_in_scope=left)
        return concluded(merged, known, self.profile.law)

    def _whole(self, done: RunDone) -> RunDone:
        """Return the event `run done` after a second audit, with the worst outcome of all nodes, racks and the fleet.

        A node that was not judged, or an interruption, counts as INCOMPLETE.
        """
        missing = any(node not in self.judged for node in self.nodes)
        found = [each.outcome for each in self.judged.values()]
        unsure = [Outcome.INCOMPLETE] * (missing or done.interrupted)
        return replace(done, outcome=worst([*found, *unsure]))
