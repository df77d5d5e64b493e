"""Derived facts of one node, for example the port above a GPU, or the NIC nearest to it.

A join reads facts in a node's tree and returns other facts; it collects nothing. A join obeys the law of information: a
fact derived from an unknown fact is unknown, unless every possible value of the unknown fact gives the same result.
"""

import math
from collections.abc import Callable, Iterable, Mapping

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Absent, Facts, Reading, Sourced, Unknown, single
from rackcheck.model.inputs import Inputs
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.derived import Derivation, Ending, described, leaf, places_of

Derive = Callable[[Inputs], Facts]


class Join(Derivation[Derive]):
    """Facts of a node, computed from other facts of the same node."""


def join(*, needs: Iterable[str], also: Iterable[str] = (), gives: Mapping[str, Kind]) -> Callable[[Derive], Join]:
    """Make a join from the decorated function.

    The join has the name of the function; its help is the first line of the function's docstring.
    """
    needed, beside = tuple(needs), tuple(also)
    for pattern in (*needed, *beside, *gives):
        paths.parse(pattern)

    def made(function: Derive) -> Join:
        name, words = described(function)
        return Join(name, needed, dict(gives), function, words, also=beside)

    return made


def derive(joins: Iterable[Join], tree: Tree, failures: list[str] | None = None) -> Mapping[str, Leaf]:
    """Return the facts that these joins derive from a node's facts; joins that failed are appended to `failures`."""
    found: dict[str, Leaf] = {}
    for each in joins:
        source = f"from {', '.join(each.needs)}"
        leaves: dict[str, Leaf] = {}
        with Ending(f"join {each.name}", failures) as ending:
            for path, value in single(each.function(Inputs(tree, each.planes))):
                message = value.source if isinstance(value, Sourced) else source
                leaves[path] = leaf(each, path, value, message)
        found |= ending.fill(leaves, each, places_of(each, tree), source)
    return found


def settled(readings: Iterable[Reading]) -> Unknown | None:
    """Return the first unknown reading; None if there is none."""
    return next((reading for reading in readings if isinstance(reading, Unknown)), None)


def mean_since_boot(count: Reading, uptime: Reading, period: float, least: int = 1) -> Reading:
    """Return a count since boot, divided by the periods that began since boot, rounded down.

    `uptime` and `period` are in seconds; the count is divided by at least `least` periods. During at least one period
    the count rose by as much as the result.
    """
    if isinstance(count, int) and count == 0:
        return 0
    for reading in (count, uptime):
        if not isinstance(reading, int | float):
            return reading
    assert isinstance(count, int | float)
    assert isinstance(uptime, int | float)
    return int(count / max(least, math.ceil(uptime / period)))


def known(reading: Reading) -> bool:
    """Return whether a reading is a value: neither absent nor unknown."""
    return not isinstance(reading, (Absent, Unknown))
