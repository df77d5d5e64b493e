"""Reads the clauses of a rule: its facts, each with its operators."""

from rackcheck.model.catalogue import Entry, Kind, Type
from rackcheck.model.fact import Plane
from rackcheck.model.operator import SIBLINGS, TWICE, WARNING, WORDS, Test
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Clause, RuleSelection, Scope
from rackcheck.model.sibling_silence import Siblings, siblings_of
from rackcheck.profile.compile.context import Bad, CompileContext
from rackcheck.profile.compile.operands import test_of
from rackcheck.profile.document import Scalar, YamlMapping, YamlNode, YamlSequence
from rackcheck.profile.layers import LEAVES
from rackcheck.profile.schema import LOOKS


def clauses_of(
    ctx: CompileContext, rule_id: str, table: YamlMapping, look: RuleSelection | None
) -> tuple[tuple[Clause, ...], str]:
    """Return all clauses of a rule, and `all` or `any`: whether all clauses must hold, or at least one."""
    given = [key for key in LEAVES if key in table.items]
    operators = [op for op in WORDS if op in table.items]
    within = look.collection if look is not None else None
    if "count" in table.items:
        return _count(ctx, table, operators, given), "all"
    if len(given) != 1:
        several = f"{' and '.join(f'`{key}`' for key in given)}; use only one of them"
        ctx.note(table.place, f"rule {rule_id} has {several if given else 'no `fact`, `all-of` or `any-of`'}")
        return (), "all"
    node = table.items[given[0]]
    if isinstance(node, Scalar):
        if not operators:
            ctx.note(table.place, f"rule {rule_id} has no operator: it asserts nothing")
            return (), "all"
        leaves: list[YamlMapping] = [table]
    else:
        parts = node.items if isinstance(node, YamlSequence) else (node,)
        leaves = [part for part in parts if isinstance(part, YamlMapping)]
        for op in operators:
            ctx.note(table.keys[op], f"`{op}` must be under a fact in `{given[0]}`, not beside `{given[0]}`")
    if look is None and any(mode in table.items for mode in LOOKS):
        return (), "all"  # the selection itself is wrong and has been reported
    only = "no" if look is not None and look.mode == "no" else ""
    found = [ctx.quiet(lambda leaf=leaf: clause_of(ctx, leaf, within, plain_only=only)) for leaf in leaves]  # type: ignore[misc]
    for leaf in leaves:
        for op in SIBLINGS & set(leaf.items):
            if look is None or look.mode != "each" or look.allow_failing:
                ctx.note(
                    leaf.keys[op], f"`{op}` compares items: it is only allowed with `each`, without `allow-failing`"
                )
    return tuple(c for c in found if c is not None), "any" if given[0] == "any-of" else "all"


def _count(ctx: CompileContext, table: YamlMapping, operators: list[str], given: list[str]) -> tuple[Clause, ...]:
    for key in given:
        ctx.note(table.keys[key], f"`count` counts items; `{key}` belongs under `where`")
    if not operators:
        ctx.note(table.place, "`count` without an operator asserts nothing")
    kind = Kind(Type.INTEGER, "how many items")
    for op in operators:
        if op in WARNING | SIBLINGS | TWICE | {"mask", "same-as", "present"}:
            ctx.note(table.keys[op], f"`{op}` cannot be combined with `count`")
    tests = tuple(t for op in operators if (t := test_of(ctx, op, table.items[op], kind)) is not None)
    return (Clause(Path(()), kind, Plane.DERIVED, tests),)


def clause_of(ctx: CompileContext, table: YamlMapping, within: Path | None, *, plain_only: str) -> Clause:
    """Read one fact with its operators as a clause; raises Bad if the fact cannot be used here.

    `plain_only` is the key (`no`, `where` or `when`) that forbids operators that warn or compare two readings; else "".
    """
    node = table.items["fact"]
    assert isinstance(node, Scalar)
    entry, path = ctx.fact(node, within)
    if entry.kind.type is Type.COLLECTION:
        ctx.note(node.place, f"{node.text} is a collection; select its items with {', '.join(LOOKS)}")
        raise Bad
    tests: list[Test] = []
    other: Path | None = None
    other_plane, at_item, inputs = entry.plane, False, entry.inputs
    for op in (op for op in WORDS if op in table.items):
        if op in WARNING and plain_only:
            ctx.note(table.keys[op], f"`{op}` cannot be combined with `{plain_only}`, which cannot warn")
            continue
        if op in TWICE and (plain_only or ctx.scope is not Scope.NODE):
            place = f"`{plain_only}`" if plain_only else f"a rule of a {ctx.scope}"
            ctx.note(table.keys[op], f"`{op}` compares two readings of a node, but {place} is evaluated on one reading")
            continue
        if op == "same-as":
            other, found, at_item = _other(ctx, table.items[op], entry, within)
            other_plane, inputs = found.plane, inputs | found.inputs
            tests.append(Test(op, other))
        elif (test := test_of(ctx, op, table.items[op], entry.kind)) is not None:
            tests.append(test)
    relative = path if within is None else Path(path.segments[len(within.segments) :])
    if any(segment.key == EVERY for segment in relative.segments):
        ctx.note(node.place, f"`*` is only allowed in a selection; here {node.text} must be one fact")
    # Under `no`, or if `present` is the only operator, an absent fact would excuse an item.
    excuses = bool(plain_only) or (bool(tests) and all(test.op == "present" for test in tests))
    siblings = _siblings(ctx, within, relative) if excuses else None
    beside = _siblings(ctx, within if at_item else None, other) if other is not None and plain_only else None
    return Clause(
        relative, entry.kind, entry.plane, tuple(tests), other, other_plane, at_item, inputs, siblings, beside
    )  # fmt: skip


def _siblings(ctx: CompileContext, within: Path | None, fact: Path) -> Siblings | None:
    """Return the innermost collection on a fact's path whose items have siblings.

    Returns None if there is no such collection, if no probe provides the fact, or if the fact may validly be absent.
    """
    whole = fact if within is None else within.item(EVERY) + fact
    entry = ctx.catalogue.find(whole)
    return None if entry is None or entry.kind.final else siblings_of(ctx.catalogue, whole)


def _other(ctx: CompileContext, node: YamlNode, entry: Entry, within: Path | None) -> tuple[Path, Entry, bool]:
    assert isinstance(node, Scalar)
    at_item = node.text.startswith(".")
    if at_item and within is None:
        ctx.note(node.place, f"{node.text} starts at the item of a selection, but this rule has no selection")
        raise Bad
    target = Scalar(node.text.removeprefix("."), node.place)
    other, path = ctx.fact(target, within if at_item else None)
    if any(segment.key == EVERY for segment in path.segments[len(within.segments) if at_item and within else 0 :]):
        ctx.note(node.place, f"`*` is only allowed in a selection; {node.text} must be one fact")
        raise Bad
    if (other.kind.type, other.kind.unit) != (entry.kind.type, entry.kind.unit):
        ctx.note(node.place, f"{node.text} is {other.kind}, but the fact compared with it is {entry.kind}")
        raise Bad
    relative = Path(path.segments[len(within.segments) :]) if at_item and within is not None else path
    return relative, other, at_item
