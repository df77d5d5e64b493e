"""Parts that a BMC lists twice, in two systems or in two schemas: found by serial number or label, and merged."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.identity import serial, uuid
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import not_there
from rackcheck.parse.bmc.part import mark

LABELS = ("Socket", "DeviceLocator", "Location.PartLocation.ServiceLabel")
"""Properties with the name that the board gives to the position of a part."""

IDENTITIES = {"UUID": uuid, "SerialNumber": serial}
"""Properties that identify a part, each with the function that spells it."""

_NO_LINK = regex(r" has no \w+\Z")

Complete = Callable[[Sequence[Resource]], bool]
"""A function that returns whether parts add up to what the host's summary reports; False if it reports nothing."""


@dataclass(frozen=True)
class _Matches:
    """The own parts, each with the other resource of the same part if there is one, and the other parts left over.

    `distinct` is true if it is known that the parts left over are not among the own parts.
    """

    own: list[Resource]
    left: list[Resource]
    distinct: bool


def merged(own: Gathered, others: Gathered, complete: Complete, lost: Unknown | None = None) -> Gathered:
    """Return the parts of a host, of which some may be listed by another system of the same machine, each once.

    If the own parts add up to the host's summary, or if the host lists parts and the other system only the same, the
    other system adds only properties that the host leaves out. If it is unknown whether a part of the other system is
    among the own parts, the list is incomplete.

    The health of a part that both list is the worse one. If the host has a list and it is empty, the host's health was
    not read, so the health of the other system's parts is unknown. `lost` is why nothing of another list was read: a
    health of the host's parts is then known only if it is Critical. The same is true of a part that is not in the other
    list, if that was not read to its end, and has another part of the host.
    """
    found, trouble = own
    extra, cut = others
    if not extra:
        return _unsure(found, lost, every=True), trouble or (None if found else cut)
    if not found:
        if trouble is None:
            return [_without_health(each) for each in extra], cut
        if missing(trouble) and (complete(extra) or not not_there(trouble)):
            return extra, cut
        return [], trouble
    matches = _match(found, extra)
    mine = _unsure(matches.own, cut if any(each.beside for each in matches.own) else None)
    mine = _unsure(mine, lost, every=True)
    if complete(found):
        return mine, trouble
    union = [*mine, *matches.left]
    if not matches.left or matches.distinct or complete(union):
        return union, trouble or (None if complete(union) else cut)
    why = f"whether {matches.left[0].uri} is one of the parts that the host lists is unknown: it has another label"
    return mine, trouble or Unknown(Reason.NOT_COLLECTED, why)


def unread(lists: Iterable[Gathered]) -> Unknown | None:
    """Return why nothing of one of several lists was read; None if something of each was, or if one is empty."""
    return next((cut for found, cut in lists if cut is not None and not found), None)


def hidden(lists: Iterable[Sequence[Resource]], foreign: Callable[[Resource], bool]) -> Unknown | None:
    """Return why a member of another list that was not read may be a part of the host; None if no member may.

    A member is not, if its name differs only in numbers from that of a `foreign` one: `GPU_SXM_3` beside `GPU_SXM_1`.
    """
    for listed in lists:
        names = {_pattern(each) for each in listed if each.unread is None and foreign(each)}
        for each in listed:
            if each.unread is not None and _pattern(each) not in names:
                return each.unread
    return None


def _pattern(resource: Resource) -> str:
    return re.sub(r"[0-9]+", "#", resource.uri.rstrip("/").rpartition("/")[2].casefold())


def _unsure(parts: list[Resource], cut: Unknown | None, *, every: bool = False) -> list[Resource]:
    """Return the parts, with the reason why another list may have them too: all of them, or those without another."""
    if cut is None:
        return parts
    return [_beside(each, Resource(each.uri, {}, cut)) if every or each.beside is None else each for each in parts]


def _beside(part: Resource, other: Resource) -> Resource:
    """Return a part with another resource of it beside it, after those that are beside it already."""
    return replace(part, beside=other if part.beside is None else _beside(part.beside, other))


def together(lists: Iterable[Gathered]) -> Gathered:
    """Return the parts that several other systems list, each once, and why the list may be incomplete."""
    found: list[Resource] = []
    trouble: Unknown | None = None
    for listed, cut in lists:
        trouble = trouble or cut
        known = {each.uri for each in found}
        more = [each for each in listed if each.uri not in known]
        if not found or not more:
            found += more
            continue
        matches = _match(found, more)
        found = matches.own
        if matches.distinct:
            found += matches.left
        elif matches.left:
            why = f"whether {matches.left[0].uri} is one of the parts that another system lists is unknown"
            trouble = trouble or Unknown(Reason.NOT_COLLECTED, why)
    return found, trouble


def _without_health(part: Resource) -> Resource:
    status = part.body.get("Status")
    if not isinstance(status, Mapping):
        return part
    kept = {"State": status["State"]} if "State" in status else {}
    return replace(part, body={**part.body, "Status": {**kept, "Health": None}})


def missing(trouble: Unknown) -> bool:
    """Return whether a system has no such list: it has no link to one, or the link leads nowhere (404).

    A list without Members is another case: it is there, and could not be read.
    """
    return not_there(trouble) or (trouble.reason is Reason.NOT_COLLECTED and bool(_NO_LINK.search(trouble.detail)))


@dataclass(frozen=True)
class _Marks:
    """The identities of a part by the names of their properties, and its labels."""

    identities: dict[str, str]
    labels: set[str]

    def differ(self, other: "_Marks", names: Sequence[str] = tuple(IDENTITIES)) -> bool:
        return any(e in other.identities and word != other.identities[e] for e, word in self._of(names))

    def _of(self, names: Sequence[str]) -> list[tuple[str, str]]:
        return [(name, word) for name, word in self.identities.items() if name in names]


def _match(own: Sequence[Resource], others: Sequence[Resource]) -> _Matches:
    marks, other_marks = list(map(_marks, own)), list(map(_marks, others))
    sides = (marks, other_marks)
    counts = [Counter(item for each in side for item in each.identities.items()) for side in sides]
    labels = [Counter(label for each in side for label in each.labels) for side in sides]
    alone = [{item for item in e.identities.items() if all(side[item] <= 1 for side in counts)} for e in other_marks]
    by_identity = {item: i for i, each in enumerate(marks) for item in each.identities.items()}
    by_label = {label: i for i, each in enumerate(marks) for label in each.labels}
    pairs: dict[int, int] = {}  # of the others, the index of the own part
    taken: set[int] = set()
    for name in IDENTITIES:
        for at, each in enumerate(other_marks):
            item = (name, each.identities.get(name, ""))
            index = by_identity.get(item, -1) if item in alone[at] and at not in pairs else -1
            # The GPUs of one module may report the module's serial number.
            if index >= 0 and index not in taken and not each.differ(marks[index], ("UUID",)):
                pairs[at] = index
                taken.add(index)
    claimed = False  # another part has the label of an own part that has its match
    for at, each in enumerate(other_marks):
        known = [label for label in each.labels if label in by_label and all(side[label] == 1 for side in labels)]
        # Two serial numbers that differ are two parts, whatever the labels are.
        named = {by_label[label] for label in known if not each.differ(marks[by_label[label]])}
        if at not in pairs and named - taken:
            pairs[at] = min(named - taken)
            taken.add(pairs[at])
        claimed = claimed or (at not in pairs and bool(named))
    found = list(own)
    for at, index in pairs.items():
        found[index] = _beside(found[index], others[at])
    left = [at for at in range(len(others)) if at not in pairs]
    everywhere = {name for name in IDENTITIES if all(name in each.identities for each in marks)}
    numbered = all(any(e[0] in everywhere and e not in by_identity for e in alone[at]) for at in left)
    return _Matches(found, [others[at] for at in left], numbered or (len(taken) == len(own) and not claimed))


def _marks(part: Resource) -> _Marks:
    words = {name: mark(part, name, spell) for name, spell in IDENTITIES.items()}
    return _Marks({name: word for name, word in words.items() if word}, _labels(part))


def _labels(part: Resource) -> set[str]:
    """Return the labels of a part's position in one spelling: CPU 1 and CPU1 are the same."""
    readings = (part.read(name).reading for name in LABELS)
    words = {re.sub(r"[^0-9a-z.:]", "", str(each).casefold()) for each in readings if not isinstance(each, Unknown)}
    return words - {""}
