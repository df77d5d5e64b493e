"""Judges the replies of nodes: first each node alone, then with the rules that compare several nodes.

Contacts no node.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rackcheck.evaluate.consensus import Poll, large_enough, poll
from rackcheck.evaluate.input_numbers import Reads, read_by
from rackcheck.evaluate.narrowed import TreeNarrower, read_of
from rackcheck.evaluate.silence import ExcusedReader, Silences, excused_facts, excused_reads
from rackcheck.evaluate.verdict import Outcome, Verdict, applies, conclude, in_scope, judge, misfit
from rackcheck.evaluate.verdict_cache import Memo
from rackcheck.evaluate.waiver import Granted, granted
from rackcheck.inventory import Node
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.fit import Match, ProfileFit, fit, kind
from rackcheck.model.profile import FIRST, Phase, Profile, Rule, Scope
from rackcheck.model.sibling_silence import ENTRY, FACT
from rackcheck.model.tree import Later, Leaf, Tree
from rackcheck.parse.burnin.label import labelled
from rackcheck.probe.compare import compared
from rackcheck.probe.group import FLEET, Aggregate, Distilled, NodeGroup, gathered, groups, is_group
from rackcheck.probe.plan import Plan
from rackcheck.run.event import Answered, Event, FactsRead, Foreseen, Judged
from rackcheck.run.job import Job
from rackcheck.run.kept_facts import KeptFacts
from rackcheck.run.kept_replies import kept_replies
from rackcheck.run.reading import parsed

Parse = Callable[[Plan, Node, Sequence[Answered]], Tree]
"""A function that returns the facts in the replies of a node to one plan, which are sorted by plane."""


def tree_of(job: Job, node: Node, came: Iterable[Answered], parse: Parse = parsed) -> Tree:
    """Parse the replies of a node, and return its facts; for a plane without facts, the reason is returned.

    Facts derived from a plane that the job does not read are left out. `parse` is called for replies whose facts are
    kept neither in memory nor on disk.
    """
    answers = tuple(came)
    plan, mine = readings(job, answers)[0]
    first = _tree(plan, node, mine, job.kept, parse)
    return first if job.again is None else replace(first, later=_later(job, node, first, answers, parse))


def readings(job: Job, came: Sequence[Answered]) -> list[tuple[Plan, list[Answered]]]:
    """Return the plan of each reading, and the replies to it, sorted by plane."""
    found = [(job.asked, [answer for answer in came if answer.reading == 1])]
    if job.again is not None:
        found.append((job.again.plan, [*{answer.plane: answer for answer in came if answer.reading > 1}.values()]))
    return [(plan, sorted(mine, key=lambda answer: answer.plane)) for plan, mine in found]


def _later(job: Job, node: Node, first: Tree, answers: Sequence[Answered], parse: Parse) -> Later:
    """Return the facts of the second reading; if a plane was not read again, its facts are unknown."""
    plan, second = readings(job, answers)[1]
    once = {answer.plane for answer in answers} - {answer.plane for answer in second}
    apart = {answer.plane: answer.apart for answer in second if answer.apart is not None}
    tree = _tree(plan, node, second, job.kept, parse)
    missing = {plane: Unknown(Reason.NOT_COLLECTED, "the fact was read only once") for plane in once}
    return Later(replace(tree, silent={**missing, **tree.silent, **first.silent}), apart)


def _tree(plan: Plan, node: Node, answers: Sequence[Answered], kept: KeptFacts | None, parse: Parse) -> Tree:
    """Return the facts that this process keeps, or else those kept on disk, or else those parsed from the replies."""

    def read() -> Tree:
        lasting = kept is not None and kept_replies.read_from_store(answers)
        if kept is None or not lasting:
            return parse(plan, node, answers)
        return kept.tree(plan, node, answers, lambda: parse(plan, node, answers))

    return kept_replies.tree(plan, node, answers, read)


class _Role:
    """The rules that judge nodes of a role, and the facts that fleet and rack rules need from these nodes."""

    def __init__(self, rules: Sequence[Rule], left: int, gatherings: Iterable[Aggregate]) -> None:
        self.rules, self.left = rules, left
        self.known = {rule.id: rule for rule in rules}
        excused = excused_facts(rules)
        self.alone = [rule for rule in rules if rule.across is None]
        self.across = [rule for rule in rules if rule.across is not None]
        votes = read_of(path for rule in self.across for path in rule.facts() | rule.kin())
        needs = {each.name: read_of(map(paths.parse, each.reads)) for each in gatherings if each.distil is None}
        self.reads = Reads([*map(read_by, self.alone), votes, *needs.values(), *map(excused_reads, excused)])
        self.excused = ExcusedReader(excused, self.reads)
        self.memo = Memo(self.alone, self.reads)
        self.votes = TreeNarrower(votes, self.reads)
        self.seats = {name: TreeNarrower(read, self.reads) for name, read in needs.items()}


class Judging:
    """Judges each node when its replies are complete; rules that compare nodes are judged after all replies.

    To save memory, only the facts that comparisons need are kept of a pending node, and only the outcome of a finished
    node. `judged` contains no verdicts: the caller gets them in the events.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.judged: list[Judged] = []
        self._asked = frozenset(node.name for node in job.nodes)
        self._planes = job.planes & job.plan.planes
        self._groups = self._judged_together()
        self._gatherings = job.plan.gatherings if self._groups else ()
        self._roles: dict[tuple[str, frozenset[Plane]], _Role] = {}
        self._votes: dict[str, Tree] = {}
        self._members: dict[str, dict[str, Tree | Distilled]] = {each.name: {} for each in self._gatherings}
        self._held: dict[str, Judged] = {}
        self._newest = ""
        self._comparisons = tuple(each for each in job.plan.comparisons if each.inputs <= job.planes)
        self._compared: dict[str, Tree] = {}
        self._fits: dict[str, ProfileFit] = {}
        fleet = (rule for _, rules in self._groups for rule in rules)
        self._silences = Silences() if any(str(fact) == FACT for rule in fleet for fact in rule.facts()) else None

    def _judged_together(self) -> list[tuple[NodeGroup, list[Rule]]]:
        """Return the racks and the fleet with their rules.

        If not all nodes are read, the built-in fleet rules are judged on the nodes that are read.
        """
        rules = self.job.profile.rules if self.job.profile is not None else ()
        found: list[tuple[NodeGroup, list[Rule]]] = []
        for group in groups(self.job.seats, self._asked):
            mine = [r for r in rules if r.scope is group.scope and self._scoped(r, "any", self._planes)]
            if mine:
                found.append((group, mine))
        whole = any(group.name == FLEET for group, _ in found)
        part = [r for r in rules if r.built_in and r.scope is Scope.FLEET and self._scoped(r, "any", self._planes)]
        if part and not whole and len(self.job.seats) > 1 and self._asked:
            seats = tuple(seat for seat in self.job.seats if seat.name in self._asked)
            found.append((NodeGroup(FLEET, Scope.FLEET, seats), part))
        return found

    def take(self, node: Node, tree: Tree) -> Iterator[Event]:
        """Judge a node whose replies are complete; if its verdicts depend on other nodes, `close` yields its events."""
        if self._comparisons:
            self._compared[node.name] = tree
        else:
            yield from self._take(node, tree)

    def _take(self, node: Node, tree: Tree) -> Iterator[Event]:
        if Plane.BURNIN in self.job.planes:
            tree = tree.with_more(labelled(tree.leaves))
        yield FactsRead(node.name, tree)
        if self.job.profile is None:
            return
        role = self._role(node)
        numbered = role.reads.of(tree)
        verdicts = role.memo.judge(tree, numbered, self._granted(role.alone, node.name))
        judged = self._verdict_event(node, role, verdicts, tree)
        if self._silences is not None:
            self._silences.take(node.role, node.name, role.excused.of(tree, numbered))
        for name, held in role.seats.items():
            self._members[name][node.name] = held.of(tree, numbered)
        for each in self._gatherings:
            if each.distil is not None:
                self._members[each.name][node.name] = own = each.distilled(tree)
                self._newest = max(self._newest, own.newest)
        if role.across:
            self._votes[node.name] = role.votes.of(tree, numbered)
            self._held[node.name] = judged
            yield Foreseen(judged)
            return
        self._keep(judged)
        yield judged

    def close(self) -> Iterator[Event]:
        """Judge the pending nodes, in the order of the job; after them judge the racks, and last the fleet."""
        yield from self._among()
        siblings: dict[int, tuple[Reads, Memo]] = {}
        for node in self.job.nodes:
            if node.name in self._held:
                role = self._role(node)
                if id(role) not in siblings:
                    reads = Reads(map(read_by, role.across))
                    siblings[id(role)] = reads, Memo(role.across, reads, self._polls(node))
                judged = self._together(role, self._held.pop(node.name), *siblings[id(role)])
                self._keep(judged)
                yield judged
        held = [each for role in self._roles.values() for each in (role.votes, *role.seats.values())]
        time = max((self._newest, *(each.newest for each in held)))
        for group, rules in self._groups:
            leaves: dict[str, Leaf] = {}
            for each in self._gatherings:
                leaves |= gathered(group, (each,), self._members[each.name], time).leaves
            if self._silences is not None and group.name == FLEET:
                expected = Counter(seat.role for seat in self.job.seats)
                leaves[FACT] = Leaf(
                    self._silences.reading(expected), ENTRY.kind, ENTRY.plane, f"from the facts of {FLEET}"
                )
            tree = Tree(leaves)
            yield FactsRead(group.name, tree)
            verdicts = judge(rules, tree, self._granted(rules, group.name))
            assert self.job.profile is not None
            judged = concluded(
                Judged(group.name, group.scope.value, Outcome.INCOMPLETE, verdicts, fit=self._fit_of(group)),
                {rule.id: rule for rule in rules}, self.job.profile.law,
            )  # fmt: skip
            self._keep(judged)
            yield judged

    def _among(self) -> Iterator[Event]:
        """Add the facts that are derived from all nodes, and judge each node; without such facts, do nothing."""
        trees = self._compared
        newest = max((time for tree in trees.values() for time in tree.times.values()), default="")
        more = compared(self._comparisons, self.job.seats, trees)
        for node in self.job.nodes:
            if node.name in trees:
                tree = trees.pop(node.name)
                yield from self._take(
                    node,
                    replace(
                        tree, leaves={**tree.leaves, **more[node.name]}, times={**tree.times, Plane.DERIVED: newest}
                    ),
                )

    def _keep(self, judged: Judged) -> None:
        self.judged.append(replace(judged, verdicts=()))

    def _granted(self, rules: Sequence[Rule], name: str) -> Mapping[str, Granted]:
        return granted(self.job.waivers, rules, name, self.job.day) if self.job.waivers else {}

    def _role(self, node: Node) -> _Role:
        """Return the rules for nodes that have the role of this node and the same planes to read."""
        assert self.job.profile is not None
        planes = self._asked_of(node)
        key = node.role, planes
        if key not in self._roles:
            rules = [rule for rule in self.job.profile.rules if rule.scope is Scope.NODE]
            found = [rule for rule in rules if self._scoped(rule, node.role, planes)]
            kept = tuple(rule for rule in found if rule.across is None or self._enough(rule))
            left = sum(not rule.built_in for rule in rules) - sum(not rule.built_in for rule in kept)
            self._roles[key] = _Role(kept, left, self._gatherings)
        return self._roles[key]

    def _asked_of(self, node: Node) -> frozenset[Plane]:
        """Return the planes that this run reads on a node, among the planes that the inventory sets for the node."""
        has = {Plane.OS, Plane.BURNIN} if node.host else set[Plane]()
        return self._planes & (has | ({Plane.BMC} if node.bmc is not None else set()))

    def _scoped(self, rule: Rule, role: str, planes: frozenset[Plane]) -> bool:
        """Whether a rule is judged on nodes of a role.

        A built-in rule is judged only if it needs no planes except `planes`; any other rule may use all planes of the
        job.
        """
        job = self.job
        if rule.built_in and len(job.seats) > 1 and ALONE in map(str, rule.facts()):
            return False
        roles = rule.roles if role != "any" else ("any",)
        bounds = planes if rule.built_in else job.planes
        return in_scope(
            replace(rule, roles=roles), role, bounds | {Plane.DERIVED}, job.phases, again=job.again is not None
        )

    def _enough(self, rule: Rule) -> bool:
        assert rule.across is not None
        expected = [seat.name for seat in self.job.seats if seat.role == rule.across.role]
        return large_enough(rule.across, len(self._asked.intersection(expected)), len(expected))

    def _polls(self, one: Node) -> dict[str, Poll]:
        """Return the votes on each rule by the nodes with this node's role.

        The values of a node to which a rule does not apply are not counted for this rule.
        """
        trees = {node.name: self._votes[node.name] for node in self.job.nodes if node.role == one.role}
        expected = sum(seat.role == one.role for seat in self.job.seats)
        found: dict[str, Poll] = {}
        for rule in self._role(one).across:
            assert rule.across is not None
            voters = {name: tree for name, tree in trees.items() if applies(rule, tree)}
            found[rule.id] = poll(rule.across, voters, expected)
        return found

    def _together(self, role: _Role, before: Judged, reads: Reads, memo: Memo) -> Judged:
        """Judge the rules that compare a node with other nodes, and add these verdicts to the earlier verdicts."""
        assert self.job.profile is not None
        tree = self._votes[before.node]
        known = {verdict.rule: verdict for verdict in before.verdicts}
        found = memo.judge(tree, reads.of(tree), self._granted(role.across, before.node), known)
        known |= {verdict.rule: verdict for verdict in found}
        verdicts = tuple(known[rule.id] for rule in role.rules)
        return concluded(replace(before, verdicts=verdicts), role.known, self.job.profile.law)

    def _verdict_event(self, node: Node, role: _Role, verdicts: tuple[Verdict, ...], tree: Tree) -> Judged:
        profile = self.job.profile
        assert profile is not None
        note = ""
        if profile.law == FIRST:
            note = misfit(profile, tree.reading(paths.parse("node.product"), Plane.OS), node.role)
        if all(rule.built_in for rule in role.rules):
            note = self._nothing(node)
        self._fits[node.name] = found = self._fit(node, tree)
        judged = Judged(node.name, node.role, Outcome.INCOMPLETE, verdicts, role.left, note, fit=found)
        return concluded(judged, role.known, profile.law)

    def _fit_of(self, group: NodeGroup) -> ProfileFit:
        """Return the fit of a rack or of the fleet: whether the profile is for any of its nodes."""
        assert self.job.profile is not None
        fits = [self._fits[seat.name] for seat in group.seats if seat.name in self._fits]
        fits = [each for each in fits if each.match is not Match.NOT_STATED]
        if not fits or any(each.match is not Match.OTHER and each.match is not Match.UNKNOWN for each in fits):
            return of_profile(self.job.profile)
        return next((each for each in fits if each.match is Match.UNKNOWN), fits[0])

    def _nothing(self, node: Node) -> str:
        """Return why no rule of the profile applies to a node, and which command to run next."""
        profile = self.job.profile
        assert profile is not None
        phases = sorted(phase.value for phase in self.job.phases)
        mine = [rule for rule in profile.own if rule.scope is Scope.NODE and rule.phase in self.job.phases]
        if not mine:
            other = (
                "; rackcheck burnin judges the rules of phase burn-in"
                if any(r.phase is Phase.BURN_IN for r in profile.own)
                else ""
            )
            return f"no rule of {profile.name} is of phase {', '.join(phases)}: nothing was judged{other}"
        if not any("any" in rule.roles or node.role in rule.roles for rule in mine):
            message = f"no rule of {profile.name} is for role {node.role}: nothing was judged"
            return f"{message}; rackcheck profile list shows other profiles"
        asked = " and ".join(sorted(plane.value for plane in self.job.planes))
        message = f"no rule of {profile.name} is for role {node.role} on the planes read ({asked}): nothing was judged"
        return f"{message}; choose other --planes, or more nodes"

    def _fit(self, node: Node, tree: Tree) -> ProfileFit:
        """Return whether the profile is for this machine; nodes with a role outside `applies-to` are not compared."""
        profile = self.job.profile
        assert profile is not None
        found = of_profile(profile)
        roles = profile.applies_to.get("role", (COMPUTE,))
        if profile.law == FIRST or not found.decides or node.role not in roles:
            return found
        found = fit(profile.applies_to, tree, self._asked_of(node))
        if found.match is not Match.OTHER:
            return found
        hint = (
            "did you mean -i FILE or --rack NAME?" if node.is_local else "rackcheck profile list shows other profiles"
        )
        words = f"{found.words}{_beside(profile, tree)}"
        return ProfileFit(Match.OTHER, f"not {kind(profile.title, profile.name)} ({words}); {hint}")


ALONE = "node.identity.repeated"
"""The path of the fact that lists parts of a node with the same identity, such as the same serial number.

A built-in rule judges `node.identity.repeated` only if the inventory has a single node; for several nodes, a fleet rule
compares the parts of all nodes.
"""

COMPUTE = "compute"
"""The role that a profile applies to if the profile sets no role."""


def concluded(judged: Judged, rules: Mapping[str, Rule], law: int) -> Judged:
    """Return a copy of `judged` with the outcome that follows from its verdicts, and the reason if it is INCOMPLETE."""
    found = conclude(judged.verdicts, rules, judged.fit, law=law, together=is_group(judged.node))
    own = any(not rules[verdict.rule].built_in for verdict in judged.verdicts)
    reason = judged.note if judged.note and judged.fit.decides and not own else found.reason
    return replace(judged, outcome=found.outcome, reason=reason if found.outcome is Outcome.INCOMPLETE else "")


def of_profile(profile: Profile) -> ProfileFit:
    """Return the fit to assume for a machine that has not been read yet: a match, unless the profile is a fragment."""
    if not profile.fragment:
        return ProfileFit()
    meant = f"; did you mean {profile.meant}?" if profile.meant else "; include it in a profile of your own"
    return ProfileFit(Match.FRAGMENT, f"{profile.name} is a fragment and gives no verdict on a machine{meant}")


def _beside(profile: Profile, tree: Tree) -> str:
    """Return a note if the profile is for a product with GPUs and the node has no NVIDIA device, else an empty text."""
    listed = paths.parse("pcie")
    found = tree.select(listed, Plane.OS)
    if "product" not in profile.applies_to or "device" in profile.applies_to or tree.leaf(listed) is None:
        return ""
    vendors = [tree.reading(item + paths.parse("vendor"), Plane.OS) for item in found.items]
    none = found.unknown is None and all(isinstance(vendor, str) and vendor != "0x10de" for vendor in vendors)
    return ", no 10de device" if none and any(path.segments[0].word == "gpu" for path in profile.facts()) else ""
