"""Several readings of one rack as one: for each node and rule the newest counts, and the earlier ones stay visible.

Pure. A newest reading that is unknown counts as unknown, whatever an earlier one knew.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rackcheck.core import path as paths
from rackcheck.core.event import Judged
from rackcheck.core.fact import Absent, Class, Plane, Unknown
from rackcheck.core.profile import Rule
from rackcheck.core.read import natural
from rackcheck.core.tree import Leaf, Tree
from rackcheck.core.verdict import Status, Verdict, node_outcome
from rackcheck.report.dossier import Rework
from rackcheck.report.gather import Print, Told

TRACKED = ("serial", "uuid", "guid")
"""Last words of facts by which a part is known; another value is another part."""


@dataclass(frozen=True)
class Settled:
    """What counts of several readings; `latest` names the newest run of each node."""

    judged: tuple[Judged, ...]
    trees: Mapping[str, Tree]
    prints: Mapping[str, Mapping[tuple[Plane, Class], Print]]
    latest: Mapping[str, str]


def settle(readings: Sequence[Told], rules: Sequence[Rule]) -> Settled:
    """Lay readings, the oldest first, over each other."""
    known = {rule.id: rule for rule in rules}
    nodes = list(dict.fromkeys(node for told in readings for node in told.started.nodes))
    judged, trees, prints, latest = [], {}, {}, {}
    for node in nodes:
        mine = [told for told in readings if node in told.judged]
        if not mine:
            continue
        verdicts: dict[str, Verdict] = {}
        for told in mine:
            verdicts |= {verdict.rule: verdict for verdict in told.judged[node].verdicts}
        newest = mine[-1].judged[node]
        ordered = tuple(verdicts[rule.id] for rule in rules if rule.id in verdicts)
        outcome = node_outcome(ordered, known)
        judged.append(Judged(node, newest.role, outcome, ordered, len(rules) - len(ordered), newest.note))
        trees[node] = _tree(node, mine)
        prints[node] = _prints(node, mine)
        latest[node] = mine[-1].started.run
    return Settled(tuple(judged), trees, prints, latest)


def _newest(mine: Sequence[Told]) -> Mapping[Plane, Told]:
    """Give for each plane the newest reading that asked it."""
    return {Plane(plane): told for told in mine for plane in told.started.planes}


def _tree(node: str, mine: Sequence[Told]) -> Tree:
    found: dict[str, Leaf] = {}
    silent: dict[Plane, Unknown] = {}
    for plane, told in _newest(mine).items():
        tree = told.trees[node]
        found |= {path: leaf for path, leaf in tree.leaves.items() if leaf.plane in {plane, Plane.DERIVED}}
        silent |= {p: why for p, why in tree.silent.items() if p is plane}
    return Tree(found, silent)


def _prints(node: str, mine: Sequence[Told]) -> Mapping[tuple[Plane, Class], Print]:
    return {
        key: told_print
        for plane, told in _newest(mine).items()
        for key, told_print in told.prints[node].items()
        if key[0] is plane
    }


def reworked(readings: Sequence[Told], rules: Sequence[Rule]) -> Iterator[Rework]:
    """Tell what turned between readings: verdicts in the profile's order, then parts that were swapped."""
    gathered: dict[tuple[str, str, tuple[tuple[str, str, str], ...]], list[str]] = {}
    nodes = sorted({node for told in readings for node in told.judged}, key=natural)
    order = {rule.id: n for n, rule in enumerate(rules)}
    for node in nodes:
        mine = [told for told in readings if node in told.judged]
        if len(mine) < 2:
            continue
        for rule, steps in _turns(node, mine).items():
            gathered.setdefault((rule, "", steps), []).append(node)
        for fact, steps in _swaps(node, mine):
            gathered.setdefault(("", fact, steps), []).append(node)
    ranked = sorted(gathered.items(), key=lambda g: (order.get(g[0][0], len(order)), natural(g[0][1]), g[0][2]))
    for (rule, fact, steps), where in ranked:
        yield Rework(rule, fact, tuple(where), steps)


def _turns(node: str, mine: Sequence[Told]) -> Mapping[str, tuple[tuple[str, str, str], ...]]:
    said: dict[str, list[tuple[str, str, str]]] = {}
    for told in mine:
        for verdict in told.judged[node].verdicts:
            if verdict.status is not Status.NA:
                said.setdefault(verdict.rule, []).append((told.started.run, told.started.time, verdict.status.value))
    return {rule: tuple(steps) for rule, steps in said.items() if len({status for _, _, status in steps}) > 1}


def _swaps(node: str, mine: Sequence[Told]) -> Iterator[tuple[str, tuple[tuple[str, str, str], ...]]]:
    """Tell which part took another's place between two readings; one that only changed its index is the same part."""
    for earlier, later in pairwise(mine):
        trees = (earlier.trees[node], later.trees[node])
        was, now = (_known(tree) for tree in trees)
        for path in sorted({*was, *now}, key=natural):
            kin = str(paths.parse(path).pattern)
            before, after = was.get(path, ""), now.get(path, "")
            gone = before if before and before not in _kin(now, kin) else ""
            new = after if after and after not in _kin(was, kin) else ""
            steps = (gone or _nothing(trees[0], path, new), new or _nothing(trees[1], path, gone))
            if (gone or new) and all(steps):
                runs = (earlier.started, later.started)
                yield path, tuple((run.run, run.time, said) for run, said in zip(runs, steps, strict=True))


def _known(tree: Tree) -> Mapping[str, str]:
    return {
        path: leaf.reading
        for path, leaf in tree.leaves.items()
        if leaf.kind.cls is Class.IDENTITY and path.rpartition(".")[2] in TRACKED and isinstance(leaf.reading, str)
    }


def _kin(known: Mapping[str, str], pattern: str) -> set[str]:
    return {value for path, value in known.items() if str(paths.parse(path).pattern) == pattern}


def _nothing(tree: Tree, path: str, other: str) -> str:
    """Say that there was no such part, if all of its kind are known; else nothing, for nobody can tell."""
    kin = str(paths.parse(path).pattern)
    for collection, _ in paths.parse(path).items:
        leaf = tree.leaves.get(collection)
        if leaf is None or not isinstance(leaf.reading, (tuple, Absent)):
            return ""
    unread = any(
        isinstance(leaf.reading, Unknown) for p, leaf in tree.leaves.items() if str(paths.parse(p).pattern) == kin
    )
    return NOT_THERE if other and not unread else ""


NOT_THERE = "not there"
