"""From answers to verdicts: each node by itself, then those rules that look at several nodes together. Asks nobody."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rackcheck.core import path as paths
from rackcheck.core.among import compared
from rackcheck.core.collect import collect
from rackcheck.core.consensus import Poll, large_enough, poll
from rackcheck.core.event import Answered, Event, FactsRead, Foreseen, Judged
from rackcheck.core.fact import Plane, Reason, Unknown
from rackcheck.core.group import Gathering, gathered, groups
from rackcheck.core.held import Held, read_of
from rackcheck.core.join import derive
from rackcheck.core.memo import Memo
from rackcheck.core.plan import Plan
from rackcheck.core.profile import Rule, Scope
from rackcheck.core.reads import Reads, read_by
from rackcheck.core.tree import Later, Leaf, Tree
from rackcheck.core.verdict import Verdict, applies, in_scope, judge, misfit, node_outcome
from rackcheck.core.waiver import Granted, granted
from rackcheck.inventory import Node
from rackcheck.job import Again, Job


def tree_of(job: Job, node: Node, came: Iterable[Answered]) -> Tree:
    """Read a node's answers into facts; a plane that gave none says why."""
    answers = tuple(came)
    first = _tree(job.plan, node, (answer for answer in answers if answer.reading == 1))
    return first if job.again is None else replace(first, later=_later(job.again, node, first, answers))


def _later(again: Again, node: Node, first: Tree, answers: Sequence[Answered]) -> Later:
    """Read what was asked a second time; a plane that said nothing at first was not asked again."""
    second = {answer.plane: answer for answer in answers if answer.reading > 1}
    once = {answer.plane for answer in answers} - second.keys()
    apart = {plane: answer.apart for plane, answer in second.items() if answer.apart is not None}
    tree = _tree(again.plan, node, second.values())
    missing = {plane: Unknown(Reason.NOT_COLLECTED, "it was read once") for plane in once}
    return Later(replace(tree, silent={**missing, **tree.silent, **first.silent}), apart)


def _tree(plan: Plan, node: Node, came: Iterable[Answered]) -> Tree:
    leaves: dict[str, Leaf] = {}
    silent: dict[Plane, Unknown] = {}
    newest = ""
    if not node.host:
        silent[Plane.OS] = silent[Plane.BURNIN] = Unknown(Reason.NOT_COLLECTED, "no host in inventory")
    if node.bmc is None:
        silent[Plane.BMC] = Unknown(Reason.NOT_COLLECTED, "no BMC in inventory")
    for answer in sorted(came, key=lambda a: a.plane):
        # A BMC that would not talk leaves a capture of its refusal alone; a node's cut answer still holds what came.
        if answer.capture is None or (answer.plane is Plane.BMC and answer.trouble is not None):
            silent[answer.plane] = answer.trouble or Unknown(Reason.NOT_COLLECTED)
        else:
            leaves |= collect(plan.probes, answer.capture, answer.time, plan.wanted)
            newest = max(newest, answer.time)
    read = Tree(leaves, silent)
    return Tree({**leaves, **derive(plan.joins, read, newest)}, silent) if plan.joins else read


class _Role:
    """How nodes of a role are judged: their rules, and what is held of them for `gatherings`."""

    def __init__(self, rules: Sequence[Rule], left: int, gatherings: Iterable[Gathering]) -> None:
        self.rules, self.left = rules, left
        self.known = {rule.id: rule for rule in rules}
        self.alone = [rule for rule in rules if rule.across is None]
        self.across = [rule for rule in rules if rule.across is not None]
        votes = read_of(path for rule in self.across for path in rule.facts())
        needs = {each.name: read_of(map(paths.parse, each.needs)) for each in gatherings}
        self.reads = Reads([*map(read_by, self.alone), votes, *needs.values()])
        self.memo = Memo(self.alone, self.reads)
        self.votes = Held(votes, self.reads)
        self.seats = {name: Held(read, self.reads) for name, read in needs.items()}


class Judging:
    """Judges nodes as they come; those that are looked at together with others once the last of them is there.

    Of a node that waits, only what the others are to know of it is held, and of one that does not, what it came to:
    `judged` has no verdicts, which whoever is told of them may keep.
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
        self._gatherings = job.plan.gatherings if self._groups else ()
        self._roles: dict[str, _Role] = {}
        self._votes: dict[str, Tree] = {}
        self._members: dict[str, dict[str, Tree]] = {each.name: {} for each in self._gatherings}
        self._held: dict[str, Judged] = {}
        self._comparisons = tuple(each for each in job.plan.comparisons if each.inputs <= job.planes)
        self._compared: dict[str, Tree] = {}

    def take(self, node: Node, tree: Tree) -> Iterator[Event]:
        """Judge a node that has told all it will; it is told now, or at the end where others have a say."""
        if self._comparisons:
            self._compared[node.name] = tree
        else:
            yield from self._take(node, tree)

    def _take(self, node: Node, tree: Tree) -> Iterator[Event]:
        yield FactsRead(node.name, tree)
        if self.job.profile is None:
            return
        role = self._role(node.role)
        numbered = role.reads.of(tree)
        verdicts = role.memo.judge(tree, numbered, self._granted(role.alone, node.name))
        judged = self._told(node, role, verdicts, tree)
        for name, held in role.seats.items():
            self._members[name][node.name] = held.of(tree, numbered)
        if role.across:
            self._votes[node.name] = role.votes.of(tree, numbered)
            self._held[node.name] = judged
            yield Foreseen(judged)
            return
        self._keep(judged)
        yield judged

    def close(self) -> Iterator[Event]:
        """Judge what is left, in the order of the job: the nodes that waited, then racks and the fleet."""
        yield from self._among()
        siblings: dict[str, tuple[Reads, Memo]] = {}
        for node in self.job.nodes:
            if node.name in self._held:
                if node.role not in siblings:
                    across = self._role(node.role).across
                    reads = Reads(map(read_by, across))
                    siblings[node.role] = reads, Memo(across, reads, self._polls(node.role))
                judged = self._together(self._held.pop(node.name), *siblings[node.role])
                self._keep(judged)
                yield judged
        held = [each for role in self._roles.values() for each in (role.votes, *role.seats.values())]
        time = max((each.newest for each in held), default="")
        for group, rules in self._groups:
            leaves: dict[str, Leaf] = {}
            for each in self._gatherings:
                leaves |= gathered(group, (each,), self._members[each.name], time).leaves
            tree = Tree(leaves)
            yield FactsRead(group.name, tree)
            verdicts = judge(rules, tree, self._granted(rules, group.name))
            outcome = node_outcome(verdicts, {rule.id: rule for rule in rules})
            judged = Judged(group.name, group.scope.value, outcome, verdicts)
            self._keep(judged)
            yield judged

    def _among(self) -> Iterator[Event]:
        """Give each node what follows from all of them, and judge it; where nothing does, all were judged before."""
        trees = self._compared
        newest = max((leaf.time for tree in trees.values() for leaf in tree.leaves.values()), default="")
        more = compared(self._comparisons, self.job.seats, trees, newest)
        for node in self.job.nodes:
            if node.name in trees:
                tree = trees.pop(node.name)
                yield from self._take(node, replace(tree, leaves={**tree.leaves, **more[node.name]}))

    def _keep(self, judged: Judged) -> None:
        self.judged.append(replace(judged, verdicts=()))

    def _granted(self, rules: Sequence[Rule], name: str) -> Mapping[str, Granted]:
        return granted(self.job.waivers, rules, name, self.job.day) if self.job.waivers else {}

    def _role(self, name: str) -> _Role:
        """The rules that judge a node of this role, alone or among its siblings."""
        assert self.job.profile is not None
        if name not in self._roles:
            rules = [rule for rule in self.job.profile.rules if rule.scope is Scope.NODE]
            found = [rule for rule in rules if _scoped(rule, name, self.job)]
            kept = tuple(rule for rule in found if rule.across is None or self._enough(rule))
            self._roles[name] = _Role(kept, len(rules) - len(kept), self._gatherings)
        return self._roles[name]

    def _enough(self, rule: Rule) -> bool:
        assert rule.across is not None
        expected = [seat.name for seat in self.job.seats if seat.role == rule.across.role]
        return large_enough(rule.across, len(self._asked.intersection(expected)), len(expected))

    def _polls(self, role: str) -> dict[str, Poll]:
        """What the nodes of a role say, by the rule that asks; where it applies to some of them only, they alone."""
        trees = {node.name: self._votes[node.name] for node in self.job.nodes if node.role == role}
        expected = sum(seat.role == role for seat in self.job.seats)
        found: dict[str, Poll] = {}
        for rule in self._role(role).across:
            assert rule.across is not None
            voters = {name: tree for name, tree in trees.items() if applies(rule, tree)}
            found[rule.id] = poll(rule.across, voters, expected)
        return found

    def _together(self, before: Judged, reads: Reads, memo: Memo) -> Judged:
        """Judge what a node's siblings have a say in, and lay it among what was judged before."""
        role, tree = self._role(before.role), self._votes[before.node]
        known = {verdict.rule: verdict for verdict in before.verdicts}
        found = memo.judge(tree, reads.of(tree), self._granted(role.across, before.node), known)
        known |= {verdict.rule: verdict for verdict in found}
        verdicts = tuple(known[rule.id] for rule in role.rules)
        return replace(before, verdicts=verdicts, outcome=node_outcome(verdicts, role.known))

    def _told(self, node: Node, role: _Role, verdicts: tuple[Verdict, ...], tree: Tree) -> Judged:
        assert self.job.profile is not None
        note = misfit(self.job.profile, tree.reading(paths.parse("node.product"), Plane.OS), node.role)
        if not role.rules:
            note = f"no rule of {self.job.profile.name} is for role {node.role} on these planes: nothing was judged"
        return Judged(node.name, node.role, node_outcome(verdicts, role.known), verdicts, role.left, note)


def _scoped(rule: Rule, role: str, job: Job) -> bool:
    roles = rule.roles if role != "any" else ("any",)
    planes = job.planes | {Plane.DERIVED}
    return in_scope(replace(rule, roles=roles), role, planes, job.phases, again=job.again is not None)
