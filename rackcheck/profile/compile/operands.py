"""Reads an operator with its operand, by the kind of its fact."""

import math

from rackcheck.model import operator, unit
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.operator import ORDER, BadOperand, Operand, Test
from rackcheck.profile.compile.context import Bad, CompileContext
from rackcheck.profile.document import Scalar, YamlMapping, YamlNode, YamlSequence


def test_of(ctx: CompileContext, op: str, node: YamlNode, kind: Kind) -> Test | None:
    """Return an operator with its operand; None if its param has no value, or if a problem has been added."""
    try:
        operator.allowed(op, kind)
        operand = _operand(ctx, op, node, kind)
        return None if operand is None else Test(op, operand)
    except (BadOperand, unit.BadUnit) as error:
        message = str(error)
        ctx.note(node.place, message if message.startswith(f"`{op}`") else f"`{op}`: {message}")
    except Bad:
        pass  # the problem has already been added
    return None


def _operand(ctx: CompileContext, op: str, node: YamlNode, kind: Kind) -> Operand | None:
    if isinstance(node, YamlMapping):
        return _compound(ctx, op, node, kind)
    if op in {"one-of", "none-of", "includes", "excludes"}:
        items = node.items if isinstance(node, YamlSequence) else (node,)
        texts = [ctx.given(i) for i in items if isinstance(i, Scalar)]
        if None in texts:
            return None
        listed = kind.type is Type.LIST
        return tuple(operator.member(t) if listed else operator.value(t, kind) for t in texts if t is not None)
    assert isinstance(node, Scalar)
    text = ctx.given(node)
    if text is None:
        return None
    if op in {"present", "equal", "steady"}:
        return text == "true"
    if op == "matches":
        return _pattern(text)
    if op == "like":
        return text
    if op in ORDER:
        operator.orderable(text, kind)
    return operator.value(text, kind)


def _compound(ctx: CompileContext, op: str, node: YamlMapping, kind: Kind) -> Operand | None:
    parts = {k: ctx.given(v) for k, v in node.items.items() if isinstance(v, Scalar)}
    if None in parts.values():
        return None
    texts = {k: v for k, v in parts.items() if v is not None}
    if op == "mask":
        bits, wanted = (operator.value(texts[k], Kind(Type.INTEGER, "")) for k in ("bits", "is"))
        assert isinstance(bits, int) and isinstance(wanted, int)  # noqa: PT018
        if wanted & ~bits:
            raise BadOperand(f"{wanted:#x} has bits outside {bits:#x}: it can never pass")
        return operator.Mask(bits, wanted)
    if op == "spread":
        return unit.parse(texts["at-most"]).to("%")
    if op == "rate":
        return _rate(texts["at-most"])
    of = operator.value(texts["of"], kind)
    share = texts["by"].rstrip().endswith("%") and kind.unit != "%"
    by = unit.parse(texts["by"]).to("%") if share else operator.value(texts["by"], kind)
    assert isinstance(of, (int, float)) and isinstance(by, (int, float))  # noqa: PT018
    if math.inf in (of, by):
        raise BadOperand("`unlimited` is not allowed in `within`")
    if by < 0:
        raise BadOperand("`by` must not be negative")
    return operator.Within(float(of), float(by), share)


def _rate(text: str) -> float:
    try:
        most = unit.parse(text).to("/h")
    except unit.BadUnit as error:
        raise BadOperand(f"a rate is a number per hour, minute or second, as 5/h: {error}") from None
    if most < 0:
        raise BadOperand(f"a counter never decreases: {text!r} can never pass")
    return most


def _pattern(text: str) -> str:
    import re2  # noqa: PLC0415  loaded for the few profiles that use it

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options=options)
    except re2.error as error:
        value = error.args[0] if error.args else error
        shown = value.decode(errors="replace") if isinstance(value, bytes) else value
        raise BadOperand(f"not a pattern of RE2: {shown}") from None
    return text
