"""Expands node sets like `dgx[01-03]`, up to a maximum number of names."""

import re
from typing import TYPE_CHECKING

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean

if TYPE_CHECKING:
    from ClusterShell.NodeUtils import GroupResolver

NODES = 100_000
"""Maximum number of names that one inventory may expand to."""


def unfold(target: str, groups: "GroupResolver | None" = None) -> list[str]:
    """Expand a node set: `dgx[01-03]` returns three names; raises UserError if it is invalid."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException  # noqa: PLC0415  slow to load

    shown = clean(target)
    if _size(target) > NODES:
        raise UserError(f"{shown} expands to more than {NODES} nodes, the maximum of an inventory")
    try:
        names = NodeSet(target, resolver=groups or RESOLVER_NOGROUP)
        return [str(name) for name in names]
    except NodeSetException as error:
        raise UserError(f"not a node set: {shown} ({clean(str(error))})") from None


def is_name(text: str) -> bool:
    """Whether this is a single node's name: it expands to itself, and is safe in a line of output and in a path."""
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,252}", text) is not None


def _size(target: str) -> int:
    """Return the maximum number of names of a node set, estimated from its text before it is expanded."""
    size = 0
    for name in re.findall(r"(?:\[[^\]]*\]?|[^\[,!&^\s])+", target):  # ranges of a name may contain commas
        several = 1
        for ranges in re.findall(r"\[([^\]]*)", name):
            spans = re.findall(r"([0-9]{1,30})-([0-9]{1,30})", ranges)
            several *= ranges.count(",") + 1 + sum(abs(int(last) - int(first)) for first, last in spans)
        size += several
    return size
