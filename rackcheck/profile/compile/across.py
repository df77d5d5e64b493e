"""Reads the `across` of a rule: the nodes it compares, and the facts on which they must agree."""

from collections.abc import Iterator

from rackcheck.model import path as paths
from rackcheck.model import unit
from rackcheck.model.catalogue import FAMILY, Type
from rackcheck.model.fact import Class
from rackcheck.model.operator import WORDS
from rackcheck.model.profile import Across, AgreedFact, Scope
from rackcheck.profile.compile.context import Bad, CompileContext
from rackcheck.profile.document import Scalar, YamlMapping, YamlNode
from rackcheck.profile.layers import LEAVES, did_you_mean, texts, word
from rackcheck.profile.schema import LOOKS, NARROWING

HALF, WHOLE = 50.0, 100.0
"""Bounds of a quorum, in % of the expected nodes: more than HALF, and at most WHOLE."""


def across_of(ctx: CompileContext, table: YamlMapping) -> Across | None:
    """Return the nodes and facts that a rule compares; None without `across`, or if its quorum is wrong.

    A fact by which nodes cannot be compared is added to the problems, and the remaining facts are still read.
    """
    node, agree = table.get("across"), table.get("agree")
    if not isinstance(node, YamlMapping):
        if agree is not None:
            ctx.note(table.keys["agree"], "`agree` is only allowed with `across`")
        return None
    for key in (*LOOKS, *NARROWING, *LEAVES, *WORDS):
        if key in table.items:
            ctx.note(table.keys[key], f"`{key}` cannot be combined with `across`; use `facts`, `except` and `agree`")
    if ctx.scope is not Scope.NODE:
        ctx.note(table.items["scope"].place, "`across` compares nodes: its scope must be `node`")
    if word(table, "severity", "major") == "blocker":
        ctx.note(
            table.items["severity"].place, "the severity with `across` is at most `major`: most nodes may be wrong"
        )
    role = word(node, "role", "compute")
    for given in texts(table, "role"):
        if given.text != role:
            ctx.note(given.place, f"`role` is {given.text}, but `across` compares nodes of role {role}")
    shared = [each for fact in texts(node, "facts") for each in _shared(ctx, fact)]
    left = {each.fact for fact in texts(node, "except") for each in _shared(ctx, fact)}
    quorum = _quorum(ctx, table, agree)
    unique = {each.fact: each for each in shared if each.fact not in left}
    if shared and not unique:
        ctx.note(node.place, "`except` leaves no fact to agree on")
    single = frozenset(path for path in left if path.items)
    return None if quorum is None else Across(role, tuple(unique.values()), quorum, single)


def _quorum(ctx: CompileContext, table: YamlMapping, agree: YamlNode | None) -> float | None:
    if not isinstance(agree, YamlMapping):
        ctx.note(table.keys["across"], "`across` without `agree: { quorum: … }` asserts nothing")
        return None
    node = agree.items["quorum"]
    assert isinstance(node, Scalar)
    try:
        text = ctx.given(node)
        share = 100.0 if text is None else unit.parse(text).to("%")
    except (unit.BadUnit, Bad) as error:
        if isinstance(error, unit.BadUnit):
            ctx.note(node.place, f"`quorum` is a share of the expected nodes, as 75 %: {error}")
        return None
    if not HALF < share <= WHOLE:
        ctx.note(node.place, f"`quorum` is {share:g} %; it must be more than {HALF:g} % and at most {WHOLE:g} %")
        return None
    return share


def _shared(ctx: CompileContext, node: Scalar) -> Iterator[AgreedFact]:
    """Yield the fact at a path; for a path that ends in `.*`, all configuration and version facts below it.

    Facts that are views are skipped: a view only repeats another fact, and not every machine has it.
    """
    if node.text.endswith(".*"):
        below = node.text.removesuffix("*")
        found = [
            AgreedFact(paths.parse(entry.pattern), entry.kind, entry.plane, entry.inputs)
            for entry in ctx.catalogue.entries.values()
            if entry.pattern.startswith(below) and not entry.pattern.endswith(FAMILY)
            and entry.kind.type is not Type.COLLECTION and entry.kind.cls in {Class.CONFIG, Class.VERSION}
            and not entry.kind.view
        ]  # fmt: skip
        if not found:
            near = did_you_mean(below[:-1], sorted({e.partition(".")[0] for e in ctx.catalogue.entries}))
            ctx.note(node.place, f"no probe provides configuration or versions below {below[:-1]}{near}")
        yield from found
        return
    try:
        entry, path = ctx.fact(node, None)
    except Bad:
        return
    if entry.kind.type is Type.COLLECTION:
        ctx.note(node.place, f"{node.text} is a collection; its items' facts are {node.text}/*.…")
    else:
        yield AgreedFact(path, entry.kind, entry.plane, entry.inputs)
