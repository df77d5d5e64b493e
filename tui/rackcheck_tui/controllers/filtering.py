"""Applies the filter to the screens: keys such as `rack` select nodes, and keys such as `state` select verdicts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rackcheck.evaluate.verdict import Verdict
from rackcheck.filter.where import FINDING_KEYS, NODE_KEYS, TEXT, FilterRow, Where, left_out, reader
from rackcheck.model.fact import Reading
from rackcheck.model.path import Path
from rackcheck.model.profile import Rule
from rackcheck.run.event import Judged
from rackcheck.views.summary import several
from rackcheck_tui.screens.context import ViewContext


def kept_nodes(ctx: ViewContext, names: Iterable[str], *, verdicts: bool = True) -> tuple[frozenset[str], str]:
    """Return the nodes that match the filter's keys about nodes and, with `verdicts`, have a verdict that matches.

    The returned text states how many nodes are omitted because a value is unknown; it is empty if no node is omitted
    for this reason.
    """
    where = ctx.where
    if not where:
        return frozenset(names), ""
    of_node, of_verdict = where.about(NODE_KEYS), where.about(FINDING_KEYS)
    values = {name: of_node.holds(_node(ctx, name)) for name in names}
    unsure = sum(each is None for each in values.values())
    kept = {name for name, each in values.items() if each}
    if verdicts and of_verdict:
        kept &= _having(ctx, of_verdict, kept)
    return frozenset(kept), left_out(where, several(unsure, "node")) if unsure else ""


def _having(ctx: ViewContext, where: Where, names: Collection[str]) -> set[str]:
    """Return the nodes with a verdict that matches the filter; a verdict that many nodes share is tested once.

    The searched text includes the node's name, so nodes whose names contain a word of the filter are tested
    individually.
    """
    rules = {rule.id: rule for rule in ctx.desk.profile.rules}
    words = [term.body for term in where.terms if term.body.key == TEXT]
    named = {name for name in names if any(body.holds(FilterRow(text=name)) for body in words)}
    found: set[str] = set()
    for verdict, nodes in ctx.board.alike():
        rule = rules[verdict.rule]
        if where.holds(verdict_words(ctx, "", verdict, rule)):
            found |= nodes - named
        found |= {n for n in named.intersection(nodes) if where.holds(verdict_words(ctx, n, verdict, rule))}
    return found


def kept_rules(
    ctx: ViewContext, judged: Judged, verdicts: Sequence[Verdict], rules: Mapping[str, Rule]
) -> tuple[list[Verdict], str]:
    """Return those verdicts of one node that match the filter's keys about verdicts; keys about nodes are ignored."""
    where = ctx.where.about(FINDING_KEYS)
    name = judged.node
    found = [v for v in verdicts if where.holds(verdict_words(ctx, name, v, rules[v.rule]))] if where else verdicts
    return list(found), ""


def verdict_words(ctx: ViewContext, node: str, verdict: Verdict, rule: Rule) -> FilterRow:
    """Return the fields and the text of a verdict that a filter searches."""
    words = dict(rule_words(ctx, rule, (verdict.status.value,)).words)
    text = f"{verdict.status.value} {rule.severity.value} {rule.id} {rule.title} {verdict.reason} {node}"
    return FilterRow({**words, "node": (node,)}, text)


def rule_words(ctx: ViewContext, rule: Rule, states: tuple[str, ...]) -> FilterRow:
    """Return the fields and the text of a rule that a filter searches."""
    facts = ctx.rule_facts(rule)
    words = {
        "rule": (rule.id,), "severity": (rule.severity.value,), "state": states, "fact": facts,
        "plane": tuple(plane.value for plane in rule.planes), "profile": (ctx.desk.profile.name,),
        "run": (ctx.desk.name,), "role": rule.roles,
    }  # fmt: skip
    return FilterRow(words, f"{rule.id} {rule.title} {rule.why} {rule.fix}")


def _node(ctx: ViewContext, name: str) -> FilterRow:
    place = ctx.desk.nodes.get(name)
    words: dict[str, tuple[str, ...]] = {"node": (name,)}
    if place is not None:
        rack = ctx.desk.racks.get(place.rack)
        values = {
            "rack": place.rack, "role": place.role, "slot": place.slot, "u": str(place.u or ""),
            "row": rack.row if rack is not None else "",
        }  # fmt: skip
        words |= {key: (value,) for key, value in values.items() if value}
    return FilterRow(words, name, lambda pattern: read(ctx, name, pattern))


def read(ctx: ViewContext, node: str, pattern: Path) -> Iterator[Reading]:
    """Return a node's readings of a fact, for all items, as rules read them.

    Measurements and counters must have been fetched before; all other facts are read from the census,
    which counts the values of each fact on all nodes.
    """
    fetched = ctx.volatile.get(node, {}).get(str(pattern))
    if fetched is not None:
        yield from fetched
        return
    wanted = [path for each in (pattern, *pattern.collections) for path in ctx.paths_like(str(each.pattern))]
    silent = {plane: why for (name, plane), why in ctx.board.silent.items() if name == node}
    yield from reader(ctx.board.census.tree(node, wanted, silent), ctx.desk.plane)(pattern)
