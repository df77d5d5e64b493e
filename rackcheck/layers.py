"""A profile laid over its parents: rules and params merge by id, lists and operators replace, `drop` removes."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rackcheck.core.operator import WORDS
from rackcheck.document import BadFile, Listing, Node, Place, Problem, Scalar, Table
from rackcheck.schema import LOOKS, NARROWING

Finder = Callable[[str, Place], Table]
"""Finds a parent by its name, for the place that asked."""

LEAVES = ("fact", "all-of", "any-of")
"""Keys that hold what a rule asserts; a rule has one of them."""


@dataclass(frozen=True)
class Layers:
    """A profile's file with its parents under it, merged; `dropped` rules have their reason."""

    name: str
    head: Table
    params: Mapping[str, Node]
    rules: Mapping[str, Table]
    dropped: Mapping[str, str]
    lineage: tuple[str, ...]
    applies: Mapping[str, Node] = field(default_factory=dict)


def layers(table: Table, find: Finder, below: tuple[str, ...] = ()) -> Layers:
    """Lay a profile over its parent, and that over its own; raises BadFile on a wrong version or a circle."""
    name, version = word(table, "profile"), word(table, "version")
    if name in below:
        raise BadFile([Problem(table.place, f"{' extends '.join((*below, name))}: a circle")])
    parent = table.get("extends")
    base = Layers(name, table, {}, {}, {}, ())
    if isinstance(parent, Scalar):
        wanted, _, wanted_version = parent.text.partition("@")
        found = find(wanted, parent.place)
        have = word(found, "version")
        if have != wanted_version:
            text = f"extends {wanted}@{wanted_version}, and the library has {wanted}@{have}"
            raise BadFile([Problem(parent.place, text)])
        base = layers(found, find, (*below, name))
    rules, dropped = dict(base.rules), dict(base.dropped)
    problems: list[Problem] = []
    for rule_id, rule in entries(table, "rules").items():
        assert isinstance(rule, Table)
        reason = rule.get("drop")
        if isinstance(reason, Scalar):
            if rule_id not in rules:
                hint = did_you_mean(rule_id, list(rules))
                problems.append(Problem(rule.place, f"drops `{rule_id}`, which no parent has{hint}"))
            rules.pop(rule_id, None)
            dropped[rule_id] = reason.text
        else:
            rules[rule_id] = _over(rules.get(rule_id), rule)
            dropped.pop(rule_id, None)
    if problems:
        raise BadFile(problems)
    params = dict(base.params)
    for key, node in entries(table, "params").items():
        params[key] = _param_over(params.get(key), node)
    applies = {**base.applies, **entries(table, "applies-to")}
    return Layers(name, table, params, rules, dropped, (*base.lineage, f"{name}@{version}"), applies)


def _over(under: Table | None, over: Table) -> Table:
    """Merge a rule key by key; a new look or fact takes the old one's place, with what narrowed or judged that one."""
    if under is None:
        return over
    gone: set[str] = set()
    for group, hanging in ((LOOKS, NARROWING), (LEAVES, tuple(WORDS))):
        if any(key in over.items for key in group):
            gone |= {*group, *hanging}
    items = {k: v for k, v in under.items.items() if k not in gone} | dict(over.items)
    return Table(items, {**under.keys, **over.keys}, over.place)


def _param_over(under: Node | None, over: Node) -> Node:
    if isinstance(over, Scalar):
        over = Table({"default": over}, {"default": over.place}, over.place)
    if isinstance(under, Table) and isinstance(over, Table):
        return Table({**under.items, **over.items}, {**under.keys, **over.keys}, over.place)
    return over


def entries(table: Table, key: str) -> Mapping[str, Node]:
    """Give the entries of a table inside a table; none where there is none."""
    node = table.get(key)
    return node.items if isinstance(node, Table) else {}


def word(table: Table, key: str, default: str = "") -> str:
    """Give a single value at a key, or the default."""
    node = table.get(key)
    return node.text if isinstance(node, Scalar) else default


def texts(table: Table, key: str) -> tuple[Scalar, ...]:
    """Give the values at a key: one, or a list of them."""
    node = table.get(key)
    if isinstance(node, Scalar):
        return (node,)
    return tuple(i for i in node.items if isinstance(i, Scalar)) if isinstance(node, Listing) else ()


def did_you_mean(word: str, words: list[str]) -> str:
    """Name the nearest right word, as the end of a message; empty where none is near."""
    close = difflib.get_close_matches(word, words, n=1)
    return f"; did you mean {close[0]}?" if close else ""
