"""A verdict, what it rests on, and the three-valued logic that joins verdicts."""

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


@dataclass(frozen=True, slots=True)
class Evidence:
    """One leaf as judged: which item, what was seen, what was wanted, and where it was read.

    `exact` is what was seen without loss, where `observed` is not that: rounded, or one side of a comparison.
    """

    status: Status
    item: str
    observed: str
    expected: str
    source: str = ""
    unknown: Unknown | None = None
    exact: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule's verdict on one node, with what it rests on; `truth` is the verdict without waivers, if another."""

    rule: str
    status: Status
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    truth: Status | None = None


_EACH = (Status.FAIL, Status.UNKNOWN, Status.WARN)
_ANY = (Status.PASS, Status.UNKNOWN, Status.WARN, Status.FAIL)


def all_hold(found: Iterable[Status]) -> Status:
    """Join by and: fail, then unknown, then warn, else pass; what is waived is taken out."""
    statuses = set(found)
    return next((s for s in _EACH if s in statuses), Status.PASS)


def any_holds(found: Iterable[Status]) -> Status:
    """Join by or: pass, then unknown, then warn, else fail; what is waived is taken out, and all of it is enough."""
    statuses = set(found)
    return next((s for s in _ANY if s in statuses), Status.PASS if Status.WAIVED in statuses else Status.FAIL)


def clause_text(evidence: Evidence) -> str:
    """Write a piece of evidence as a clause of a reason."""
    if evidence.status is Status.UNKNOWN:
        if evidence.unknown and evidence.observed and evidence.unknown.reason is Reason.NO_CONSENSUS:
            return f"{evidence.item} is {evidence.observed}: {evidence.unknown}"
        if evidence.unknown and evidence.observed:  # what stands here is known, and what it is held against is not
            return f"{evidence.item} is {evidence.observed}, held against what is unknown ({evidence.unknown})"
        return f"{evidence.item} unknown ({evidence.unknown})" if evidence.unknown else f"{evidence.item} unknown"
    return f"{evidence.item} is {seen(evidence)}, {evidence.expected}"


def seen(evidence: Evidence) -> str:
    """Write what was seen as people do; without loss where what was wanted would be written alike."""
    alike = evidence.expected.endswith(f" {evidence.observed}")
    number = evidence.exact and not {":", ";"}.intersection(evidence.exact)  # and not a list of what was counted
    return evidence.exact if alike and number else evidence.observed
