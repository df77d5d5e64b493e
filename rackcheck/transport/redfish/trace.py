"""Optional data about the replies of a BMC: headers without secrets, and the duration of each GET."""

from dataclasses import dataclass, field

from rackcheck.model.fact import clean
from rackcheck.model.resource import same_place
from rackcheck.model.secret import scrub_text
from rackcheck.transport.redfish.answer import HttpReply

HARMLESS = ("Allow", "Cache-Control", "Content-Type", "Date", "ETag", "Link", "OData-Version", "Server")
"""Headers that describe a service and contain no secret; no other header is stored.

Set-Cookie, X-Auth-Token, Location and WWW-Authenticate are never stored: these headers contain the token or the URI of
a session, or help to open a session.
"""

LONGEST = 1000
"""Maximum length of one header, in characters."""


@dataclass(frozen=True)
class Trace:
    """The reply headers of each resource, and the duration of its GET in seconds, added while a BMC is read."""

    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def note(self, uri: str, answer: HttpReply, seconds: float) -> None:
        """Store the headers and the duration of a reply; the login's credentials were already removed."""
        values = {name: answer.getheader(name) for name in HARMLESS}
        place = same_place(uri)
        self.headers[place] = {n: clean(scrub_text(v[:LONGEST]), LONGEST) for n, v in values.items() if v is not None}
        self.seconds[place] = seconds
