"""A small BMC and readings of it, for tests of the Redfish transport."""

import contextlib
from collections.abc import Iterator

from mockup_server import SESSIONS, Mockup
from trees import client

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Unknown
from rackcheck.model.resource import ROOT
from rackcheck.transport import redfish

HASTY = redfish.Limits(connect=1.0, read=1.5, answer=3.0, deadline=30, goodbye=2, pause=0.01)


SYSTEMS = "/redfish/v1/Systems"


ONE, TWO = f"{SYSTEMS}/1", f"{SYSTEMS}/2"


LINKS = ("Systems/*", "Systems/*/Bios")


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


SMALL: dict[str, object] = {
    ROOT: {"Id": "RootService", "Systems": link(SYSTEMS), "Links": {"Sessions": link(SESSIONS)}},
    SYSTEMS: {"Members": [link(ONE), link(TWO)]},
    ONE: {"Id": "1", "Bios": link(f"{ONE}/Bios")},
    TWO: {"Id": "2", "Bios": link(f"{TWO}/Bios")},
    f"{ONE}/Bios": {"Attributes": {"LogicalProc": "Enabled"}},
    f"{TWO}/Bios": {"Attributes": {"LogicalProc": "Disabled"}},
}


@contextlib.contextmanager
def small(**more: object) -> Iterator[Mockup]:
    with Mockup(bodies=SMALL, **more) as server:  # type: ignore[arg-type]  # the server's own keywords
        yield server
        assert server.methods <= {"GET", "POST", "DELETE"}
        assert not server.sessions, "a session was left behind"


def read(server: Mockup, limits: redfish.Limits = HASTY) -> tuple[BmcCapture, Unknown | None]:
    return redfish.read(client(server), LINKS, limits)


def trouble(capture: BmcCapture, uri: str) -> Unknown:
    body = capture.bodies[uri]
    assert isinstance(body, Unknown), body
    return body
