"""Parts that a chassis lists in two schemas: the older one serves for properties that the newer one leaves out."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.identity import serial
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import LinkForm
from rackcheck.parse.bmc.item import gather
from rackcheck.parse.bmc.part import mark

Marks = Callable[[Resource], str]


def with_older(
    docs: Documents, found: Sequence[Resource], form: LinkForm
) -> tuple[list[Resource], Unknown | None]:  # fmt: skip
    """Return the parts, each with the same part of the older resource `form` of its chassis beside it, if there is one.

    The second result is why parts may be missing: the older resource exists, but was not read, or not to its end.

    Parts that only the older resource lists are added if each part of the newer one is found in the older one, because
    the two then name parts alike. Otherwise the older resource may name the same parts differently, and adds none; nor
    does it add a part whose state is Absent. Parts that were read from the older resource, or whose older resource this
    probe does not fetch, are returned as they are.
    """
    places: dict[str, tuple[Resource, list[Resource]]] = {}
    for each in found:
        if each.owner is not None and "#" not in each.uri:
            places.setdefault(each.owner.uri, (each.owner, []))[1].append(each)
    kept = {each.uri: each for each in found}
    added: list[Resource] = []
    trouble: Unknown | None = None
    for chassis, newer in places.values():
        try:
            older, cut = _older(docs, chassis, form)
        except Missing:
            continue
        trouble = trouble or cut
        pairs = _pairs(newer, older)
        kept |= {each.uri: replace(each, beside=other) for each, other in pairs}
        if len(pairs) == len(newer):
            paired = {other.uri for _, other in pairs}
            added += [each for each in older if each.uri not in paired and _installed(each)]
    return [*(kept[each.uri] for each in found), *added], trouble


def _older(docs: Documents, chassis: Resource, form: LinkForm) -> tuple[list[Resource], Unknown | None]:
    """Return the parts in the older resource of a chassis, and why there may be more.

    A resource that the BMC does not have, or whose list is null, lists no parts.
    """
    link, name = form
    holders, unread = gather(docs.at(link, chassis))
    older: list[Resource] = []
    cuts = [unread]
    for holder in holders:
        parts, cut = gather(holder.parts(name))
        older += parts
        cuts.append(cut)
    return older, next((each for each in cuts if each is not None and each.reason is not Reason.NOT_COLLECTED), None)


def _installed(part: Resource) -> bool:
    return part.unread is None and part.read("Status.State").reading != "Absent"


def either(resource: Resource, read: Callable[[Resource], Sourced]) -> Sourced:
    """Read a property that the two schemas name differently: from the resource, or else from the one beside it."""
    own = read(resource)
    if resource.beside is None or not isinstance(own.reading, Unknown):
        return own
    other = read(resource.beside)
    return own if isinstance(other.reading, Unknown) else other


def _pairs(newer: Sequence[Resource], older: Sequence[Resource]) -> list[tuple[Resource, Resource]]:
    """Return the parts of both lists that are the same: by serial number, by name, or if all Ids are equal, by Id.

    An Id alone is not sufficient: one schema may count from 0, and the other from 1.
    """
    ids = {each.id for each in newer} == {each.id for each in older}
    marks: tuple[Marks, ...] = (_serial, _name, *((_id,) if ids else ()))
    pairs: dict[str, tuple[Resource, Resource]] = {}
    used: set[str] = set()
    for each in marks:
        counts = [Counter(map(each, side)) for side in (newer, older)]
        by_mark = {each(part): part for part in older if part.uri not in used}
        for part in newer:
            word = each(part)
            other = by_mark.get(word) if word and all(count[word] == 1 for count in counts) else None
            if other is None or part.uri in pairs or _differ(part, other):
                continue
            pairs[part.uri] = (part, other)
            used.add(other.uri)
    return list(pairs.values())


def _differ(one: Resource, other: Resource) -> bool:
    numbers = _serial(one), _serial(other)
    return all(numbers) and numbers[0] != numbers[1]


def _serial(part: Resource) -> str:
    return mark(part, "SerialNumber", serial)


def _name(part: Resource) -> str:
    return mark(part, "Name", lambda word: re.sub(r"[\W_]", "", word.casefold()))


def _id(part: Resource) -> str:
    return part.id
