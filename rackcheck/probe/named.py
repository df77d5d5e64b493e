"""The plan of the facts that a user names: only the probes that provide these facts, or the inputs of derived ones."""

from collections.abc import Iterable, Sequence

from rackcheck.model.catalogue import FAMILY, Catalogue
from rackcheck.model.path import EVERY, BadPath, Path, Segment
from rackcheck.model.path import parse as parse_path
from rackcheck.probe.contract import AnyProbe
from rackcheck.probe.join import Join
from rackcheck.probe.plan import Plan, affordable, bare


def named_plan(words: Iterable[str], probes: Sequence[AnyProbe], catalogue: Catalogue, joins: Sequence[Join]) -> Plan:
    """Return the plan of the facts whose path begins with one of `words`; of all affordable facts without words.

    A word may end in the middle of a path, and name an item (`bmc.tpm/0.version`); the probes that list the item's
    collection are included. A word that is the beginning of no fact asks nothing.
    """
    typed = tuple(words)
    if not typed:
        return Plan(affordable(probes), joins=tuple(joins))
    names: set[str] = set()
    general = {word: _general(word) for word in typed}
    todo = [p for p in catalogue.entries if any(_begins(p, word, path) for word, path in general.items())]
    todo += [need for word in typed for need in _lists(word)]
    needs = {join.name: join.needs for join in joins}
    while todo:
        entry = catalogue.find(parse_path(todo.pop().removesuffix(FAMILY)))
        if entry is None or entry.probe in names:
            continue
        names.add(entry.probe)
        # An input of a derived fact is an item's fact or a collection; other probes may list the collection.
        for need in needs.get(entry.probe, ()):
            todo += [need, *map(str, parse_path(need).collections)]
    chosen = (probe for probe in affordable(probes, typed) if probe.name in names)
    return Plan(tuple(chosen), joins=tuple(join for join in joins if join.name in names))


def _begins(pattern: str, word: str, general: str | None) -> bool:
    """Return whether a path of this pattern may begin with `word`; `general` is the word without keys of items."""
    if pattern.endswith(FAMILY):
        family = pattern.removesuffix("**")
        return family.startswith(word) or word.startswith(family)
    if general is None:  # a word that ends in the middle of a key
        return pattern.startswith(word) or word.startswith(bare(pattern))
    return pattern.startswith(general) or f"{general}.".startswith(f"{pattern}.")


def _general(word: str) -> str | None:
    """Return a word with every item's key replaced by `*`; None if it is not a path."""
    try:
        path = parse_path(word)
    except BadPath:
        return None
    return str(Path(tuple(Segment(each.word, EVERY if each.key else None) for each in path.segments)))


def _lists(word: str) -> Iterable[str]:
    """Return the collections of the items in `word`, and the facts that number these items."""
    general = _general(word)
    if general is None:
        return
    for collection in parse_path(general).collections:
        yield str(collection)
        yield f"{collection.item(EVERY)}.index"
