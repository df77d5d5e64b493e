"""Waivers: accepted findings, each with an end date and pinned to one rule, one node and one value.

Pure. A waiver hides only what it pins: another node, another value (better or worse) or a changed rule is judged as if
there were no waiver.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rackcheck.model.evidence import Evidence, Status, Verdict
from rackcheck.model.profile import Rule
from rackcheck.model.regex import regex


@dataclass(frozen=True, slots=True)
class Pin:
    """The finding at the time the waiver was written: an item (`nic/mlx5_4.rate`) and its value, without loss."""

    item: str
    observed: str


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver: `digest` is its rule's digest, `until` its last valid day (YYYY-MM-DD), `place` its file and line."""

    rule: str
    digest: str
    nodes: tuple[str, ...]
    pins: tuple[Pin, ...]
    until: str
    by: str
    ticket: str
    reason: str
    place: str = ""

    @property
    def words(self) -> str:
        """Who is responsible for the waiver, until when it is valid, and its reason."""
        return f"waived until {self.until} by {self.by} ({self.ticket}): {self.reason}"


Granted = Mapping[Pin, Waiver]
"""The findings of one rule on one node that may be waived, each with its waiver."""

NOTHING: Granted = {}


class WaiverState(StrEnum):
    """The state of a waiver in a run."""

    USED = "used"
    UNUSED = "unused"
    LAPSED = "lapsed"
    EXPIRED = "expired"
    WAITING = "waiting"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a waiver on some of its nodes, and the reason."""

    waiver: Waiver
    state: WaiverState
    nodes: tuple[str, ...]
    detail: str = ""


def last_day(day: str) -> str:
    """Return the latest end date of a waiver written on `day`: one year later (YYYY-MM-DD, compared as text)."""
    return f"{int(day[:4]) + 1:04}{day[4:]}"


def troubled(waiver: Waiver, rules: Mapping[str, Rule], day: str) -> tuple[WaiverState, str] | None:
    """Return why a waiver is invalid for every node on this day, by its date or its rule; None if it may be valid."""
    if waiver.until < day:
        return WaiverState.EXPIRED, f"its last day was {waiver.until}"
    if waiver.until > last_day(day):
        return (
            WaiverState.EXPIRED,
            f"until {waiver.until} is more than a year after {day}; a waiver lasts at most a year",
        )
    rule = rules.get(waiver.rule)
    if rule is None:
        return WaiverState.UNUSED, f"the profile has no rule {waiver.rule}"
    if rule.digest != waiver.digest:
        return WaiverState.LAPSED, "the rule was changed since it was waived"
    return None


def granted(waivers: Iterable[Waiver], rules: Sequence[Rule], node: str, day: str) -> Mapping[str, Granted]:
    """Return the findings that may be waived on a node, by rule."""
    known = {rule.id: rule for rule in rules}
    found: dict[str, dict[Pin, Waiver]] = {}
    for waiver in waivers:
        if node in waiver.nodes and troubled(waiver, known, day) is None:
            for pin in waiver.pins:
                found.setdefault(waiver.rule, {}).setdefault(pin, waiver)
    return found


def pinned(evidence: Evidence) -> Pin:
    """Return the pin that a waiver must have to waive this piece of evidence."""
    return Pin(evidence.item, evidence.exact or evidence.observed)


def taken(evidence: Evidence, pins: Granted) -> Evidence:
    """Return evidence as waived if a waiver pins exactly this finding; only evidence that fails or warns can be waived.

    Failing evidence that is partly unknown becomes unknown if a waiver pins its item, since it may be the waived
    finding or a worse finding.
    """
    if not pins or evidence.status not in {Status.FAIL, Status.WARN}:
        return evidence
    if evidence.unknown is not None and any(pin.item == evidence.item for pin in pins):
        return replace(evidence, status=Status.UNKNOWN)
    return replace(evidence, status=Status.WAIVED) if pinned(evidence) in pins else evidence


def standings(
    waivers: Iterable[Waiver], judged: Mapping[str, Sequence[Verdict]], rules: Sequence[Rule], day: str
) -> Iterator[Standing]:
    """Yield the state of each waiver in a run on `day` (YYYY-MM-DD); `judged` contains the verdicts by node."""
    known = {rule.id: rule for rule in rules}
    index = {node: {verdict.rule: verdict for verdict in verdicts} for node, verdicts in judged.items()}
    for waiver in waivers:
        trouble = troubled(waiver, known, day)
        if trouble is not None:
            yield Standing(waiver, trouble[0], waiver.nodes, trouble[1])
            continue
        values: dict[tuple[WaiverState, str], list[str]] = {}
        for node in waiver.nodes:
            verdict = index.get(node, {}).get(waiver.rule)
            values.setdefault(_stands(waiver, verdict), []).append(node)
        for (state, detail), nodes in values.items():
            yield Standing(waiver, state, tuple(nodes), detail)


def _stands(waiver: Waiver, verdict: Verdict | None) -> tuple[WaiverState, str]:
    if verdict is None:
        return WaiverState.ELSEWHERE, "not judged in this run"
    seen = {evidence.item: evidence for evidence in verdict.evidence}
    states = [_pin_stands(pin, seen.get(pin.item), verdict) for pin in waiver.pins]
    order = (WaiverState.LAPSED, WaiverState.WAITING, WaiverState.USED, WaiverState.UNUSED)
    return min(states, key=lambda rows: order.index(rows[0]))


def _pin_stands(pin: Pin, seen: Evidence | None, verdict: Verdict) -> tuple[WaiverState, str]:
    if seen is not None and seen.status is Status.WAIVED:
        return WaiverState.USED, ""
    if seen is not None and seen.status in {Status.FAIL, Status.WARN} and pinned(seen) != pin:
        return WaiverState.LAPSED, f"{pin.item} is {pinned(seen).observed} now, and was waived as {pin.observed}"
    if verdict.status is Status.UNKNOWN:
        return WaiverState.WAITING, f"the current value of {pin.item} is unknown"
    if BY_INDEX.match(pin.item):
        same = [each.item for each in verdict.evidence if _may_be(pin, each)]
        named = f"; {', '.join(same)} has the waived value" if len(same) == 1 else ""
        return WaiverState.UNUSED, f"{pin.item} names a GPU by its index; {NAMED_NOW}{named}"
    return WaiverState.UNUSED, f"the verdict of the rule is {verdict.status.value}"


def _may_be(pin: Pin, evidence: Evidence) -> bool:
    """Whether a finding has the leaf and the value of a pin that names a GPU by its index.

    Which GPU had the index when the waiver was written is not known: an index shifts with any GPU that is gone. The
    finding is named for the person who waives it again, and is not waived.
    """
    leaf, other = BY_INDEX.sub("", pin.item), GPU.sub("", evidence.item)
    same = leaf == other and pinned(evidence).observed == pin.observed
    return same and evidence.status in {Status.FAIL, Status.WARN}


GPU = regex(r'\Agpu/(?:"[^"]*"|[^./"]+)')
"""Matches the name of a GPU at the beginning of an item: by its module, or by its PCI address in quotes."""

BY_INDEX = regex(r"gpu/\d+(?![^.])")
"""Matches a GPU that is named by the driver's index, as in waivers and bills of materials of older releases."""

NAMED_NOW = "GPUs are named by module or PCI address now: waive the finding again"
