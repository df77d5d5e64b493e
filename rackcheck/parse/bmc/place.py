"""The location of a machine and the type of its chassis, as configured in its BMC."""

from collections.abc import Callable

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Sourced, Unknown, Unreadable, Value, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import hosts
from rackcheck.parse.bmc.item import gather, read_ones
from rackcheck.parse.bmc.part import whole

ValueReader = Callable[[object], Value]

PLACES: dict[str, tuple[str, ValueReader]] = {
    "rack": ("Location.Placement.Rack", text_of),
    "row": ("Location.Placement.Row", text_of),
    "offset": ("Location.Placement.RackOffset", whole),
    "room": ("Location.PostalAddress.Room", text_of),
    "building": ("Location.PostalAddress.Building", text_of),
}
"""For each fact about the location, the path of its Redfish property and the reader of its value."""


def kind(value: object) -> str:
    """Return the type of a chassis; raises Unreadable for `ChassisType`, which AMI returns if there is no type."""
    word = text_of(value)
    if word == "ChassisType":
        raise Unreadable(f"is {word!r}", Reason.NOT_COLLECTED)
    return word


def host_chassis(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the chassis that the host is in, and why the list may be incomplete.

    If the BMC manages several hosts, these are the chassis of all of them.
    """
    main, trouble = hosts(docs)
    found: dict[str, Resource] = {}
    for host in main:
        more, unread = gather(docs.at("Links/Chassis/*", host))
        found |= {chassis.uri: chassis for chassis in more}
        trouble = trouble or unread
    kept, trouble = read_ones(list(found.values()), trouble)
    if not kept and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, "no system of this BMC links to its chassis")
    return kept, trouble


def place(chassis: list[Resource], trouble: Unknown | None, fact: str) -> Unknown | Sourced:
    """Return one fact about the host's location; unknown if the host's chassis report different locations."""
    if trouble is not None:
        return trouble
    name, reader = PLACES[fact]
    rows = [each.read(name, reader) for each in chassis if "Location" in each.body]
    if not rows:
        return Unknown(Reason.NOT_COLLECTED, f"{chassis[0].uri} has no Location")
    mute = next((each for each in rows if isinstance(each.reading, Unknown)), None)
    if mute is not None or len({each.reading for each in rows}) == 1:
        return mute or rows[0]
    shown = ", ".join(str(each.reading) for each in rows)
    return Unknown(Reason.UNPARSABLE, f"the chassis of the host have different values of {name}: {clean(shown)}")
