"""The facts of one probe of the BMC plane from a recorded BMC, over real HTTPS, and from altered copies of it."""

from collections.abc import Mapping
from functools import cache

from mockup_server import Mockup
from trees import ANY_CASE, client, completed, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reading, Unknown
from rackcheck.model.question import Redfish
from rackcheck.model.resource import Body
from rackcheck.probe.collect import collect
from rackcheck.probe.contract import Probe
from rackcheck.transport import redfish

Found = dict[str, Reading]


@cache
def _capture(name: str, links: tuple[str, ...]) -> BmcCapture:
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), links)
    assert trouble is None
    return capture


def bodies(probe: Probe[Redfish], name: str) -> dict[str, Body | Unknown]:
    """The bodies of a recorded BMC that the probe receives, by URI."""
    return dict(_capture(name, probe.ask.every).bodies)


def of(probe: Probe[Redfish], held: Mapping[str, Body | Unknown]) -> Found:
    """The probe's facts from these bodies."""
    leaves = collect([probe], BmcCapture(held))
    found = {path: leaf.reading for path, leaf in leaves.items()}
    assert not [reading for reading in found.values() if isinstance(reading, Unknown) and "failed" in reading.detail]
    return found


def ask(probe: Probe[Redfish], name: str, changes: Mapping[str, Body | Unknown] | None = None) -> Found:
    """The probe's facts from a recorded BMC, some of its bodies replaced."""
    return of(probe, completed(name, probe.ask.links, bodies(probe, name) | dict(changes or {})))


def altered(probe: Probe[Redfish], name: str, uri: str, **properties: object) -> Found:
    """The probe's facts from a recorded BMC when one of its resources has other properties."""
    body = bodies(probe, name)[uri]
    assert not isinstance(body, Unknown)
    return ask(probe, name, {uri: {**body, **properties}})
