"""The parameters of reading a BMC: its URL, its credentials, and limits."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from rackcheck.model.fact import Reason, Unknown

INTERRUPTED = Unknown(Reason.NOT_COLLECTED, "interrupted")
"""The reason for requests that were aborted by an interrupt."""

SESSION_REJECTED = Unknown(Reason.DENIED, "the BMC accepted the login, then rejected its session: HTTP 401")
"""The reason if each GET after two logins returned status 401: the user and the password are not the cause."""

POLL = 0.2
"""Seconds between two checks of the time limits while a BMC is read."""

WIDEST = 4
"""Maximum number of parallel GETs; more GETs do not make BMCs faster, and are sometimes rejected."""


@dataclass(frozen=True)
class Bmc:
    """The URL and credentials of a BMC, and the trust anchor of its certificate: fingerprint, CA file or system CAs."""

    url: str
    user: str
    password: str = field(repr=False)
    fingerprint: str | None = None
    ca: str | None = None

    def __post_init__(self) -> None:
        place = urlsplit(self.url)
        if place.username is not None or place.password is not None:
            raise ValueError("a BMC's url must not contain a user or a password")
        if place.scheme != "https" or not place.hostname or place.port == 0:
            raise ValueError(f"a BMC's url is https://HOST or https://HOST:PORT: {self.url!r}")
        if place.path.strip("/") or place.query or place.fragment:
            raise ValueError(f"a BMC's url must end with its host or port: {self.url!r}")
        if self.pin is not None and not re.fullmatch(r"[0-9a-f]{64}", self.pin):
            raise ValueError(f"not a SHA-256 fingerprint of 64 hex digits: {self.fingerprint!r}")

    @property
    def pin(self) -> str | None:
        """Return the fingerprint as lower-case hex digits without separators."""
        if self.fingerprint is None:
            return None
        return re.sub(r"[:\s]", "", self.fingerprint.strip().casefold().removeprefix("sha256:"))


@dataclass(frozen=True)
class Limits:
    """Limits for one BMC: seconds, bytes and counts.

    `connect` is the maximum time until the BMC accepts a connection, and `handshake` the maximum time for TLS: a
    busy BMC accepts a connection at once, and computes the keys later. `read` is the maximum time without any data,
    and `answer` the maximum time for a whole reply. `read` and `answer` are longer for slow resources, see
    `patience`. `deadline` limits the time for reading the whole BMC. After `deadline`, closing the session may take
    up to `goodbye` seconds more. `values` is the maximum number of JSON values, which limits the memory: twenty
    times the number of the largest recorded BMC. `width` is the number of parallel GETs, 1 to 4. `expand` allows
    the use of $expand, as long as checks find no missing data.
    """

    connect: float = 5.0
    handshake: float = 10.0
    read: float = 30.0
    answer: float = 60.0
    deadline: float = 180.0
    goodbye: float = 5.0
    pause: float = 0.5
    body: int = 8 << 20
    total: int = 32 << 20
    values: int = 250_000
    gets: int = 2000
    retries: int = 2
    width: int = 2
    expand: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.width <= WIDEST:
            raise ValueError(f"the number of parallel GETs must be 1 to {WIDEST}, not {self.width}")
