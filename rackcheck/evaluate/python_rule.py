"""Judges a node by a rule written in Python, if every fact that the rule reads is known."""

from collections.abc import Iterator
from itertools import islice

from rackcheck.evaluate.waiver import Granted, taken
from rackcheck.model import path as paths
from rackcheck.model.evidence import Evidence, Status, Verdict, all_hold, clause_text
from rackcheck.model.fact import Plane, Reason, Unknown, clean
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import EVERY, Path, Segment
from rackcheck.model.python_rule import Called, Wrong
from rackcheck.model.tree import Tree

MOST = 10_000
"""Maximum number of findings of one rule on one node; with more findings, the rule is unknown."""

SHOWN = 256
"""Maximum number of pieces of evidence kept for one verdict."""

LONGEST = 1000
"""Maximum number of characters that are kept of one text in a finding."""


def answered(rule_id: str, called: Called, tree: Tree, pins: Granted) -> Verdict:
    """Judge one node by a rule in Python; unknown if one of its facts is unknown, or if the rule itself fails."""
    hidden = next(_unknown(called, tree), None)
    if hidden is not None:
        return Verdict(rule_id, Status.UNKNOWN, clause_text(hidden), (hidden,))
    source = ", ".join(called.facts)
    try:
        wrong = tuple(islice(called.check(Inputs(_own(called, tree), called.planes)), MOST + 1))
        found = [taken(_evidence(each, source), pins) for each in wrong]
    except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001  third-party code: costs only its verdict
        return _failed(rule_id, called, Unknown(Reason.NOT_TESTED, f"rule {called.name} failed: {clean(repr(error))}"))
    if len(wrong) > MOST:
        why = Unknown(Reason.TOO_LARGE, f"rule {called.name} yields more than {MOST} findings")
        return _failed(rule_id, called, why)
    status = all_hold(each.status for each in found)
    waived = tuple(each for each in found if each.status is Status.WAIVED)
    if status is Status.PASS:
        return Verdict(rule_id, status, "", waived)
    telling = tuple(each for each in found if each.status is status)
    more = f" and {len(telling) - 3} more" if len(telling) > 3 else ""
    return Verdict(rule_id, status, "; ".join(map(clause_text, telling[:3])) + more, (*telling[:SHOWN], *waived))


def _failed(rule_id: str, called: Called, why: Unknown) -> Verdict:
    shown = Evidence(Status.UNKNOWN, called.name, "", "", ", ".join(called.facts), why)
    return Verdict(rule_id, Status.UNKNOWN, str(why), (shown,))


def _own(called: Called, tree: Tree) -> Tree:
    """Return a copy of the tree with only the facts that the rule declares; changing the copy affects no other rule."""
    held = tree.narrowed(frozenset(called.planes))
    return Tree(held.leaves, dict(held.silent), times=held.times)


def _evidence(wrong: Wrong, source: str) -> Evidence:
    item, observed, expected = (clean(text, LONGEST) for text in (wrong.item, wrong.observed, wrong.expected))
    return Evidence(Status.WARN if wrong.warns else Status.FAIL, item, observed, expected, source)


def _unknown(called: Called, tree: Tree) -> Iterator[Evidence]:
    """Yield every unknown fact that the rule declares; for a pattern, the unknown fact of each item."""
    for fact in called.facts:
        path = paths.parse(fact)
        plane = called.planes[str(path.pattern)]
        for at, why in _hidden(path, plane, tree, listing=fact in called.collections):
            yield Evidence(Status.UNKNOWN, str(at), "", "must be known", "", why)


def _hidden(path: Path, plane: Plane, tree: Tree, *, listing: bool) -> Iterator[tuple[Path, Unknown]]:
    star = next((depth for depth, segment in enumerate(path.segments) if segment.key == EVERY), None)
    if star is not None:
        owner = Path((*path.segments[:star], Segment(path.segments[star].word)))
        chosen = tree.select(owner, plane)
        if chosen.unknown is not None:
            yield owner, chosen.unknown
        for item in chosen.items:
            yield from _hidden(Path(item.segments + path.segments[star + 1 :]), plane, tree, listing=listing)
        return
    why = tree.select(path, plane).unknown if listing else tree.reading(path, plane)
    if isinstance(why, Unknown):
        yield path, why
