"""The counters that the rules of a profile limit, as one audit read them, and what two audits show about them. Pure.

Only counters of selected items are kept: the counters of an interface that no rule checks may be reset at any time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.evaluate.selection import chosen_items, doubtful_items
from rackcheck.model import path as paths
from rackcheck.model.fact import Class, Plane, Unknown
from rackcheck.model.path import Path
from rackcheck.model.profile import Clause, Phase, Rule, Scope
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree

BOOT = paths.parse("os.boot.id")
"""The fact that changes whenever a node starts; the counters of its kernel and its devices then begin again."""


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of one node: `values` belong to `names` one by one; a value is None if it is unknown.

    `hidden` contains the collections whose items are unknown. `boot` is the id of the node's boot, or empty.
    """

    names: tuple[str, ...]
    values: tuple[float | None, ...]
    hidden: frozenset[str]
    boot: str


@dataclass
class CounterReader:
    """Reads the counters of many nodes; nodes with the same counters share the names, which are most of the memory."""

    rules: Sequence[Rule]
    _names: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def read(self, tree: Tree) -> Counters:
        """Read the counters of one node from all its facts."""
        found: dict[str, float | None] = {}
        hidden: set[str] = set()
        for rule in self.rules:
            items, doubtful = [Path(())], set[Path]()
            if rule.look is not None:
                doubtful.update(doubtful_items(rule.look, tree))
                items = [*chosen_items(rule.look, tree), *doubtful]
                if tree.select(rule.look.collection, rule.look.plane).unknown is not None:
                    hidden.add(str(rule.look.collection.pattern))
            for clause in _counted(rule):
                for item in items:
                    reading = tree.reading(item + clause.fact, clause.plane)
                    if isinstance(reading, Unknown) or item in doubtful:
                        found.setdefault((item + clause.fact).text, None)
                    elif isinstance(reading, (int, float)) and not isinstance(reading, bool):
                        found[(item + clause.fact).text] = reading
        names = tuple(sorted(found))
        boot = tree.reading(BOOT, Plane.OS)
        return Counters(
            self._names.setdefault(names, names), tuple(found[name] for name in names), frozenset(hidden),
            boot if isinstance(boot, str) else "",
        )  # fmt: skip


def counting(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules of an audit that limit a counter of a node."""
    return tuple(
        rule for rule in rules if rule.phase is Phase.CONFIG and rule.scope is Scope.NODE and any(_counted(rule))
    )


def limits(rules: Sequence[Rule]) -> Mapping[str, Rule]:
    """Return, for the path pattern of each limited counter, the rule that limits it; a rule that decides is preferred.

    The counters of kernel logs and services begin again at other times than those of devices; what is lost there only
    matters if a rule that decides an outcome would have seen it.
    """
    found: dict[str, Rule] = {}
    for rule in sorted(counting(rules), key=lambda rule: not rule.severity.decides):
        item = Path(()) if rule.look is None else rule.look.collection.item(paths.EVERY)
        for clause in _counted(rule):
            found.setdefault(str((item + clause.fact).pattern), rule)
    return found


def _counted(rule: Rule) -> Iterator[Clause]:
    return (clause for clause in rule.clauses if clause.kind.cls is Class.COUNTER)


def risen(before: Counters, after: Counters) -> Iterator[tuple[str, float, float]]:
    """Yield the counters that rose: the path, and the two values."""
    was = dict(zip(before.names, before.values, strict=True))
    for name, now in zip(after.names, after.values, strict=True):
        old = was.get(name)
        if old is not None and now is not None and now > old:
            yield name, old, now


def incomparable(before: Counters, after: Counters, limited: Mapping[str, Rule]) -> str:
    """Return why two audits do not show what happened to the counters between them; empty if they do.

    `limited` is the result of `limits`; counters that only minor and advisory rules limit are not required.
    """
    if before.boot != after.boot and before.boot and after.boot:
        return "the node started again between the audits before and after the burn-in"
    if not before.boot or not after.boot:
        return "it is unknown whether the node started again between the audits before and after the burn-in"
    found = dict(zip(after.names, after.values, strict=True))
    for name, was in sorted(zip(before.names, before.values, strict=True), key=lambda pair: natural(pair[0])):
        now = found.get(name)
        if was is None or not limited[str(paths.parse(name).pattern)].severity.decides:
            continue
        if now is None and (name in found or after.hidden & _collections(name)):
            return f"{name} is unknown after the burn-in"
        if now is not None and now < was:
            return f"{name} fell from {was:,} to {now:,}: it was reset between the audits before and after the burn-in"
    return ""


def _collections(name: str) -> frozenset[str]:
    return frozenset(str(collection.pattern) for collection in paths.parse(name).collections)
