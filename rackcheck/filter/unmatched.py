"""Values of a filter that match nothing known, such as a mistyped rule, with the nearest known name. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from rackcheck.base.names import either, similar
from rackcheck.filter.terms import Named
from rackcheck.filter.where import Where
from rackcheck.filter.words import named
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold

FEW = 8
"""Maximum number of known names that are listed if none of them is similar to the value."""

LONGEST = 80
"""Maximum number of characters of a value that a note shows."""


def unmatched(
    where: Where, known: Mapping[str, Collection[str]], near_fact: Callable[[str], Sequence[str]] | None = None
) -> Iterator[str]:
    """Yield a note for each value that matches none of the known names: `no rule nic.rat; did you mean nic.rate?`.

    `known` maps keys of the filter to all names that a row could have; other keys are not examined, so that a state
    that no row has is no mistake. `near_fact` returns the facts that are similar to a value of the key `fact`.
    """
    for term in where.terms:
        body = term.body
        if not isinstance(body, Named) or body.key not in known:
            continue
        names = [name for name in known[body.key] if name]
        for value in body.values:
            if not any(named(body.key, value, name) for name in names):
                near = near_fact(value) if body.key == "fact" and near_fact is not None else similar(value, names)
                yield f"no {body.key} {clean(value, LONGEST)}{_hint(near, names)}"


def _hint(near: Sequence[str], names: Sequence[str]) -> str:
    if near:
        return f"; did you mean {either(near)}?"
    return f"; there {'is' if len(names) == 1 else 'are'} {fold(names)}" if 0 < len(names) <= FEW else ""
