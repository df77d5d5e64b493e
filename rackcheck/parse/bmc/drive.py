"""Drives as a BMC lists them: in Storage, in Chassis, or as devices in SimpleStorage."""

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.chassis import at_own, others
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, named, named_ones, not_there
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.several import several
from rackcheck.parse.bmc.systems import has_some, some

STORAGE = "Systems/*/Storage/*/Drives/*"
BAYS = "Chassis/*/Drives/*"
SIMPLE = "Systems/*/SimpleStorage/*"
_WAY = ("Systems", "Systems/*", "Systems/*/Storage", "Systems/*/Storage/*", STORAGE)


def drives(docs: Documents) -> Gathered:
    """Return every drive once, and why the list may be incomplete.

    Storage lists the drives, and some BMCs list them again in Chassis, under other Ids. Entries with the same serial
    number are the same drive; entries with the same Id may be different drives. The drives in Chassis are used only if
    the list in Storage is complete, because the same drives may be in both lists. If neither Storage nor Chassis lists
    any drive, the devices in SimpleStorage are used. If a BMC lists no drive at all, the drives are unknown. If it
    manages several hosts, no drive is returned, because it is unknown which of them belong to this node.
    """
    many = several(docs)
    if many is not None:
        return [], many
    listed, trouble = _listed(docs, STORAGE)
    stored = _each_once(listed)
    left, other = others(docs)
    placed, unread = named_ones(*at_own(docs, BAYS, left))
    unread = unread or other
    found, doubt = _merged(stored, placed) if trouble is None else (stored, None)
    trouble = trouble or unread
    if not found and _answered(docs):
        found, silent = _simple(docs)
        trouble = trouble or silent
    return has_some(found, trouble or doubt, "drive")


def _listed(docs: Documents, link: str) -> Gathered:
    return named_ones(*gather(docs.at(link)))


def _each_once(drives: list[Resource]) -> list[Resource]:
    """Return the drives without those that another storage controller lists before: same serial number, same model."""
    found: dict[tuple[object, ...], Resource] = {}
    for drive in drives:
        number, model = _number(drive), drive.read("Model").reading
        alike = (number, model) if number is not None and isinstance(model, str) else (drive.uri,)
        found.setdefault(alike, drive)
    return list(found.values())


def _merged(stored: list[Resource], placed: list[Resource]) -> Gathered:
    """Return the drives in Storage and those that only Chassis lists, and why the list may be incomplete.

    Drives are compared by serial number, empty bays by Id. If a drive has no serial number, it may be in both lists,
    and only the drives in Storage are returned.
    """
    uris = {drive.uri for drive in stored}
    others = [drive for drive in placed if drive.uri not in uris]
    if not stored or not others:
        return [*stored, *others], None
    numbers = {_number(drive) for drive in stored}
    bays = {drive.id for drive in stored if _empty(drive)}
    kept = [drive for drive in others if (drive.id not in bays if _empty(drive) else _number(drive) not in numbers)]
    mute = next((drive for drive in (*stored, *kept) if _number(drive) is None and not _empty(drive)), None)
    if mute is None:
        return [*stored, *kept], None
    why = f"{mute.uri} reports no serial number: it may be a drive that is listed twice"
    return stored, Unknown(Reason.NOT_COLLECTED, why)


def _number(drive: Resource) -> str | None:
    reading = identified(drive, "SerialNumber").reading
    return reading if isinstance(reading, str) else None


def _empty(drive: Resource) -> bool:
    return drive.read("Status.State").reading == "Absent"


def _answered(docs: Documents) -> bool:
    """Return whether each resource on the path to the drives was either fetched (it may be empty) or does not exist."""
    resources = [each for link in _WAY for each in gather(docs.at(link))[0]]
    return all(each.trouble is None or not_there(each.trouble) for each in resources)


def _simple(docs: Documents) -> Gathered:
    """Return the devices in SimpleStorage, and why the list may be incomplete."""
    holders, trouble = named_ones(*gather(docs.at(SIMPLE)))
    found: list[Resource] = []
    for holder in holders:
        more, cut = gather(holder.parts("Devices"))
        found += more
        trouble = trouble or cut
    return found, trouble


def key(drive: Resource) -> str:
    """Return the Id of a drive, or the name of a device in SimpleStorage, which has no Id."""
    return named(drive) if "#" in drive.uri else drive.id


def gigabytes(value: object) -> float:
    """Convert a size in bytes to GB; raises Unreadable for 0, which BMCs return for an unknown size."""
    return some(value) / 1e9


def share(value: object) -> float:
    """Return a drive's remaining life in %; raises Unreadable for 0: the drive may be worn out, or not report it."""
    left = some(value)
    if left > 100:
        raise Unreadable(f"is above 100 %: {left:g} %")
    return left
