"""Why nodes are INCOMPLETE, in one line each: what is so for one reason is told once, with its nodes. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.probe.group import is_group
from rackcheck.views import locations
from rackcheck.views.locations import Whole

Reasons = tuple[tuple[str, tuple[str, ...]], ...]
"""Reasons, each with the nodes, racks or the fleet that it holds for; most of them first."""

MOST = 5
"""Reasons that one list tells; the others are counted."""

LONGEST = 400
"""Characters of one reason in a line; the JSON documents have it whole."""

NEVER_READ = "no run has read it; rackcheck audit NODE (of an acceptance: --accept NAME)"
"""The reason of a node that a run was to read and has not judged."""

NO_NODE = "no node was judged; name the nodes to be read: rackcheck audit NODE"
"""The reason of a run without any node."""


def gathered(rows: Iterable[tuple[str, Outcome, str]]) -> Reasons:
    """Gather names by the reason for which they are INCOMPLETE, the reason of most first; equal counts keep order."""
    found: dict[str, list[str]] = {}
    for name, outcome, reason in rows:
        if outcome is Outcome.INCOMPLETE and reason:
            found.setdefault(reason, []).append(name)
    return tuple(sorted(((reason, tuple(names)) for reason, names in found.items()), key=lambda one: -len(one[1])))


def lines(reasons: Reasons, of: Whole, most: int = MOST) -> Iterator[tuple[str, str]]:
    """Give each reason as where it holds and why; where it is a node alone there is no where to name."""
    for reason, names in reasons[:most]:
        yield "" if is_alone(reasons, of) else where(names, of), clean(reason, LONGEST)
    if len(reasons) > most:
        more = len(reasons) - most
        yield "", f"and {more:,} more reason{'' if more == 1 else 's'}"


def is_alone(reasons: Reasons, of: Whole) -> bool:
    """Whether the one reason is that of the one node there is, which then needs no name."""
    return of.nodes <= 1 and len(reasons) == 1 and not any(map(is_group, reasons[0][1]))


def where(names: Sequence[str], of: Whole) -> str:
    """Count and name them: `7 of 8 nodes, dgx[02-08]`."""
    return locations.counted_names(names, of, lambda some: f"{locations.share(some, of)}, {fold(some)}")


def in_one_line(reasons: Reasons, of: Whole) -> str:
    """Say why in one line: the reason of most, and how many more there are; empty where no reason is known."""
    rows = [f"{at}: {why}" if at else why for at, why in lines(reasons, of, 1)]
    return "; ".join(rows)
