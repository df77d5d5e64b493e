"""Reads the call of a rule that a package writes in Python."""

from rackcheck.model.called import Called
from rackcheck.model.operator import WORDS
from rackcheck.model.path import parse
from rackcheck.profile import installed
from rackcheck.profile.compile.context import Context
from rackcheck.profile.document import Scalar, Table
from rackcheck.profile.layers import LEAVES
from rackcheck.profile.schema import LOOKS, NARROWING


def called_of(ctx: Context, table: Table) -> Called | None:
    """Find the rule that is called, and the facts that it declares; a wrong one is noted and the rest still read."""
    node = table.get("call")
    if not isinstance(node, Scalar):
        return None
    for key in (*LOOKS, *NARROWING, *LEAVES, *WORDS, "across"):
        if key in table.items:
            ctx.note(table.keys[key], f"`{key}` does not go with `call`: what is called says itself what it looks at")
    try:
        found = installed.called(node.text).bound(ctx.catalogue)
    except LookupError as error:
        ctx.note(node.place, str(error.args[0]))
        return None
    for fact in found.facts:
        ctx.held(node.place, parse(fact))
    return found
