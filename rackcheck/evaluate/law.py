"""The law of evidence: the outcome of the verdicts on a node, with a one-line reason if it is INCOMPLETE. Pure.

A node passes only if the profile is for this machine, no deciding rule fails or is unknown, and at least one deciding
rule that is not built in passes or is waived. Runs judged under an earlier version of the law keep that version.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Reason, clean
from rackcheck.model.fit import NOT_STATED, Match, ProfileFit
from rackcheck.model.profile import FIRST, LAW, Rule

NEXT = "; rackcheck doctor shows what could not be read"
"""The end of a reason, with the command to run next."""

NEXT_RAW = "; rackcheck facts NODE --from RUN --unknown --raw shows the answer"
"""The end of the reason where an answer was read and could not be parsed: `doctor` finds nothing wrong then."""

ENDS = (NEXT, NEXT_RAW)
"""All ends of reasons."""

REASON = 160
"""Maximum number of characters of a rule's reason that are quoted in the reason of a node."""

EVIDENCE = frozenset({Status.PASS, Status.WAIVED})
"""Statuses that count as evidence: a rule was judged, and passed or is waived."""


class Outcome(StrEnum):
    """The outcome of a node or a run."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The outcome of the verdicts on a node; `reason` states why it is INCOMPLETE and which command to run next."""

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
    """Return the outcome of a node; with `together`, of a rack or the fleet, which needs no evidence.

    Under the current law, the outcome is INCOMPLETE if the profile is for another machine, if the profile is a
    fragment, or if nothing was judged; else FAIL if a deciding rule fails; else INCOMPLETE if a deciding rule is
    unknown, if evidence is missing, or if it is unknown whether the profile is for this machine; else PASS.
    """
    verdicts = tuple(verdicts)
    if law != FIRST and not fit.decides:
        return Conclusion(Outcome.INCOMPLETE, fit.words)
    if not verdicts:
        return Conclusion(Outcome.INCOMPLETE, "no rule of this profile applies here")
    deciding = [verdict for verdict in verdicts if rules[verdict.rule].decides(verdict.status, verdict.evidence)]
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
        return Conclusion(Outcome.INCOMPLETE, f"{message}{NEXT}")
    return Conclusion(Outcome.PASS)


def _unknown(unknown: list[Verdict]) -> str:
    """Return a text with the first unknown rule and its reason.

    The text does not contain the number of unknown rules, so that nodes in the same state share one line of output.
    """
    first, others = unknown[0], " and others are" if len(unknown) > 1 else " is"
    whys = [each.unknown.reason for each in first.evidence if each.unknown is not None]
    next_ = NEXT_RAW if whys and all(why is Reason.UNPARSABLE for why in whys) else NEXT
    return f"{first.rule}{others} unknown: {clean(first.reason, REASON)}{next_}"


def _no_evidence(verdicts: Iterable[Verdict], rules: Mapping[str, Rule]) -> str:
    own = [verdict for verdict in verdicts if not rules[verdict.rule].built_in]
    unset = sorted({name for verdict in own for name in rules[verdict.rule].unset})
    if own and not any(rules[verdict.rule].severity.decides for verdict in own):
        return "no rule in scope is a blocker or major, so none decides the outcome: see rackcheck profile check"
    if unset and all(rules[v.rule].unset for v in own if rules[v.rule].severity.decides):
        return f"no blocker or major rule could be judged: site values are not set; --set {unset[0]}=VALUE"
    counts = {status: sum(v.status is status for v in own) for status in Status}
    text = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    return f"no blocker or major rule passed, so nothing proves a PASS ({text or 'no rule'}); audit --all lists why"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of several outcomes; INCOMPLETE if there are none, because nothing was judged."""
    found = set(outcomes)
    if Outcome.FAIL in found:
        return Outcome.FAIL
    return Outcome.INCOMPLETE if Outcome.INCOMPLETE in found or not found else Outcome.PASS
