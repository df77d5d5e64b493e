"""Helpers for the resources of parts: properties with several names, texts of labels, linked resources."""

from collections.abc import Callable

from rackcheck.model import identity
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN, measured, text_of
from rackcheck.model.resource import MEMBERS, Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.item import fitted, gather, named_ones, not_there


def named_first(resource: Resource, *names: str) -> str:
    """Return the name that a resource uses for a property with different names in different versions of the schema.

    If the resource has no value for it, that is the name which the resource beside it uses, if it has a value.
    """
    own = next((name for name in names if name.partition(".")[0] in resource.body), None)
    other = resource.beside
    if other is None or other.unread is not None or (own is not None and resource.value(own) is not None):
        return own or names[0]
    return next((name for name in names if other.value(name) is not None), own or names[0])


def mark(resource: Resource, name: str, spell: Callable[[str], str]) -> str:
    """Return an identity in one spelling; empty if the resource reports none, or a placeholder."""
    reading = resource.read(name).reading
    return "" if isinstance(reading, Unknown) else spell(str(reading))


LABELS: dict[str, Callable[[str], object]] = {
    "SerialNumber": identity.serial,
    "UUID": identity.uuid,
    "PartNumber": identity.is_label,
    "SparePartNumber": identity.is_label,
    "SKU": identity.is_label,
    "AssetTag": identity.is_label,
}
"""Properties that identify a part; for each, a function whose result is false for a placeholder."""


def identified(resource: Resource, name: str) -> Sourced:
    """Read a property of `LABELS` at any depth; absent if its value is a placeholder or blank, or the slot is empty.

    A property that is null or missing is unknown: the BMC may not have read it yet.
    """
    sourced = fitted(resource, name, _stored)
    if isinstance(sourced.reading, str) and not LABELS[name.rpartition(".")[2]](sourced.reading):
        return Sourced(Absent(f"the BMC returns the placeholder {clean(repr(sourced.reading), 60)}"), sourced.source)
    return sourced


SERIAL, SOME = "SerialNumber", "some serial number"


def unnumbered(resource: Resource) -> Resource:
    """Return a resource and those beside it with the text `SOME` in place of a serial number, which differs everywhere.

    What is read from the result may depend on whether there is a serial number, and not on the number.
    """
    return resource.with_body(lambda body: {**body, SERIAL: SOME} if _is_serial(body.get(SERIAL)) else body)


def _is_serial(value: object) -> bool:
    try:
        return identity.serial(text_of(value)) != ""
    except Unreadable:
        return False


def _stored(value: object) -> str:
    if not isinstance(value, str) or BROKEN in value:
        return text_of(value)
    return value.strip()


def label(value: object) -> str:
    """Return a text from a part's label, such as its serial number.

    Raises Unreadable if a part's label is all zeros or `nil`, because its text was then never stored.
    """
    word = text_of(value)
    if not word.strip("0"):
        raise Unreadable(f"is {word[:40]!r}", Reason.NOT_COLLECTED)
    return revision(word)


def revision(value: object) -> str:
    """Return a version or number unchanged; raises Unreadable for `nil`, AMI's text for a part that did not respond."""
    word = text_of(value)
    if word.casefold() == "nil":
        raise Unreadable(f"is {word!r}", Reason.NOT_COLLECTED)
    return word


def listed(value: object) -> list[object]:
    """Return a list; raises Unreadable if the value is null or of another type, or if the list is too long."""
    if not isinstance(value, list):
        reason = Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
        raise Unreadable(f"is not a list: {clean(repr(value))}", reason)
    if len(value) > MEMBERS:
        raise Unreadable(f"has {len(value)} items; the maximum is {MEMBERS}", Reason.TOO_LARGE)
    return value


def whole(value: object) -> int:
    """Return a whole number that is not below zero."""
    number = measured(value)
    if number != int(number) or number < 0:
        raise Unreadable(f"is not a whole number: {number:g}")
    return int(number)


def only(docs: Documents, link: str, start: Resource) -> Resource | Unknown:
    """Return the resource that a link leads to, or the first of several; if there is none, return the reason."""
    found, trouble = gather(docs.at(link, start))
    if found and found[0].unread is None:
        return found[0]
    if found:
        return found[0].unread or Unknown(Reason.NOT_COLLECTED, found[0].uri)
    return trouble or Unknown(Reason.NOT_COLLECTED, f"{start.uri} has no {link}")


def below(docs: Documents, start: Resource, *links: str) -> tuple[list[Resource], Unknown | None]:
    """Return the members of the first of these collections that has any, and why the list may be incomplete.

    The collections are tried in the order of `links`, the newest schema first; a collection is used only if all
    collections before it are missing or empty.
    """
    trouble: Unknown | None = None
    known = False
    for link in links:
        collections, unread = gather(docs.at(link, start))
        for collection in collections:
            found, cut = gather(docs.at("*", collection))
            if found:
                return named_ones(found, unread or cut)
            known, unread = known or cut is None, unread or cut
        if unread is not None and not not_there(unread):
            return [], unread
        trouble = trouble or unread
    if trouble is None and not known:
        trouble = Unknown(Reason.NOT_COLLECTED, f"{start.uri} has no {' or '.join(links)}")
    return [], trouble
