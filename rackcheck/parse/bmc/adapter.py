"""Network adapters of a BMC: their ports, and their firmware as each of their controllers reports it."""

from collections.abc import Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Sourced, Unknown, clean
from rackcheck.model.resource import Resource, inside
from rackcheck.parse.bmc.chassis import in_chassis
from rackcheck.parse.bmc.item import gather
from rackcheck.parse.bmc.part import below, revision


def adapters(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the adapters of every chassis, and why the list may be incomplete."""
    return in_chassis(docs, ("NetworkAdapters", "*"))


def ports(docs: Documents, adapter: Resource) -> tuple[list[Resource], Unknown | None]:
    """Return an adapter's ports from the newer schema, or else from the older, and why the list may be incomplete."""
    return below(docs, adapter, "Ports", "NetworkPorts")


def walked(docs: Documents) -> None:
    """Fetch every port of every adapter."""
    for adapter in adapters(docs)[0]:
        ports(docs, adapter)


def firmware(adapter: Resource) -> Sourced:
    """Return the firmware version of an adapter's controllers; unknown if one reports none, or if versions differ."""
    source = inside(adapter.uri, "Controllers")
    if adapter.read("Status.State").reading == "Absent":
        return Sourced(Absent("the slot is empty"), source)
    controllers, trouble = gather(adapter.parts("Controllers"))
    rows = [controller.read("FirmwarePackageVersion", revision) for controller in controllers]
    if trouble is not None or not rows:
        return Sourced(trouble or Unknown(Reason.NOT_COLLECTED, f"{adapter.uri} reports no controller"), source)
    return _agreed(rows)


def _agreed(rows: Sequence[Sourced]) -> Sourced:
    mute = next((each for each in rows if isinstance(each.reading, Unknown)), None)
    words = dict.fromkeys(str(each.reading) for each in rows)
    if mute is not None or len(words) == 1:
        return mute or rows[0]
    return Sourced(
        Unknown(Reason.UNPARSABLE, f"its controllers run different versions: {clean(', '.join(words))}"), rows[0].source
    )
