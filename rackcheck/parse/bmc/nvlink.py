"""NVLinks of a GPU, from the ports its BMC lists."""

from collections.abc import Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.gpu import Gpu
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, named_ones
from rackcheck.parse.bmc.systems import some

UP = ("LinkUp", "Up")
STATUSES = (*UP, "LinkDown", "Down", "NoLink", "Starting", "Training")
"""Values of a port's LinkStatus in the DMTF's newer Port schema and its older NetworkPort schema."""


def nvlinks(docs: Documents, gpu: Gpu) -> Gathered:
    """Return the NVLink ports of one GPU, and why the list may be incomplete.

    If the BMC lists neither ports nor a model of the GPU, it has not detected the GPU yet, so the ports are unknown.
    """
    ports, trouble = named_ones(*gather(docs.at("Ports/*", gpu.resource)))
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
    """Count the NVLink ports of a GPU, whether they are up or not."""
    return trouble or len(ports)


def count_up(ports: Sequence[Resource], trouble: Unknown | None) -> Reading:
    """Count the ports that are up; unknown if any port does not report its state."""
    rows = [port.read("LinkStatus", _status).reading for port in ports]
    mute = trouble or next((each for each in rows if isinstance(each, Unknown)), None)
    return mute if mute is not None else sum(each in UP for each in rows)


def slowest(ports: Sequence[Resource], trouble: Unknown | None) -> Reading:
    """Return the lowest speed of the ports that are up, in Gb/s; absent if no port is up."""
    up = count_up(ports, trouble)
    if isinstance(up, Unknown):
        return up
    rows = [p.read("CurrentSpeedGbps", some).reading for p in ports if p.read("LinkStatus").reading in UP]
    mute = next((each for each in rows if isinstance(each, Unknown)), None)
    return mute or min((each for each in rows if isinstance(each, float)), default=Absent("no NVLink is up"))


def _status(value: object) -> str:
    text = text_of(value)
    if text not in STATUSES:
        raise Unreadable(f"is not a link status: {clean(text, 60)!r}")
    return text
