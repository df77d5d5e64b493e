"""Facts that compare a node with its siblings, for example a GPU's rate with the rates of similar GPUs. Pure.

Facts of comparisons are computed when their inputs are collected from all nodes, and then judged by ordinary rules of
the node. Each comparison obeys the law of information (see `derived`), and defines which facts a silent sibling makes
unknown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Reading, Sourced
from rackcheck.model.inputs import Inputs
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.derived import Derivation, Ending, described, leaf, places_of
from rackcheck.probe.group import Member, Seat

ItemFacts = Iterator[tuple[str, str, Reading | Sourced]]
"""The results of a comparison; each result is the name of a node, the path of a fact, and the fact's reading."""

Compare = Callable[[Sequence[Member]], ItemFacts]


class Comparison(Derivation[Compare]):
    """Facts of nodes, derived from the facts of all nodes."""


def comparison(*, needs: Iterable[str], gives: Mapping[str, Kind]) -> Callable[[Compare], Comparison]:
    """Make a comparison from the decorated function.

    The comparison has the name of the function; its help is the first line of the function's docstring.
    """
    needed = tuple(needs)
    for pattern in (*needed, *gives):
        paths.parse(pattern)

    def made(function: Compare) -> Comparison:
        name, words = described(function)
        return Comparison(name, needed, dict(gives), function, words)

    return made


def compared(
    known: Iterable[Comparison], seats: Sequence[Seat], trees: Mapping[str, Tree]
) -> Mapping[str, Mapping[str, Leaf]]:
    """Return the facts that these comparisons provide, by node and path; nodes without a tree are left out."""
    found: dict[str, dict[str, Leaf]] = {name: {} for name in trees}
    here = [seat for seat in seats if seat.name in trees]
    for each in known:
        members = tuple(Member(seat, Inputs(trees[seat.name], each.planes)) for seat in here)
        source = f"from {', '.join(each.needs)} of {len(members)} {'node' if len(members) == 1 else 'nodes'}"
        leaves: dict[str, dict[str, Leaf]] = {seat.name: {} for seat in here}
        with Ending(each.name) as ending:
            for node, path, value in each.function(members):
                message = value.source if isinstance(value, Sourced) else source
                leaves[node][path] = leaf(each, path, value, message)
        for name, own in leaves.items():
            found[name] |= ending.fill(own, each, places_of(each, trees[name]), source)
    return found
