"""NVLinks of a GPU, from the ports its BMC lists."""

from collections.abc import Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.gpu import Gpu
from rackcheck.parse.bmc.item import gather, read_ones
from rackcheck.parse.bmc.systems import Gathered, some

UP = ("LinkUp", "Up")
STATUSES = (*UP, "LinkDown", "Down", "NoLink", "Starting", "Training")
"""Words for a port's LinkStatus, newer and older (DMTF's Port and NetworkPort schemas)."""


def nvlinks(docs: Documents, gpu: Gpu) -> Gathered:
    """Gather the NVLink ports of one GPU, and why they may not be all.

    A GPU whose BMC lists no port, and does not know its model either, is not ready: nobody knows that it has none.
    """
    ports, trouble = read_ones(*gather(docs.at("Ports/*", gpu.resource)))
    if "Ports" not in gpu.resource.body:
        trouble = trouble or Unknown(Reason.NOT_COLLECTED, f"{gpu.resource.uri} has no Ports")
    elif not ports and isinstance(gpu.read("Model").reading, Unknown):
        trouble = trouble or Unknown(Reason.NOT_READY, f"{gpu.resource.uri} has neither ports nor a model")
    found = []
    for port in ports:
        reading = port.read("PortProtocol").reading
        if reading == "NVLink":
            found.append(port)
        elif isinstance(reading, Unknown):
            trouble = trouble or Unknown(reading.reason, f"{port.uri}: {clean(reading.detail)}")
    return found, trouble


def count(ports: Sequence[Resource], trouble: Unknown | None) -> Reading:
    """Count the ports, up or not."""
    return trouble or len(ports)


def count_up(ports: Sequence[Resource], trouble: Unknown | None) -> Reading:
    """Count those that are up; one that does not say leaves the count unknown."""
    rows = [port.read("LinkStatus", _status).reading for port in ports]
    mute = trouble or next((each for each in rows if isinstance(each, Unknown)), None)
    return mute if mute is not None else sum(each in UP for each in rows)


def slowest(ports: Sequence[Resource], trouble: Unknown | None) -> Reading:
    """Give the lowest speed of those that are up, in Gb/s; absent where none is up."""
    up = count_up(ports, trouble)
    if isinstance(up, Unknown):
        return up
    rows = [p.read("CurrentSpeedGbps", some).reading for p in ports if p.read("LinkStatus").reading in UP]
    mute = next((each for each in rows if isinstance(each, Unknown)), None)
    return mute or min((each for each in rows if isinstance(each, float)), default=Absent("no NVLink is up"))


def _status(value: object) -> str:
    text = text_of(value)
    if text not in STATUSES:
        raise Unreadable(f"no status of a link: {clean(text, 60)!r}")
    return text
