"""Finds the rules that will be unknown because probes have no data; pure."""

from collections.abc import Collection, Iterable

from rackcheck.evaluate.verdict import in_scope
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase, Profile, Rule
from rackcheck.probe.plan import Plan


def of_plane(plan: Plan, plane: Plane) -> tuple[str, ...]:
    """Return the plan's probes that collect from this plane."""
    return tuple(probe.name for probe in plan.probes if probe.plane is plane)


def scope(profile: Profile, role: str, planes: frozenset[Plane] = frozenset(Plane)) -> tuple[Rule, ...]:
    """Return the rules that an audit of these planes would check on a node of this role.

    Rules that use a param without a value are left out.
    """
    planes, phases = planes | {Plane.DERIVED}, frozenset({Phase.CONFIG})
    rules = (rule for rule in profile.own if in_scope(rule, role, planes, phases))
    return tuple(rule for rule in rules if not rule.unset)


def blind(rules: Iterable[Rule], catalogue: Catalogue, lost: Collection[str]) -> tuple[str, ...]:
    """Return, in the profile's order, the rules that read a fact of a probe without data, and rules that need these.

    A rule is also included if its condition may be false on a node, because doctor does not evaluate conditions.
    """
    rules = tuple(rules)
    found = {rule.id for rule in rules if any(_giver(catalogue, rule, lost))}
    while more := {rule.id for rule in rules if rule.id not in found and found & set(rule.needs)}:
        found |= more
    return tuple(rule.id for rule in rules if rule.id in found)


def _giver(catalogue: Catalogue, rule: Rule, lost: Collection[str]) -> Iterable[bool]:
    for path in rule.facts():
        entry = catalogue.find(path)
        yield entry is not None and entry.probe in lost
