"""Merges several readings of one rack: for each node and rule, the newest verdict counts, even if it is unknown. Pure.

Verdicts and facts that a later reading has replaced are only used to list what changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rackcheck.evaluate.consensus import large_enough
from rackcheck.evaluate.verdict import Outcome, Status, Verdict, in_scope, over, worst
from rackcheck.model import path as paths
from rackcheck.model.change import TRACKED, item_of, plane_order, same_id
from rackcheck.model.evidence import Evidence, clause_text
from rackcheck.model.fact import Absent, Class, Plane, Reason, Unknown
from rackcheck.model.fit import ProfileFit
from rackcheck.model.profile import Across, Phase, Profile, Rule, Scope
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import FLEET, Seat, groups, is_group
from rackcheck.report.agreed_steps import StepInputs, is_shorter, opened, steps
from rackcheck.report.fingerprints import Key, Print
from rackcheck.report.report_model import Rework
from rackcheck.report.run_data import CollectedRun
from rackcheck.run.event import Judged
from rackcheck.run.judging import concluded, of_profile
from rackcheck.signoff.steps import NO_STEPS, AgreedSteps
from rackcheck.views.steps import Step

ANY = "any"
"""The role of rules that apply to nodes of all roles."""


@dataclass(frozen=True)
class Settled:
    """The merged result of several readings; `latest` is the name of each node's newest run.

    `steps` are the steps that the acceptance has agreed on, in their order.
    """

    judged: tuple[Judged, ...]
    trees: Mapping[str, Tree]
    prints: Mapping[str, Mapping[Key, Print]]
    latest: Mapping[str, str]
    groups: tuple[Judged, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def everyone(self) -> tuple[Judged, ...]:
        """The results of the nodes, then those of racks and the fleet, if these were judged as a whole."""
        return (*self.judged, *self.groups)

    def outcome(self, unread: Sequence[str]) -> Outcome:
        """Return the worst outcome of nodes, groups and steps; INCOMPLETE at best if a node was never read."""
        done = [step.outcome for step in self.steps if step.outcome is not None]
        return worst([*(each.outcome for each in self.everyone), *done, *[Outcome.INCOMPLETE] * bool(unread)])


def settle(
    readings: Sequence[CollectedRun],
    profile: Profile,
    agreed: frozenset[Plane] | None = None,
    seats: Sequence[Seat] = (),
    agreed_steps: AgreedSteps = NO_STEPS,
) -> Settled:
    """Merge readings, which must be sorted from the oldest to the newest.

    `agreed` are the planes of an acceptance, and `seats` are its nodes: if a rule needs only planes in `agreed`, and no
    reading judged it, its verdict is unknown. For a single run, `agreed` is None and `seats` is empty: rules that the
    run did not judge are not in its scope.
    """
    rules = profile.rules
    known = {rule.id: rule for rule in rules}
    nodes = list(dict.fromkeys(node for run in readings for node in run.started.nodes))
    wanted = [rule for rule in rules if rule.across is None or _comparable(rule.across, seats)]
    judged, trees, prints, latest = [], {}, {}, {}
    for node in nodes:
        mine = [run for run in readings if node in run.judged]
        if not mine:
            continue
        verdicts: dict[str, Verdict] = {}
        for run in mine:
            shorter = is_shorter(run, node, agreed_steps.longest)
            verdicts |= {v.rule: v for v in run.judged[node].verdicts if not shorter or _replaces(v, verdicts)}
        newest = mine[-1].judged[node]
        tree = _tree(node, mine, agreed or frozenset())
        verdicts |= _unasked(wanted, newest.role, verdicts, agreed, tree.silent)
        ordered = tuple(verdicts[rule.id] for rule in rules if rule.id in verdicts)
        own = sum(not known[verdict.rule].built_in for verdict in ordered)
        left = sum(rule.scope is Scope.NODE for rule in profile.own) - own
        fit = next(
            (run.judged[node].fit for run in reversed(mine) if run.judged[node].fit != ProfileFit()), ProfileFit()
        )
        judged.append(
            concluded(
                Judged(node, newest.role, Outcome.INCOMPLETE, ordered, left, newest.note, fit=fit), known, profile.law
            )
        )
        trees[node] = tree
        prints[node] = _prints(node, mine)
        latest[node] = mine[-1].started.run
    together = tuple(_together(readings, profile, agreed, seats)) if len(rules) > 0 else ()
    swaps = {node: tuple(_new_parts(node, readings)) for node in nodes} if agreed_steps.tiers else {}
    found = steps(StepInputs(readings, judged, together, profile, agreed_steps, agreed or frozenset(), seats, swaps))
    return Settled(tuple(opened(node, found) for node in judged), trees, prints, latest, together, found)


def _replaces(verdict: Verdict, earlier: Mapping[str, Verdict]) -> bool:
    """Whether a verdict of a burn-in that is shorter than agreed replaces an earlier verdict of the same rule.

    Less load finds fewer faults: it may find another fault, but it does not refute one that was found.
    """
    return verdict.rule not in earlier or verdict.status in {Status.FAIL, Status.UNKNOWN}


def _together(
    readings: Sequence[CollectedRun], profile: Profile, agreed: frozenset[Plane] | None, seats: Sequence[Seat]
) -> Iterator[Judged]:
    """Yield the newest verdicts of racks and of the fleet; a rule that was agreed on but never judged is unknown."""
    rules = profile.rules
    known = {rule.id: rule for rule in rules}
    everyone = {node for run in readings for node in run.started.nodes} | {seat.name for seat in seats}
    scopes = {name: Scope(each.role) for run in readings for name, each in run.judged.items() if is_group(name)}
    scopes |= {g.name: g.scope for g in groups(seats, frozenset(seat.name for seat in seats))}
    for name, scope in sorted(scopes.items(), key=lambda item: (item[0] == FLEET, natural(item[0]))):
        verdicts = dict[str, Verdict]()
        for run in (run for run in readings if name in run.judged):
            part = name == FLEET and len(run.started.nodes) < len(everyone)
            verdicts = over(verdicts, run.judged[name].verdicts, part=part)
        mine = [rule for rule in rules if rule.scope is scope]
        verdicts |= _unasked(mine, ANY, verdicts, agreed, {})
        ordered = tuple(verdicts[rule.id] for rule in mine if rule.id in verdicts)
        if ordered:
            fits = (run.judged[name].fit for run in reversed(readings) if name in run.judged)
            group = Judged(name, scope.value, Outcome.INCOMPLETE, ordered, fit=next(fits, None) or of_profile(profile))
            yield concluded(group, known, profile.law)


def _comparable(across: Across, seats: Sequence[Seat]) -> bool:
    """Whether the role has enough nodes for a comparison; if it has too few, no verdict of the rule is expected."""
    expected = sum(seat.role == across.role for seat in seats)
    return large_enough(across, expected, expected)


def _newest(mine: Sequence[CollectedRun]) -> Mapping[Plane, CollectedRun]:
    """Return, for each plane, the newest reading that collected the plane."""
    return {Plane(plane): run for run in mine for plane in run.started.planes}


def _unasked(
    rules: Sequence[Rule],
    role: str,
    judged: Mapping[str, Verdict],
    agreed: frozenset[Plane] | None,
    silent: Mapping[Plane, Unknown],
) -> Mapping[str, Verdict]:
    """Return an unknown verdict for every rule in the scope of the agreed planes that no reading judged."""
    found: dict[str, Verdict] = {}
    for rule in rules:
        if agreed is None or rule.built_in or rule.id in judged or (role != ANY and rule.scope is not Scope.NODE):
            continue
        if in_scope(
            rule if role != ANY else replace(rule, roles=(ANY,)),
            role,
            agreed | {Plane.DERIVED},
            frozenset({Phase.CONFIG}),
        ):
            plane = next((p for p in sorted(rule.planes) if p in silent), None)
            why = (
                silent[plane]
                if plane is not None
                else Unknown(Reason.NOT_COLLECTED, "no single reading collected all planes that the rule needs")
            )
            shown = Evidence(Status.UNKNOWN, f"{plane or 'every'} plane", "", "must be read", "", why)
            found[rule.id] = Verdict(rule.id, Status.UNKNOWN, clause_text(shown), (shown,))
    return found


def _tree(node: str, mine: Sequence[CollectedRun], agreed: frozenset[Plane]) -> Tree:
    found: dict[str, Leaf] = {}
    silent: dict[Plane, Unknown] = {}
    times: dict[Plane, str] = {}
    for plane, run in _newest(mine).items():
        tree = run.trees[node]
        times |= {p: time for p, time in tree.times.items() if p in {plane, Plane.DERIVED}}
        found |= {path: leaf for path, leaf in tree.leaves.items() if leaf.plane in {plane, Plane.DERIVED}}
        silent |= {p: why for p, why in tree.silent.items() if p is plane}
    for plane in agreed - set(_newest(mine)):
        silent[plane] = Unknown(Reason.NOT_COLLECTED, f"no reading collected the {plane.value} plane")
    return Tree(found, silent, times=times)


def _prints(node: str, mine: Sequence[CollectedRun]) -> Mapping[Key, Print]:
    return {
        key: printed
        for plane, run in _newest(mine).items()
        for key, printed in (run.prints or {}).get(node, {}).items()
        if key[0] is plane
    }


def reworked(readings: Sequence[CollectedRun], rules: Sequence[Rule]) -> Iterator[Rework]:
    """Yield the changes between readings: changed verdicts in the profile's order of rules, then replaced parts."""
    gathered: dict[tuple[str, str, tuple[tuple[str, str, str], ...]], list[str]] = {}
    nodes = sorted({node for run in readings for node in run.judged}, key=lambda n: (is_group(n), natural(n)))
    order = {rule.id: n for n, rule in enumerate(rules)}
    for node in nodes:
        mine = [run for run in readings if node in run.judged]
        if len(mine) < 2:
            continue
        for rule, turns in _turns(node, mine).items():
            gathered.setdefault((rule, "", turns), []).append(node)
        for fact, turns in () if is_group(node) else _replaced(node, mine):
            gathered.setdefault(("", fact, turns), []).append(node)
    ranked = sorted(gathered.items(), key=lambda g: (order.get(g[0][0], len(order)), natural(g[0][1]), g[0][2]))
    for (rule, fact, turns), where in ranked:
        yield Rework(rule, fact, tuple(where), turns)


def _turns(node: str, mine: Sequence[CollectedRun]) -> Mapping[str, tuple[tuple[str, str, str], ...]]:
    values: dict[str, list[tuple[str, str, str]]] = {}
    for run in mine:
        for verdict in run.judged[node].verdicts:
            if verdict.status is not Status.NA:
                values.setdefault(verdict.rule, []).append((run.started.run, run.started.time, verdict.status.value))
    return {rule: tuple(steps) for rule, steps in values.items() if len({status for _, _, status in steps}) > 1}


def _swaps(node: str, mine: Sequence[CollectedRun]) -> Iterator[tuple[str, tuple[tuple[str, str, str], ...]]]:
    """Yield the parts that were replaced between readings; a part that only moved to another index was not replaced.

    Yields tuples of a fact's path, and the run, time and value before and after the replacement. Readings in which a
    part is unknown or not collected are ignored for this part.
    """
    held: dict[str, tuple[str, str, str]] = {}
    for at, collected_run in enumerate(mine):
        tree, run = collected_run.trees[node], (collected_run.started.run, collected_run.started.time)
        now = _known(tree)
        had, have = _by_kind({path: step[2] for path, step in held.items()}), _by_kind(now)
        for path in sorted({*held, *now}, key=natural):
            kind, before, after = _kind(path), held.get(path), now.get(path, "")
            gone = before if before is not None and before[2] not in have.get(kind, ()) else None
            new = (*run, after) if after and after not in had.get(kind, ()) else None
            first = gone or (_nothing_before(node, mine[:at], path) if new else None)
            second = new or ((*run, NOT_THERE) if gone and _nothing(tree, path) else None)
            if first is not None and second is not None:
                yield path, (first, second)
            if after:
                held[path] = (*run, after)
            elif _nothing(tree, path):
                held.pop(path, None)


def _replaced(node: str, mine: Sequence[CollectedRun]) -> Iterator[tuple[str, tuple[tuple[str, str, str], ...]]]:
    """Yield the replaced parts of a node as `_swaps` does, but once if several facts have the identifiers of one part.

    The fact of the operating system is preferred; a UUID is left out if the serial number of its item was replaced.
    """
    alike: dict[tuple[str, ...], list[tuple[str, tuple[tuple[str, str, str], ...]]]] = {}
    for path, turns in _swaps(node, mine):
        key = tuple(part for run, _, value in turns for part in (run, same_id(value)))
        alike.setdefault(key, []).append((path, turns))
    items = {item_of(path) for rows in alike.values() for path, _ in rows if path.endswith(".serial")}
    for rows in alike.values():
        path, turns = min(rows, key=lambda row: (not row[0].endswith(".serial"), plane_order(row[0])))
        if path.endswith(".serial") or item_of(path) not in items:
            yield path, turns


def _new_parts(node: str, readings: Sequence[CollectedRun]) -> Iterator[tuple[str, str, str]]:
    """Yield the parts that were fitted between readings: the path, the time of the reading, and the identifier."""
    for path, (_, (_, time, after)) in _swaps(node, [run for run in readings if node in run.judged]):
        if after != NOT_THERE:
            yield path, time, after


def _nothing_before(node: str, earlier: Sequence[CollectedRun], path: str) -> tuple[str, str, str] | None:
    """Return the newest earlier reading in which the part certainly did not exist; None if there is no such reading."""
    found = next((run.started for run in reversed(earlier) if _nothing(run.trees[node], path)), None)
    return (found.run, found.time, NOT_THERE) if found is not None else None


def _known(tree: Tree) -> Mapping[str, str]:
    return {
        path: leaf.reading
        for path, leaf in tree.leaves.items()
        if leaf.kind.cls is Class.IDENTITY and path.rpartition(".")[2] in TRACKED and isinstance(leaf.reading, str)
    }


def _kind(path: str) -> str:
    return str(paths.parse(path).pattern)


def _by_kind(known: Mapping[str, str]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, value in known.items():
        found.setdefault(_kind(path), set()).add(value)
    return found


def _nothing(tree: Tree, path: str) -> bool:
    """Whether a part certainly does not exist in a reading: all parts of its kind are known, without this part."""
    items = list(paths.parse(path).items)
    for collection, key in items:
        leaf = tree.leaves.get(collection)
        if leaf is None or not isinstance(leaf.reading, (tuple, Absent)):
            return False
        if isinstance(leaf.reading, tuple) and key in leaf.reading and path not in tree.leaves:
            return False
    kind = _kind(path)
    return bool(items) and all(isinstance(leaf.reading, str) for p, leaf in tree.leaves.items() if _kind(p) == kind)


NOT_THERE = "not there"
