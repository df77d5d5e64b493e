"""Reads where a rule looks: the collection, and which of its items count."""

from rackcheck.model.catalogue import Type
from rackcheck.model.profile import Look
from rackcheck.model.siblings import siblings_of
from rackcheck.profile.compile.clauses import clause_of
from rackcheck.profile.compile.context import Bad, Context
from rackcheck.profile.document import Scalar, Table
from rackcheck.profile.layers import word
from rackcheck.profile.schema import LOOKS, NARROWING


def look_of(ctx: Context, table: Table) -> Look | None:
    """Read the look of a rule, if it has one; a wrong one is noted and the rest still read."""
    modes = [mode for mode in LOOKS if mode in table.items]
    if len(modes) > 1:
        ctx.note(table.keys[modes[1]], f"`{modes[0]}` and `{modes[1]}`: a rule looks in one way")
    narrowing = [key for key in NARROWING if key in table.items]
    if not modes:
        for key in narrowing:
            ctx.note(table.keys[key], f"`{key}` narrows a look, and this rule has none ({', '.join(LOOKS)})")
        return None
    mode, node = modes[0], table.items[modes[0]]
    assert isinstance(node, Scalar)
    try:
        entry, path = ctx.fact(node, None)
    except Bad:
        return None
    if entry.kind.type is not Type.COLLECTION:
        ctx.note(node.place, f"{node.text} is no collection but a fact of type {entry.kind}")
        return None
    for key in narrowing:
        fits = {"where": True, "expect-count": mode in {"each", "any"}, "allow-failing": mode == "each"}
        if not fits.get(key, mode in {"each", "any"}):
            ctx.note(table.keys[key], f"`{key}` does not go with `{mode}`")
    where = table.get("where")
    expect = _whole(ctx, table, "expect-count")
    if expect == 0:
        ctx.note(table.items["expect-count"].place, "expects none; `count:` with `is: 0` says that")
    counts_all = mode == "count" and not isinstance(where, Table)
    siblings = None if counts_all or entry.kind.final else siblings_of(ctx.catalogue, path)
    return Look(
        mode, path, entry.plane,
        ctx.quiet(lambda: clause_of(ctx, where, path, plain_only="where")) if isinstance(where, Table) else None,
        expect, _whole(ctx, table, "allow-failing") or 0, word(table, "allow-empty") == "true",
        siblings,
    )  # fmt: skip


def _whole(ctx: Context, table: Table, key: str) -> int | None:
    node = table.get(key)
    if not isinstance(node, Scalar):
        return None
    try:
        text = ctx.given(node)
    except Bad:
        return None
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    ctx.note(node.place, f"`{key}` wants a whole number, not {text!r}")
    return None
