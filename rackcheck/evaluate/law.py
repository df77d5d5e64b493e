"""The law of evidence: what verdicts on a node come to, and one line of reason where that is INCOMPLETE. Pure.

A node passes on evidence alone: on a machine that the profile is for, with no deciding rule that fails or is unknown,
and with one at least that was judged and passes. Runs that were judged before this law keep theirs, `FIRST`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import clean
from rackcheck.model.fit import NOT_STATED, Match, ProfileFit
from rackcheck.model.profile import FIRST, LAW, Rule

REASON = 160
"""Characters of a verdict's own reason inside the reason of a node."""

EVIDENCE = frozenset({Status.PASS, Status.WAIVED})
"""Verdicts that show that something was judged, and was right or is answered for."""


class Outcome(StrEnum):
    """What a node, or a run, comes to."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the verdicts on a node come to; `reason` says why they are INCOMPLETE and what to type next."""

    outcome: Outcome
    reason: str = ""


def conclude(
    verdicts: Iterable[Verdict],
    rules: Mapping[str, Rule],
    fit: ProfileFit = NOT_STATED,
    *,
    law: int = LAW,
    together: bool = False,
) -> Conclusion:
    """Give what a node comes to; `together` for a rack or the fleet, which need no evidence of their own.

    On another machine, and by a fragment, no rule decides. Else FAIL where a deciding rule fails, INCOMPLETE where one
    is unknown, where nothing was judged, or where it is unknown which machine this is, and PASS.
    """
    verdicts = tuple(verdicts)
    if law != FIRST and not fit.decides:
        return Conclusion(Outcome.INCOMPLETE, fit.words)
    if not verdicts:
        return Conclusion(Outcome.INCOMPLETE, "no rule of this profile is in scope here")
    deciding = [verdict for verdict in verdicts if rules[verdict.rule].decides(verdict.status)]
    if any(verdict.status is Status.FAIL for verdict in deciding):
        return Conclusion(Outcome.FAIL)
    unknown = [verdict for verdict in deciding if verdict.status is Status.UNKNOWN]
    if unknown:
        return Conclusion(Outcome.INCOMPLETE, _unknown(unknown))
    if law == FIRST:
        return Conclusion(Outcome.PASS)
    if not together and not any(v.status in EVIDENCE and not rules[v.rule].built_in for v in deciding):
        return Conclusion(Outcome.INCOMPLETE, _no_evidence(verdicts, rules))
    if fit.match is Match.UNKNOWN:
        message = f"it is unknown whether this is a machine of this profile ({fit.words})"
        return Conclusion(Outcome.INCOMPLETE, f"{message}; rackcheck doctor shows what could not be read")
    return Conclusion(Outcome.PASS)


def _unknown(unknown: list[Verdict]) -> str:
    """Name the first rule that is unknown with its reason; without a count, nodes in one plight give one line."""
    first, others = unknown[0], " and others are" if len(unknown) > 1 else " is"
    return f"{first.rule}{others} unknown: {clean(first.reason, REASON)}; rackcheck doctor shows what could not be read"


def _no_evidence(verdicts: Iterable[Verdict], rules: Mapping[str, Rule]) -> str:
    own = [verdict for verdict in verdicts if not rules[verdict.rule].built_in]
    unset = sorted({name for verdict in own for name in rules[verdict.rule].unset})
    if own and not any(rules[verdict.rule].severity.decides for verdict in own):
        return "no rule here is a blocker or major, and others give no verdict; rackcheck profile check says so"
    if unset and all(rules[v.rule].unset for v in own if rules[v.rule].severity.decides):
        return f"no blocker or major rule could be judged: site values are not set; --set {unset[0]}=VALUE"
    counts = {status: sum(v.status is status for v in own) for status in Status}
    text = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    return f"no blocker or major rule passed: nothing here is evidence ({text or 'no rule'}); audit --all lists why"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Give the worst of several outcomes; of none, INCOMPLETE: nothing was judged."""
    found = set(outcomes)
    if Outcome.FAIL in found:
        return Outcome.FAIL
    return Outcome.INCOMPLETE if Outcome.INCOMPLETE in found or not found else Outcome.PASS
