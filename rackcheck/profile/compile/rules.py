"""Reads one complete rule."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rackcheck.model.catalogue import Catalogue, Type
from rackcheck.model.fact import Plane
from rackcheck.model.operator import WORDS
from rackcheck.model.path import Path, parse
from rackcheck.model.profile import Phase, Rule, RuleSelection, Scope, Severity, Source
from rackcheck.model.python_rule import Called
from rackcheck.model.sibling_silence import siblings_of
from rackcheck.profile import installed
from rackcheck.profile.compile.across import across_of
from rackcheck.profile.compile.clauses import clause_of, clauses_of
from rackcheck.profile.compile.context import Bad, CompileContext
from rackcheck.profile.document import Scalar, YamlMapping, plain
from rackcheck.profile.layers import LEAVES, did_you_mean, texts, word
from rackcheck.profile.schema import LOOKS, NARROWING


@dataclass(frozen=True, slots=True)
class _ReadRule:
    """A rule that was read without a problem, and its inputs; `table` is held so that its id stays unique."""

    rule: Rule
    table: YamlMapping
    catalogue: Catalogue
    params: Mapping[str, object]
    sources: Mapping[str, Source]

    def is_of(self, ctx: CompileContext, rule_id: str) -> bool:
        """Whether reading the rule again would give the same result: the catalogue, params and sources are the same."""
        return (
            self.catalogue is ctx.catalogue
            and self.rule.id == rule_id
            and all(ctx.params.get(name, _MISSING) == value for name, value in self.params.items())
            and all(ctx.sources.get(ref) == source for ref, source in self.sources.items())
        )


_MISSING = object()

_READ: dict[int, _ReadRule] = {}
"""A cache of rules, by the `id` of their tables: most profiles include the same fragments, which are parsed once."""

_MOST = 4096
"""Maximum number of cached rules; the shipped profiles have about 1000."""


def rule_of(ctx: CompileContext, rule_id: str, table: YamlMapping) -> Rule:
    """Read one rule; problems are added to the context, and the remaining keys are still read."""
    kept = _READ.get(id(table))
    if kept is not None and kept.is_of(ctx, rule_id):
        return kept.rule
    before = len(ctx.problems)
    rule = _rule(ctx, rule_id, table)
    if len(ctx.problems) == before and rule.called is None:  # a called rule belongs to a package, not to the table
        if len(_READ) >= _MOST:
            _READ.clear()
        named = {text[1:] for text in _texts(plain(table)) if text.startswith("$")}
        params = {name: ctx.params.get(name, _MISSING) for name in named}
        _READ[id(table)] = _ReadRule(rule, table, ctx.catalogue, params, {ref: ctx.sources[ref] for ref in rule.refs})
    return rule


def _rule(ctx: CompileContext, rule_id: str, table: YamlMapping) -> Rule:
    ctx.unset = []
    ctx.scope = Scope(word(table, "scope", "node"))
    across = across_of(ctx, table)
    look = look_of(ctx, table)
    called = called_of(ctx, table)
    alone = {"across", "call"} & set(table.items)
    clauses, join = ((), "all") if alone else clauses_of(ctx, rule_id, table, look)
    refs = _refs(ctx, table)
    roles = tuple(s.text for s in texts(table, "role"))
    when = table.get("when")
    from_memory = bool(refs) and all(ctx.sources[r].from_memory for r in refs)
    return Rule(
        rule_id, clauses, look, join,
        ctx.quiet(lambda: clause_of(ctx, when, None, plain_only="when")) if isinstance(when, YamlMapping) else None,
        tuple(s.text for s in texts(table, "needs")),
        Severity(word(table, "severity", "major")), Phase(word(table, "phase", "config")),
        roles or ((across.role,) if across is not None else ("compute",)),
        word(table, "title"), word(table, "why"), word(table, "fix"), refs,
        from_memory, tuple(dict.fromkeys(ctx.unset)), f"{table.place.file}:{table.place.line}",
        rule_digest(table, ctx.params, from_memory=from_memory, package=called.package if called is not None else ""),
        ctx.scope, across, called, unknown_is_minor=word(table, "unknown") == "minor",
    )  # fmt: skip


def _refs(ctx: CompileContext, table: YamlMapping) -> tuple[str, ...]:
    refs: list[str] = []
    for ref in texts(table, "refs"):
        if ref.text in ctx.sources:
            refs.append(ref.text)
        else:
            ctx.note(ref.place, f"no source {ref.text} in sources.yaml{did_you_mean(ref.text, list(ctx.sources))}")
    return tuple(refs)


# Reads the selection of a rule: the collection, and which of its items count.


def look_of(ctx: CompileContext, table: YamlMapping) -> RuleSelection | None:
    """Return the selection of a rule; None if the rule has no selection or a wrong one (a problem is then added)."""
    modes = [mode for mode in LOOKS if mode in table.items]
    if len(modes) > 1:
        ctx.note(table.keys[modes[1]], f"`{modes[0]}` and `{modes[1]}`: a rule has at most one selection")
    narrowing = [key for key in NARROWING if key in table.items]
    if not modes:
        for key in narrowing:
            ctx.note(table.keys[key], f"`{key}` needs one of {', '.join(LOOKS)}, which this rule does not have")
        return None
    mode, node = modes[0], table.items[modes[0]]
    assert isinstance(node, Scalar)
    try:
        entry, path = ctx.fact(node, None)
    except Bad:
        return None
    if entry.kind.type is not Type.COLLECTION:
        ctx.note(node.place, f"{node.text} is not a collection but a fact of type {entry.kind}")
        return None
    for key in narrowing:
        fits = {"where": True, "expect-count": mode in {"each", "any"}, "allow-failing": mode == "each"}
        if not fits.get(key, mode in {"each", "any"}):
            ctx.note(table.keys[key], f"`{key}` cannot be combined with `{mode}`")
    where = table.get("where")
    expect = _whole(ctx, table, "expect-count")
    if expect == 0:
        ctx.note(table.items["expect-count"].place, "`expect-count` is 0; write `count:` with `is: 0` instead")
    counts_all = mode == "count" and not isinstance(where, YamlMapping)
    siblings = None if counts_all or entry.kind.final else siblings_of(ctx.catalogue, path)
    return RuleSelection(
        mode, path, _plane(ctx, path, entry.plane),
        ctx.quiet(lambda: clause_of(ctx, where, path, plain_only="where")) if isinstance(where, YamlMapping) else None,
        expect, _whole(ctx, table, "allow-failing") or 0, word(table, "allow-empty") == "true",
        siblings,
    )  # fmt: skip


def _plane(ctx: CompileContext, path: Path, own: Plane) -> Plane:
    """Return the plane of a collection; for a derived collection inside the items of another, the plane of the other.

    If that plane returns nothing, both collections are unknown for this reason.
    """
    outer = ctx.catalogue.find(Path((replace(path.segments[0], key=None),)))
    return own if own is not Plane.DERIVED or outer is None else outer.plane


def _whole(ctx: CompileContext, table: YamlMapping, key: str) -> int | None:
    node = table.get(key)
    if not isinstance(node, Scalar):
        return None
    try:
        text = ctx.given(node)
    except Bad:
        return None
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    ctx.note(node.place, f"`{key}` expects a whole number, not {text!r}")
    return None


# The digest by which a waiver pins a rule: it covers all keys that decide the verdict, not the descriptive keys.

UNJUDGED = frozenset({"title", "why", "fix", "refs"})
"""Keys of a rule that the digest leaves out, because they do not affect a verdict.

A rule only warns if all sources in its `refs` are `from memory`; the digest contains separately whether this is so.
"""


def rule_digest(table: YamlMapping, params: Mapping[str, str | None], *, from_memory: bool, package: str = "") -> str:
    """Return the SHA-256 of a merged rule, its params' values, and the name and version of the package it calls."""
    judged = {key: plain(node) for key, node in table.items.items() if key not in UNJUDGED}
    named = {text[1:] for text in _texts(judged) if text.startswith("$")}
    values = {name: params[name] for name in sorted(named) if name in params}
    fields = {"rule": judged, "params": values, "from memory": from_memory, **({"package": package} if package else {})}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _texts(node: object) -> Iterator[str]:
    match node:
        case str():
            yield node
        case dict():
            for value in node.values():
                yield from _texts(value)
        case list():
            for value in node:
                yield from _texts(value)


# Reads the `call` of a rule that a package implements in Python.


def called_of(ctx: CompileContext, table: YamlMapping) -> Called | None:
    """Return the Python rule that `call` names, or None without `call`; if there is no such rule, add a problem."""
    node = table.get("call")
    if not isinstance(node, Scalar):
        return None
    for key in (*LOOKS, *NARROWING, *LEAVES, *WORDS, "across"):
        if key in table.items:
            ctx.note(table.keys[key], f"`{key}` cannot be combined with `call`: the called rule declares what it reads")
    try:
        found = installed.called(node.text).bound(ctx.catalogue)
    except LookupError as error:
        ctx.note(node.place, str(error.args[0]))
        return None
    for fact in found.facts:
        ctx.held(node.place, parse(fact))
    return found
