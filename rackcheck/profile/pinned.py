"""What a profile says itself wins over what most nodes say: consensus is asked only of the facts left open. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Phase, Rule, Scope

PINS = frozenset({"is", "one-of", "like", "matches", "same-as", "within", "mask"})
"""Operators that say what a fact must be, and not only what it must not."""


def unpinned(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Take from each rule across nodes the facts that another rule pins on all of them, in every run.

    Decided by the profile and its params alone: a rule whose param is unset, or that has a condition, pins nothing.
    """
    found = tuple(rules)
    pins = {(fact, role) for rule in found for fact in _pinned(rule) for role in rule.roles}
    return tuple(_without(rule, pins) for rule in found)


def _pinned(rule: Rule) -> Iterable[Path]:
    if rule.scope is not Scope.NODE or rule.phase is not Phase.CONFIG or rule.across is not None:
        return
    if rule.unset or rule.when is not None:
        return
    look = rule.look
    if rule.join != "all" or (look is not None and (look.mode != "each" or look.where or look.allow_failing)):
        return
    item = Path(()) if look is None else look.collection.item(EVERY)
    for clause in rule.clauses:
        if any(test.op in PINS for test in clause.tests):
            yield item + clause.fact


def _without(rule: Rule, pins: set[tuple[Path, str]]) -> Rule:
    if rule.across is None:
        return rule
    roles = (rule.across.role, "any")
    kept = tuple(each for each in rule.across.shared if not any((each.fact, role) in pins for role in roles))
    return replace(rule, across=replace(rule.across, shared=kept))
