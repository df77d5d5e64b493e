"""Systems behind one BMC: which of them is the host, what each of them lists, and what they say with one voice."""

from collections.abc import Callable, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.redfish_value import amount, measured, text_of
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.item import gather, members, read_ones

Gathered = tuple[list[Resource], Unknown | None]
"""What resources there are, and why they are not all, if they are not."""


def hosts(docs: Documents) -> Gathered:
    """Gather the systems that have a BIOS; a GPU baseboard has none, and says so by lacking the property.

    Where none has one, as on a switch tray, all of them are hosts; where one could not be read, it may be the host.
    """
    systems, trouble = members(docs, "Systems")
    trouble = trouble or next((system.unread for system in systems if system.unread is not None), None)
    found = [system for system in systems if "BiosVersion" in system.body or "Bios" in system.body]
    return has_some(found or ([] if trouble else systems), trouble, "system")


def below(docs: Documents, systems: Sequence[Resource], name: str) -> Gathered:
    """Gather the members of one collection of each system; a system without the collection is not one without members.

    What several systems share comes once.
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
    return read_ones(list(found.values()), trouble)


def has_some(found: list[Resource], trouble: Unknown | None, what: str) -> Gathered:
    """Take what a machine cannot be without; where its BMC lists none, it has not heard of them (yet)."""
    if not found and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"this BMC lists no {what}")
    return found, trouble


def agreed(systems: Gathered, name: str, reader: Callable[[object], Value] = text_of) -> Sourced | Unknown:
    """Read one property that the hosts of a BMC must tell alike; where one of them does not say it, nobody knows."""
    found, trouble = systems
    if trouble is not None:
        return trouble
    rows = [system.read(name, reader) for system in found]
    mute = next((each for each in rows if isinstance(each.reading, Unknown)), None)
    if mute is not None or not rows:
        return mute or Unknown(Reason.NOT_COLLECTED, f"no system of this BMC has {name}")
    if len({each.reading for each in rows}) > 1:
        shown = ", ".join(f"{system.id}: {each.reading}" for system, each in zip(found, rows, strict=True))
        return Unknown(Reason.UNPARSABLE, f"{name} differs: {clean(shown)}")
    return rows[0]


def parts(systems: Sequence[Resource], name: str) -> Gathered:
    """Gather the parts of one list inside each system; a system without the list is not one without parts."""
    found: list[Resource] = []
    trouble: Unknown | None = None
    for system in systems:
        more, cut = gather(system.parts(name))
        if name not in system.body and cut is None:
            cut = Unknown(Reason.NOT_COLLECTED, f"{system.uri} has no {name}")
        found, trouble = found + more, trouble or cut
    return found, trouble


def entries(value: object, most: int) -> list[object]:
    """Give the entries of a list that holds some; an empty one is what BMCs say where they do not know."""
    if not isinstance(value, list):
        raise Unreadable(
            f"is no list: {clean(repr(value))}", Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
        )
    if not value:
        raise Unreadable("is empty", Reason.NOT_COLLECTED)
    if len(value) > most:
        raise Unreadable(f"has {len(value)} entries", Reason.TOO_LARGE)
    return value


def some(value: object) -> float:
    """Give an amount of which there must be some: a zero is what BMCs say where they do not know."""
    number = amount(value)
    if number == 0:
        raise Unreadable("is 0, which nothing has", Reason.NOT_COLLECTED)
    return number


def gibibytes(value: object) -> float:
    """Give a size in MiB as GiB; 0 is not known."""
    return some(value) / 1024


def whole(value: object) -> int:
    """Give a count of things of which there must be some: cores, threads, ranks."""
    number = measured(value)
    if number != int(number):
        raise Unreadable(f"not a whole number: {number:g}")
    return int(some(number))
