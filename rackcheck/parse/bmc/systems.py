"""Systems behind one BMC: what each lists, and the values on which all hosts agree."""

from collections.abc import Callable, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.redfish_value import amount, measured, text_of
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, named_ones


def below(docs: Documents, systems: Sequence[Resource], name: str) -> Gathered:
    """Return the members of the collection `name` of each system, and why the list may be incomplete.

    A missing collection makes the list incomplete. Resources shared by several systems are listed once.
    """
    found: dict[str, Resource] = {}
    trouble: Unknown | None = None
    for system in systems:
        collections, failed = gather(docs.at(name, system))
        if not collections and failed is None:
            failed = Unknown(Reason.NOT_COLLECTED, f"{system.uri} has no {name}")
        for collection in collections:
            more, cut = gather(docs.at("*", collection))
            failed = failed or cut
            for each in more:
                found.setdefault(each.uri, each)
        trouble = trouble or failed
    return named_ones(list(found.values()), trouble)


def has_some(found: list[Resource], trouble: Unknown | None, what: str) -> Gathered:
    """Return the items, and why the list may be incomplete; an empty list counts as incomplete (not detected yet)."""
    if not found and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"this BMC lists no {what}")
    return found, trouble


def agreed(systems: Gathered, name: str, reader: Callable[[object], Value] = text_of) -> Sourced | Unknown:
    """Read one property that must be equal on all hosts of a BMC; unknown if they differ, or if one reports none."""
    return shared(systems, lambda system: system.read(name, reader), name)


def shared(systems: Gathered, read: Callable[[Resource], Sourced], name: str) -> Sourced | Unknown:
    """Read with `read` what must be equal on all hosts of a BMC, as `agreed` does; `name` is for the reason."""
    found, trouble = systems
    if trouble is not None:
        return trouble
    rows = [read(system) for system in found]
    mute = next((each for each in rows if isinstance(each.reading, Unknown)), None)
    if mute is not None or not rows:
        return mute or Unknown(Reason.NOT_COLLECTED, f"no system of this BMC has {name}")
    if len({each.reading for each in rows}) > 1:
        shown = ", ".join(f"{system.id}: {each.reading}" for system, each in zip(found, rows, strict=True))
        return Unknown(Reason.UNPARSABLE, f"the systems of this BMC have different values of {name}: {clean(shown)}")
    return rows[0]


def parts(systems: Sequence[Resource], name: str) -> Gathered:
    """Return the items of an array in each system; a system without the array makes the list incomplete."""
    found: list[Resource] = []
    trouble: Unknown | None = None
    for system in systems:
        more, cut = gather(system.parts(name))
        if name not in system.body and cut is None:
            cut = Unknown(Reason.NOT_COLLECTED, f"{system.uri} has no {name}")
        found += more
        trouble = trouble or cut
    return found, trouble


def entries(value: object, most: int) -> list[object]:
    """Return a list of at most `most` entries; raises Unreadable on anything else, and if it is empty.

    BMCs return an empty list if the entries are unknown.
    """
    if not isinstance(value, list):
        raise Unreadable(
            f"is not a list: {clean(repr(value))}", Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
        )
    if not value:
        raise Unreadable("is empty", Reason.NOT_COLLECTED)
    if len(value) > most:
        raise Unreadable(f"has {len(value)} entries", Reason.TOO_LARGE)
    return value


def some(value: object) -> float:
    """Return an amount; raises Unreadable for zero, which BMCs return for an unknown amount."""
    number = amount(value)
    if number == 0:
        raise Unreadable("is 0, which BMCs return for an unknown value", Reason.NOT_COLLECTED)
    return number


def gibibytes(value: object) -> float:
    """Convert a size in MiB to GiB; raises Unreadable for 0, which BMCs return for an unknown size."""
    return some(value) / 1024


def whole(value: object) -> int:
    """Return a count, such as of cores or threads; raises Unreadable if it is not a whole number above zero."""
    number = measured(value)
    if number != int(number):
        raise Unreadable(f"is not a whole number: {number:g}")
    return int(some(number))
