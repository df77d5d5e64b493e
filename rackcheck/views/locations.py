"""Formats the location of a finding: folded lists of nodes and racks, and the fleet. Pure.

The names of racks and the fleet in findings (`@rack:a01`, `@fleet`) cannot be names of nodes. A rack or the fleet, if
judged as a whole, is shown as `rack a01` or `the fleet`, and is not counted as a node.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from rackcheck.model.fold import fold
from rackcheck.model.profile import Scope
from rackcheck.probe.group import FLEET

RACK = "@rack:"
"""Prefix of the name of a rack that is judged as a whole."""


@dataclass(frozen=True, slots=True)
class NodeLocation:
    """Where a node is, and how to connect to it."""

    role: str
    rack: str = ""
    u: int = 0
    height: int = 1
    slot: str = ""
    host: str = ""
    bmc: str = ""
    pdu: str = ""


@dataclass(frozen=True, slots=True)
class Whole:
    """The number of nodes, and of racks judged as a whole."""

    nodes: int
    racks: int = 0


def whole(nodes: int, groups: Iterable[str]) -> Whole:
    """Return the totals: the number `nodes`, and the number of racks in `groups`."""
    return Whole(nodes, sum(name.startswith(RACK) for name in groups))


def sorts(names: Iterable[str]) -> tuple[tuple[Scope, tuple[str, ...]], ...]:
    """Split names into nodes, racks (without the prefix) and the fleet; the order of names is kept."""
    found: dict[Scope, list[str]] = {scope: [] for scope in Scope}
    for name in names:
        if name == FLEET:
            found[Scope.FLEET].append(name)
        elif name.startswith(RACK):
            found[Scope.RACK].append(name.removeprefix(RACK))
        else:
            found[Scope.NODE].append(name)
    return tuple((scope, tuple(some)) for scope, some in found.items() if some)


def names_text(names: Iterable[str]) -> str:
    """Format names without a count: `dgx[01-03]`, `racks a[01-02]`, `rack a01, the fleet`."""
    return ", ".join(_named(scope, some) for scope, some in sorts(names))


def share(names: Collection[str], of: Whole) -> str:
    """Format the counts of nodes and racks with their totals: `62 of 72 nodes`, `1 of 2 racks`, `the fleet`."""
    kinds = sorts(names) or ((Scope.NODE, ()),)
    return ", ".join("the fleet" if scope is Scope.FLEET else _share(scope, len(some), of) for scope, some in kinds)


def counted_names(
    names: Collection[str], of: Whole, nodes: Callable[[tuple[str, ...]], str], *, every: bool = False
) -> str:
    """Format nodes and racks with their counts and names; the function `nodes` formats the nodes.

    If all racks are included, their names are left out unless `every` is true.
    """
    kinds = sorts(names)
    return ", ".join(
        nodes(some) if scope is Scope.NODE else _counted_names(scope, some, of, every) for scope, some in kinds
    )


def among(count: int, total: int, what: str) -> str:
    """Format a count of a total: `0 of 1 node`, `3 of 1,000 nodes`."""
    return f"{count:,} of {total:,} {what}{'' if total == 1 else 's'}"


def passing(count: int, total: int, what: str) -> str:
    """Format how many of a total pass: `0 of 1 node passes`, `3 of 8 nodes pass`."""
    return f"{among(count, total, what)} {'passes' if total == 1 else 'pass'}"


def _share(scope: Scope, count: int, of: Whole) -> str:
    total = of.racks if scope is Scope.RACK else of.nodes
    return among(count, max(total, count), scope.value)


def _named(scope: Scope, names: tuple[str, ...]) -> str:
    if scope is Scope.FLEET:
        return "the fleet"
    folded = fold(names)
    return folded if scope is Scope.NODE else f"rack{'' if len(names) == 1 else 's'} {folded}"


def _counted_names(scope: Scope, names: tuple[str, ...], of: Whole, every: bool) -> str:
    if scope is Scope.FLEET or of.racks <= 1:
        return _named(scope, names)
    if len(names) == of.racks:
        return f"all {of.racks:,} racks{f': {fold(names)}' if every else ''}"
    return f"{_share(scope, len(names), of)}: {fold(names)}"
