"""What a visit keeps beside the bodies for whoever asks for it: harmless headers of each answer, and its seconds."""

from dataclasses import dataclass, field

from rackcheck.model.fact import clean
from rackcheck.model.resource import same_place
from rackcheck.model.secret import scrub_text
from rackcheck.transport.redfish.answer import HttpReply

HARMLESS = ("Allow", "Cache-Control", "Content-Type", "Date", "ETag", "Link", "OData-Version", "Server")
"""Headers that tell how a service answers and hold no secret of a session; no other one is ever kept.

Not Set-Cookie, X-Auth-Token, Location and WWW-Authenticate: they are a session, or lead to one.
"""

LONGEST = 1000
"""Characters of one header that are kept."""


@dataclass(frozen=True)
class Trace:
    """Of each resource that came: its headers, and how many seconds its GET took. Filled while a BMC is read."""

    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def note(self, uri: str, answer: HttpReply, seconds: float) -> None:
        """Keep what an answer tells beside its body; what we told the BMC is out of it already."""
        values = {name: answer.getheader(name) for name in HARMLESS}
        place = same_place(uri)
        self.headers[place] = {n: clean(scrub_text(v[:LONGEST]), LONGEST) for n, v in values.items() if v is not None}
        self.seconds[place] = seconds
