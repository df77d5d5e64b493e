"""From answers to verdicts: each node by itself, then those rules that look at several nodes together. Asks nobody."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from rackcheck.core import path as paths
from rackcheck.core.collect import collect
from rackcheck.core.consensus import Poll, large_enough, poll
from rackcheck.core.event import Answered, Event, FactsRead, Judged
from rackcheck.core.fact import Plane, Reason, Unknown
from rackcheck.core.group import gathered, groups
from rackcheck.core.join import derive
from rackcheck.core.profile import Rule, Scope
from rackcheck.core.tree import Leaf, Tree
from rackcheck.core.verdict import Verdict, applies, in_scope, judge, misfit, node_outcome
from rackcheck.core.waiver import granted
from rackcheck.inventory import Node
from rackcheck.job import Job


def tree_of(job: Job, node: Node, came: Iterable[Answered]) -> Tree:
    """Read a node's answers into facts; a plane that gave none says why."""
    leaves: dict[str, Leaf] = {}
    silent: dict[Plane, Unknown] = {}
    newest = ""
    if not node.host:
        silent[Plane.OS] = Unknown(Reason.NOT_COLLECTED, "no host in inventory")
    if node.bmc is None:
        silent[Plane.BMC] = Unknown(Reason.NOT_COLLECTED, "no BMC in inventory")
    for answer in sorted(came, key=lambda a: a.plane):
        # A BMC that would not talk leaves a capture of its refusal alone; a node's cut answer still holds what came.
        if answer.capture is None or (answer.plane is Plane.BMC and answer.trouble is not None):
            silent[answer.plane] = answer.trouble or Unknown(Reason.NOT_COLLECTED)
        else:
            leaves |= collect(job.plan.probes, answer.capture, answer.time, job.plan.wanted)
            newest = max(newest, answer.time)
    read = Tree(leaves, silent)
    return Tree({**leaves, **derive(job.plan.joins, read, newest)}, silent) if job.plan.joins else read


class Judging:
    """Judges nodes as they come; those that are looked at together with others once the last of them is there.

    Of a node that waits, only what the others are to know of it is held.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.judged: list[Judged] = []
        self._asked = frozenset(node.name for node in job.nodes)
        rules = job.profile.rules if job.profile is not None else ()
        self._groups = [
            (group, found)
            for group in groups(job.seats, self._asked)
            if (found := [r for r in rules if r.scope is group.scope and _scoped(r, "any", job)])
        ]
        self._shown = _patterns(rules, job) if self._groups or any(r.across for r in rules) else frozenset()
        self._held: dict[str, tuple[Judged, Tree]] = {}
        self._members: dict[str, Tree] = {}

    def take(self, node: Node, tree: Tree) -> Iterator[Event]:
        """Judge a node that has told all it will; it is told now, or at the end where others have a say."""
        yield FactsRead(node.name, tree)
        if self.job.profile is None:
            return
        rules = self._rules(node.role)
        alone = [rule for rule in rules if rule.across is None]
        verdicts = judge(alone, tree, granted(self.job.waivers, alone, node.name, self.job.day))
        judged = self._told(node.name, node.role, rules, verdicts, tree)
        if self._shown:
            self._members[node.name] = tree.narrowed(self._shown)
        if len(alone) < len(rules):
            self._held[node.name] = (judged, self._members[node.name])
            return
        self.judged.append(judged)
        yield judged

    def close(self) -> Iterator[Event]:
        """Judge what is left, in the order of the job: the nodes that waited, then racks and the fleet."""
        polls: dict[str, dict[str, Poll]] = {}
        for node in self.job.nodes:
            if node.name in self._held:
                before, tree = self._held.pop(node.name)
                if node.role not in polls:
                    polls[node.role] = self._polls(node.role)
                judged = self._together(before, tree, polls[node.role])
                self.judged.append(judged)
                yield judged
        time = max((leaf.time for tree in self._members.values() for leaf in tree.leaves.values()), default="")
        for group, rules in self._groups:
            tree = gathered(group, self.job.plan.gatherings, self._members, time)
            yield FactsRead(group.name, tree)
            verdicts = judge(rules, tree, granted(self.job.waivers, rules, group.name, self.job.day))
            outcome = node_outcome(verdicts, {rule.id: rule for rule in rules})
            judged = Judged(group.name, group.scope.value, outcome, verdicts)
            self.judged.append(judged)
            yield judged

    def _rules(self, role: str) -> list[Rule]:
        """The rules that judge a node of this role, alone or among its siblings."""
        assert self.job.profile is not None
        found = [r for r in self.job.profile.rules if r.scope is Scope.NODE and _scoped(r, role, self.job)]
        return [r for r in found if r.across is None or self._enough(r)]

    def _enough(self, rule: Rule) -> bool:
        assert rule.across is not None
        expected = [seat.name for seat in self.job.seats if seat.role == rule.across.role]
        return large_enough(rule.across, len(self._asked.intersection(expected)), len(expected))

    def _polls(self, role: str) -> dict[str, Poll]:
        """What the nodes of a role say, by the rule that asks; where it applies to some of them only, they alone."""
        trees = {node.name: self._members[node.name] for node in self.job.nodes if node.role == role}
        expected = sum(seat.role == role for seat in self.job.seats)
        found: dict[str, Poll] = {}
        for rule in self._rules(role):
            if rule.across is not None:
                voters = {name: tree for name, tree in trees.items() if applies(rule, tree)}
                found[rule.id] = poll(rule.across, voters, expected)
        return found

    def _together(self, before: Judged, tree: Tree, polls: Mapping[str, Poll]) -> Judged:
        """Judge what a node's siblings have a say in, and lay it among what was judged before."""
        rules = self._rules(before.role)
        across = [rule for rule in rules if rule.across is not None]
        known = {verdict.rule: verdict for verdict in before.verdicts}
        waived = granted(self.job.waivers, across, before.node, self.job.day)
        known |= {verdict.rule: verdict for verdict in judge(across, tree, waived, polls, known)}
        verdicts = tuple(known[rule.id] for rule in rules)
        return replace(before, verdicts=verdicts, outcome=node_outcome(verdicts, {rule.id: rule for rule in rules}))

    def _told(self, name: str, role: str, rules: list[Rule], verdicts: tuple[Verdict, ...], tree: Tree) -> Judged:
        assert self.job.profile is not None
        outcome = node_outcome(verdicts, {rule.id: rule for rule in rules})
        left = sum(rule.scope is Scope.NODE for rule in self.job.profile.rules) - len(rules)
        note = misfit(self.job.profile, tree.reading(paths.parse("node.product"), Plane.OS), role)
        if not rules:
            note = f"no rule of {self.job.profile.name} is for role {role} on these planes: nothing was judged"
        return Judged(name, role, outcome, verdicts, left, note)


def _scoped(rule: Rule, role: str, job: Job) -> bool:
    roles = rule.roles if role != "any" else ("any",)
    return in_scope(replace(rule, roles=roles), role, job.planes | {Plane.DERIVED}, job.phases)


def _patterns(rules: Iterable[Rule], job: Job) -> frozenset[str]:
    """What is to be known of a node when others are judged: by pattern, with the collections on the way."""
    wanted = {path for rule in rules if rule.across is not None for path in rule.facts()}
    wanted |= {paths.parse(need) for gathering in job.plan.gatherings for need in gathering.needs}
    return frozenset(str(each.pattern) for path in wanted for each in (path, *path.collections))
