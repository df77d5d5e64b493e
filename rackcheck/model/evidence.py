"""A verdict, its evidence, and the three-valued logic that combines verdicts."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model.fact import Reason, Unknown


class Status(StrEnum):
    """The six verdicts."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    WAIVED = "waived"
    UNKNOWN = "unknown"
    NA = "n/a"


UNUSABLE = frozenset({Reason.UNPARSABLE, Reason.TOO_LARGE, Reason.TIMEOUT})
"""Reasons why a fact is unknown although its source exists: the reply was broken, cut or late, and so not usable."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One judged fact or item: its path, the observed value, the expected value, and the source.

    `exact` is the observed value without rounding, together with the second value if two values are compared; it is
    empty if `observed` is already exact.
    """

    status: Status
    item: str
    observed: str
    expected: str
    source: str = ""
    unknown: Unknown | None = None
    exact: str = ""

    @property
    def unusable(self) -> bool:
        """Whether the value is unknown because its source returned nothing usable."""
        return self.unknown is not None and self.unknown.reason in UNUSABLE


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule's verdict on one node, with its evidence; `truth` is the verdict without waivers, if it differs."""

    rule: str
    status: Status
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    truth: Status | None = None


_EACH = (Status.FAIL, Status.UNKNOWN, Status.WARN)
_ANY = (Status.PASS, Status.UNKNOWN, Status.WARN, Status.FAIL)


def all_hold(found: Iterable[Status]) -> Status:
    """Combine by "and": fail if any fails, else unknown, else warn, else pass; waived evidence is ignored."""
    statuses = set(found)
    return next((s for s in _EACH if s in statuses), Status.PASS)


def any_holds(found: Iterable[Status]) -> Status:
    """Combine by "or": pass if any passes or all are waived, else unknown, else warn, else fail."""
    statuses = set(found)
    return next((s for s in _ANY if s in statuses), Status.PASS if Status.WAIVED in statuses else Status.FAIL)


def clause_text(evidence: Evidence) -> str:
    """Format a piece of evidence as a clause for the reason of a verdict."""
    if evidence.status is Status.UNKNOWN:
        if evidence.unknown and evidence.observed and evidence.unknown.reason is Reason.NO_CONSENSUS:
            return f"{evidence.item} is {evidence.observed}: {evidence.unknown}"
        if evidence.unknown and evidence.observed:  # the value compared with is unknown
            return f"{evidence.item} is {evidence.observed}, compared with an unknown value ({evidence.unknown})"
        return f"{evidence.item} unknown ({evidence.unknown})" if evidence.unknown else f"{evidence.item} unknown"
    return f"{evidence.item} is {seen(evidence)}, {evidence.expected}"


def seen(evidence: Evidence) -> str:
    """Return the observed value, without rounding if the rounded value would look like the expected value."""
    alike = evidence.expected.endswith(f" {evidence.observed}")
    number = evidence.exact and not {":", ";"}.intersection(evidence.exact)  # and not a list of counted items
    return evidence.exact if alike and number else evidence.observed
