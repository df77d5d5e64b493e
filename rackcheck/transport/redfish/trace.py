"""Optional data of a visit besides the bodies: harmless headers of each reply, and its seconds."""

from dataclasses import dataclass, field

from rackcheck.model.fact import clean
from rackcheck.model.resource import same_place
from rackcheck.model.secret import scrub_text
from rackcheck.transport.redfish.answer import HttpReply

HARMLESS = ("Allow", "Cache-Control", "Content-Type", "Date", "ETag", "Link", "OData-Version", "Server")
"""Headers that describe a service and hold no secret of a session; no other one is ever kept.

Not Set-Cookie, X-Auth-Token, Location and WWW-Authenticate: they are a session, or lead to one.
"""

LONGEST = 1000
"""The most characters of one header."""


@dataclass(frozen=True)
class Trace:
    """The headers of each resource, and the seconds of its GET. Filled while a BMC is read."""

    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def note(self, uri: str, answer: HttpReply, seconds: float) -> None:
        """Keep a reply's headers and seconds; our credentials are already removed."""
        values = {name: answer.getheader(name) for name in HARMLESS}
        place = same_place(uri)
        self.headers[place] = {n: clean(scrub_text(v[:LONGEST]), LONGEST) for n, v in values.items() if v is not None}
        self.seconds[place] = seconds
