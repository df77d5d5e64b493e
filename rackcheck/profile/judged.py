"""Finds facts that can show damage but that no rule reads: a damaged machine would then pass.

A fact needs a rule if it is a counter, if it comes from a log, or if it is the health or the state of a part. A fact is
judged if a blocker or major rule reads it, directly or through a fact that is derived from it. The facts that are
exempt are listed in `profiles/unjudged.csv`, each with one of three reasons.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model.catalogue import Catalogue, Entry, Type
from rackcheck.model.fact import Class
from rackcheck.model.path import Path, parse
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.regex import regex
from rackcheck.probe.join import Join
from rackcheck.profile.library import shipped

UNJUDGED = "unjudged.csv"

SIGNS = frozenset(
    {
        *("health", "failure_predicted", "critical_warning", "passed", "uncorrected", "fatal", "degraded"),
        *("degraded_bandwidth", "route_unhealthy", "faults", "mismatches", "power_fault"),
    }
)
"""Last path segments of facts that show damage, even if the fact is not a counter."""

STATE = regex(r"(bmc\.(?!task/|unhealthy/).*|psu|fan)/\*\.state")
"""Pattern of the states of a server's parts: a part can be out of service while its health is OK."""

NEVER = frozenset({"uncorrected", "fatal", "nonfatal", "critical", "critical_warning", "health", "failure_predicted"})
"""Last path segments of facts that must not be in the list of exemptions."""


class Exempt(StrEnum):
    """Why a fact needs no rule of its own."""

    ACTIVITY = "total of activity"
    UNBOUNDED = "cumulative corrected count without a bound"
    PART = "part of a judged fact"


@dataclass(frozen=True, slots=True)
class UnjudgedFact:
    """Why one fact needs no rule; if it is a part of another fact, `judged` is the other fact, which a rule judges."""

    reason: Exempt
    judged: str = ""


def needs_rule(entry: Entry) -> bool:
    """Whether a fact is a sign of damage, or may be one."""
    if entry.kind.type is Type.COLLECTION:
        return False
    last = parse(entry.pattern.replace(".**", "")).segments[-1].word
    if STATE.fullmatch(entry.pattern):
        return True
    return entry.kind.cls is Class.COUNTER or entry.pattern.startswith("log.") or last in SIGNS


def exemptions() -> Mapping[str, UnjudgedFact]:
    """Return the exempt facts by their path pattern; raises ValueError if a reason is not a value of `Exempt`."""
    with (shipped("profiles") / UNJUDGED).open(encoding="utf-8", newline="") as opened:
        return {row["fact"]: UnjudgedFact(Exempt(row["reason"]), row["judged"]) for row in csv.DictReader(opened)}


def judges(profiles: Iterable[Profile], joins: Iterable[Join]) -> Mapping[str, tuple[str, ...]]:
    """Map the path pattern of each fact to the ids of the blocker and major rules that read it."""
    inputs = [(join.gives, (*join.needs, *join.also)) for join in joins]
    found: dict[str, dict[str, None]] = {}
    for profile in profiles:
        for rule in profile.rules:
            for pattern in _read(rule, inputs) if rule.severity.decides else ():
                found.setdefault(pattern, {})[rule.id] = None
    return {pattern: tuple(ids) for pattern, ids in found.items()}


def _read(rule: Rule, inputs: Iterable[tuple[Mapping[str, object], tuple[str, ...]]]) -> frozenset[str]:
    """Return the path patterns of the facts that a rule reads, and of all facts from which those are derived."""
    found = {str(path.pattern) for path in rule.facts()}
    more = found
    while more:
        more = {need for gives, needs in inputs if found & gives.keys() for need in needs} - found
        found |= more
    return frozenset(found)


def unjudged(catalogue: Catalogue, judged: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the path patterns of the facts that need a rule, but have neither a rule nor an exemption."""
    spared = exemptions()
    wanting = (entry.pattern for entry in catalogue.entries.values() if needs_rule(entry))
    return tuple(sorted(pattern for pattern in wanting if pattern not in judged and pattern not in spared))


def wrong_exemptions(catalogue: Catalogue, judged: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return what is wrong with the list of exemptions, one line each."""
    return tuple(_wrong(catalogue, judged))


def _wrong(catalogue: Catalogue, judged: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    spared = exemptions()
    for pattern, exemption in spared.items():
        entry = catalogue.entries.get(pattern)
        last: Path = parse(pattern)
        if entry is None:
            yield f"{pattern}: no probe provides it"
        elif not needs_rule(entry):
            yield f"{pattern}: it needs no rule"
        elif pattern in judged and exemption.reason is not Exempt.ACTIVITY:  # which may be a condition of a rule
            yield f"{pattern}: {judged[pattern][0]} judges it"
        elif last.segments[-1].word in NEVER:
            yield f"{pattern}: an uncorrected, fatal or critical error, or a health, is never exempt"
        elif (exemption.reason is Exempt.PART) != bool(exemption.judged):
            yield f"{pattern}: `judged` must be set if and only if the reason is `{Exempt.PART}`"
        elif exemption.judged and exemption.judged not in judged and exemption.judged not in spared:
            yield f"{pattern}: {exemption.judged} is not judged"
