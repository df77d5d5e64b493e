"""Node sets as clusters write them, unfolded within bounds."""

import re
from typing import TYPE_CHECKING

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean

if TYPE_CHECKING:
    from ClusterShell.NodeUtils import GroupResolver

NODES = 100_000
"""Names that one inventory may unfold to."""


def unfold(target: str, groups: "GroupResolver | None" = None) -> list[str]:
    """Unfold a node set: `dgx[01-03]` gives three names; raises UserError where it is none."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException  # noqa: PLC0415  slow to load

    shown = clean(target)
    if _size(target) > NODES:
        raise UserError(f"{shown} is more nodes than the {NODES} that an inventory may hold")
    try:
        names = NodeSet(target, resolver=groups or RESOLVER_NOGROUP)
        return [str(name) for name in names]
    except NodeSetException as error:
        raise UserError(f"not a node set: {shown} ({clean(str(error))})") from None


def is_name(text: str) -> bool:
    """Whether this is one node's name: what a node set would unfold to itself, fit for a line and for a path."""
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,252}", text) is not None


def _size(target: str) -> int:
    """How many names a node set may at most unfold to, told from its text: unfolding a billion would be too late."""
    size = 0
    for name in re.findall(r"(?:\[[^\]]*\]?|[^\[,!&^\s])+", target):  # one of `a[1-3]b[1-2],c4`; ranges may hold commas
        several = 1
        for ranges in re.findall(r"\[([^\]]*)", name):
            spans = re.findall(r"([0-9]{1,30})-([0-9]{1,30})", ranges)
            several *= ranges.count(",") + 1 + sum(abs(int(last) - int(first)) for first, last in spans)
        size += several
    return size
