"""Reads one rule, whole."""

from rackcheck.model.profile import Phase, Rule, Scope, Severity
from rackcheck.profile.compile.across import across_of
from rackcheck.profile.compile.calls import called_of
from rackcheck.profile.compile.clauses import clause_of, clauses_of
from rackcheck.profile.compile.context import Context
from rackcheck.profile.compile.looks import look_of
from rackcheck.profile.document import Table
from rackcheck.profile.layers import did_you_mean, texts, word
from rackcheck.profile.pin import rule_digest


def rule_of(ctx: Context, rule_id: str, table: Table) -> Rule:
    """Read one rule; what is wrong with it is noted and the rest still read."""
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
        ctx.quiet(lambda: clause_of(ctx, when, None, plain_only="when")) if isinstance(when, Table) else None,
        tuple(s.text for s in texts(table, "needs")),
        Severity(word(table, "severity", "major")), Phase(word(table, "phase", "config")),
        roles or ((across.role,) if across is not None else ("compute",)),
        word(table, "title"), word(table, "why"), word(table, "fix"), refs,
        from_memory, tuple(dict.fromkeys(ctx.unset)), f"{table.place.file}:{table.place.line}",
        rule_digest(table, ctx.params, from_memory=from_memory, package=called.package if called is not None else ""),
        ctx.scope, across, called,
    )  # fmt: skip


def _refs(ctx: Context, table: Table) -> tuple[str, ...]:
    refs: list[str] = []
    for ref in texts(table, "refs"):
        if ref.text in ctx.sources:
            refs.append(ref.text)
        else:
            ctx.note(ref.place, f"no source {ref.text} in sources.yaml{did_you_mean(ref.text, list(ctx.sources))}")
    return tuple(refs)
